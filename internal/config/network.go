package config

import (
	"fmt"
	"github.com/heddle-sim/heddle/internal/near"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// networkRow is a setting of a network file: the key for its number, or the only
// value that the model supports.
type networkRow struct {
	key  string // "" if none
	also string // a second key, unless it has its own setting
	only string // "" if any
	note string // why it sets nothing
}

const (
	ownUse      = "GPGPU-Sim does not use it"
	allChannels = "every packet may use every channel"
)

// networkTable holds the settings of the network files that come with GPGPU-Sim.
// finishNetwork reads those with empty rows together.
var networkTable = map[string]networkRow{
	"flit_size":            {key: "noc.flit_bytes"},
	"input_buffer_size":    {key: "noc.flit_in_buffer"},
	"ejection_buffer_size": {key: "noc.flit_out_buffer"},
	"vc_buf_size":          {key: "noc.vc_buffer", also: "noc.flit_out_buffer"},
	"boundary_buffer_size": {key: "noc.boundary_buffer"},
	"topology":             {},
	"routing_function":     {},
	"k":                    {},
	"n":                    {},
	"num_vcs":              {key: "noc.vcs"},
	"alloc_iters":          {key: "noc.iterations"},
	"credit_delay":         {key: "noc.credit_delay"},
	"routing_delay":        {key: "noc.routing_delay"},
	"vc_alloc_delay":       {key: "noc.vc_delay"},
	"sw_alloc_delay":       {key: "noc.switch_delay"},
	"input_speedup":        {key: "noc.input_speedup"},
	"output_speedup":       {key: "noc.output_speedup"},
	"internal_speedup":     {key: "noc.router_steps"},
	"vc_allocator":         {},
	"sw_allocator":         {},
	"wait_for_tail_credit": {},
	"use_noc_latency":      {},
	"subnets":              {only: "2", note: "requests and replies have a network each"},
	"use_map":              {only: "0", note: "nodes are numbered in order"},
	"sim_type":             {only: "gpgpusim", note: "the only type for GPUs"},
	"read_request_subnet":  {only: "0", note: "requests go through the first network"},
	"write_request_subnet": {only: "0", note: "requests go through the first network"},
	"read_reply_subnet":    {only: "1", note: "replies go through the second network"},
	"write_reply_subnet":   {only: "1", note: "replies go through the second network"},

	"network_count": {note: ownUse}, "traffic": {note: ownUse}, "packet_size": {note: ownUse}, "packet_size_rate": {note: ownUse},
	"injection_rate": {note: ownUse}, "use_read_write": {note: ownUse},
	"read_request_begin_vc": {only: "0", note: allChannels}, "read_request_end_vc": {},
	"write_request_begin_vc": {only: "0", note: allChannels}, "write_request_end_vc": {},
	"read_reply_begin_vc": {only: "0", note: allChannels}, "read_reply_end_vc": {},
	"write_reply_begin_vc": {only: "0", note: allChannels}, "write_reply_end_vc": {},
}

// routings are the routing functions of each topology.
var routings = map[string][]string{
	"fly":   {"dest_tag"},
	"mesh":  {"dor", "dim_order"},
	"torus": {"dim_order"},
}

// allocators are BookSim's names for the two orders of an allocation.
var allocators = map[string]string{"islip": "islip", "separable_input_first": "round-robin"}

// sameValue compares numbers as numbers and words as words.
func sameValue(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 == nil && err2 == nil {
		return x == y
	}
	return a == b
}

// readNetwork reads a network file: name = value; with comments after //.
func (r *reader) readNetwork(file, text string) ([]Option, error) {
	var list []Option
	fail := func(line int, format string, a ...any) ([]Option, error) {
		return list, fmt.Errorf("%s:%d: %s", file, line, fmt.Sprintf(format, a...))
	}
	ejection := false
	given := map[string]int{} // index in list of the settings that finishNetwork reads
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line, _, _ = strings.Cut(line, "//")
		for statement := range strings.SplitSeq(line, ";") {
			if statement = strings.TrimSpace(statement); statement == "" {
				continue
			}
			name, value, ok := strings.Cut(statement, "=")
			name, value = strings.TrimSpace(name), strings.TrimSpace(value)
			if !ok || name == "" || value == "" {
				return fail(number, "%.60q: want the form name = value;", statement)
			}
			row, known := networkTable[name]
			if !known {
				if n := near.Name(name, slices.Sorted(maps.Keys(networkTable))); n != "" {
					return fail(number, "unknown setting %.60s; did you mean %s?", name, n)
				}
				return fail(number, "unknown setting %.60s", name)
			}
			o := Option{Name: name, Value: value, File: file, Line: number, Use: Inert, Note: row.note}
			r.networkSource(&o)
			switch {
			case row.only != "":
				if !sameValue(value, row.only) {
					return fail(number, "%s = %.40s is not supported, only %s: %s", name, value, row.only, row.note)
				}
				o.Use = Fixed
				if name == "use_map" {
					o.Use = Honoured
					if err := r.put("noc.placement", "in-order"); err != nil {
						return fail(number, "%s: %v", name, err)
					}
				}
			case row.key != "":
				o.Use = Honoured
				n, err := wholeNumber(value)
				if err != nil {
					return fail(number, "%s = %.40q: want a whole number", name, value)
				}
				err = r.put(row.key, n)
				if ejection = ejection || name == "ejection_buffer_size"; err == nil && row.also != "" && !ejection {
					err = r.put(row.also, n)
				}
				if err != nil {
					return fail(number, "%s: %v", name, err)
				}
			case row.note == "":
				if at, twice := given[name]; twice {
					list[at].Use, list[at].Note = Inert, "given again later"
				}
				given[name] = len(list)
			}
			o.Keys = r.keys
			list = append(list, o)
		}
	}
	return list, r.finishNetwork(list, given)
}

// networkSource makes a setting the source of the next keys.
func (r *reader) networkSource(o *Option) {
	r.keys = nil
	r.source = fmt.Sprintf("%s:%d %s", filepath.Base(o.File), o.Line, o.Name)
}

// wholeNumber reads 2 and 2.0.
func wholeNumber(s string) (int64, error) {
	if whole, zeros, ok := strings.Cut(s, "."); ok && strings.Trim(zeros, "0") == "" {
		s = whole
	}
	return strconv.ParseInt(s, 10, 64)
}

// finishNetwork reads the settings that only make sense together.
func (r *reader) finishNetwork(list []Option, given map[string]int) error {
	n := networkReader{reader: r, list: list, index: given, kind: "fly"}
	n.shape()
	n.channels()
	n.arbiters()
	n.links()
	return n.failed
}

// networkReader has the settings of a network file.
type networkReader struct {
	*reader
	list   []Option
	index  map[string]int // of the given ones in list
	kind   string         // the topology
	failed error
}

// set calls f for a setting if it is given and nothing has failed before.
func (n *networkReader) set(name string, f func(o *Option) error) {
	i, ok := n.index[name]
	if !ok || n.failed != nil {
		return
	}
	o := &n.list[i]
	o.Use = Honoured
	n.networkSource(o)
	if err := f(o); err != nil {
		n.failed = fmt.Errorf("%s:%d: %w", o.File, o.Line, err)
	}
	o.Keys = n.keys
}

// unsupported is the error of a setting with a value that the model lacks.
func unsupported(o *Option, why string) error {
	return fmt.Errorf("%s = %.40s is not supported: %s", o.Name, o.Value, why)
}

// shape reads the topology, and the radix and dimensions, which must give the chip's nodes.
func (n *networkReader) shape() {
	n.set("topology", func(o *Option) error {
		if _, ok := routings[o.Value]; !ok {
			return unsupported(o, "want "+strings.Join(slices.Sorted(maps.Keys(routings)), ", "))
		}
		n.kind = o.Value
		return n.put("noc.kind", n.kind)
	})
	n.set("routing_function", func(o *Option) error {
		if !slices.Contains(routings[n.kind], o.Value) {
			return unsupported(o, "in a "+n.kind+", want "+strings.Join(routings[n.kind], ", "))
		}
		o.Use, o.Note = Fixed, "the model's route through a "+n.kind
		return nil
	})

	chip := &n.g.Chip
	nodes := int64(chip.Clusters + chip.Channels*chip.SlicesPerChannel)
	radix, dimensions := int64(0), int64(1)
	number := func(into *int64, key string) func(o *Option) error {
		return func(o *Option) error {
			v, err := wholeNumber(o.Value)
			if err != nil || v < 1 {
				return fmt.Errorf("%s = %.40q: want a whole number above 0", o.Name, o.Value)
			}
			*into = v
			return n.put(key, v)
		}
	}
	n.set("n", number(&dimensions, "noc.dimensions"))
	n.set("k", func(o *Option) error {
		if n.kind == "fly" && dimensions == 1 && o.Value == strconv.FormatInt(nodes, 10) {
			// A value that follows from the chip is not fixed here.
			o.Use, o.Note = Fixed, "the nodes of the chip"
			return nil
		}
		if err := number(&radix, "noc.radix")(o); err != nil {
			return err
		}
		have := int64(1)
		for range dimensions {
			if have *= radix; have >= nodes {
				return nil
			}
		}
		return fmt.Errorf("k = %.40s: want the chip's %d nodes, %d clusters and %d L2 slices", o.Value, nodes, chip.Clusters, nodes-int64(chip.Clusters))
	})
}

// channels reads how packets use virtual channels. In BookSim a packet takes any free one;
// with one channel there is nothing to choose.
func (n *networkReader) channels() {
	vcs := max(n.g.NoC.VCs, 1)
	for i := range n.list {
		if o := &n.list[i]; o.Name == "num_vcs" && vcs > 1 && n.failed == nil {
			n.networkSource(o)
			n.failed = n.put("noc.any_vc", true)
			o.Keys = append(o.Keys, n.keys...)
		}
	}
	for _, name := range []string{"read_request_end_vc", "write_request_end_vc", "read_reply_end_vc", "write_reply_end_vc"} {
		n.set(name, func(o *Option) error {
			if !sameValue(o.Value, strconv.Itoa(vcs-1)) {
				return unsupported(o, fmt.Sprintf("want %d, %s", vcs-1, allChannels))
			}
			o.Use, o.Note = Fixed, allChannels
			return nil
		})
	}
}

// arbiters reads the two allocators of a router, which must be of one kind.
func (n *networkReader) arbiters() {
	first := ""
	for _, name := range []string{"vc_allocator", "sw_allocator"} {
		n.set(name, func(o *Option) error {
			word, ok := allocators[o.Value]
			switch {
			case !ok:
				return unsupported(o, "want "+strings.Join(slices.Sorted(maps.Keys(allocators)), ", "))
			case first != "" && first != word:
				return unsupported(o, "want both allocators of a router of one kind")
			}
			first = word
			return n.put("noc.arbiter", word)
		})
	}
}

// links reads how long a packet holds its channel, and the links' delay.
func (n *networkReader) links() {
	bit := func(o *Option) (bool, error) {
		if o.Value != "0" && o.Value != "1" {
			return false, fmt.Errorf("%s = %.40s is invalid; want 0, 1", o.Name, o.Value)
		}
		return o.Value == "1", nil
	}
	n.set("wait_for_tail_credit", func(o *Option) error {
		b, err := bit(o)
		if err != nil {
			return err
		}
		return n.put("noc.hold_vc", b)
	})
	long := n.kind == "torus" // BookSim's links of a torus are twice as long
	n.set("use_noc_latency", func(o *Option) error {
		b, err := bit(o)
		if o.Note = "links of one cycle"; b && long {
			o.Note = "links of a torus take two cycles"
		}
		long = long && b
		return err
	})
	if long && n.failed == nil {
		n.source, n.keys = "BookSim's links of a torus", nil
		n.failed = n.put("noc.link_delay", int64(2))
	}
}
