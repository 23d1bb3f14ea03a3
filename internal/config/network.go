package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// networkRow is a setting of a network file: where its number goes, or the
// only value that the model has.
type networkRow struct {
	key  string // "" if none
	only string // "" if any
	note string // why it sets nothing
}

const (
	oneSwitch = "the network is one switch with one channel of flits"
	asMeasure = "the switch takes the time that was measured with this value"
	ownUse    = "GPGPU-Sim does not use it"
)

// networkTable holds the settings of the network files that come with
// GPGPU-Sim. k and n are checked against the chip.
var networkTable = map[string]networkRow{
	"flit_size":            {key: "noc.flit_bytes"},
	"input_buffer_size":    {key: "noc.flit_in_buffer"},
	"ejection_buffer_size": {key: "noc.flit_out_buffer"},
	"vc_buf_size":          {key: "noc.flit_out_buffer"}, // unless ejection_buffer_size is there
	"boundary_buffer_size": {note: "packets wait in the queue behind the output"},
	"k":                    {},
	"n":                    {only: "1", note: oneSwitch},
	"topology":             {only: "fly", note: oneSwitch},
	"routing_function":     {only: "dest_tag", note: oneSwitch},
	"num_vcs":              {only: "1", note: oneSwitch},
	"subnets":              {only: "2", note: "requests and replies have a network each"},
	"wait_for_tail_credit": {only: "0", note: asMeasure},
	"vc_allocator":         {only: "islip", note: asMeasure},
	"sw_allocator":         {only: "islip", note: asMeasure},
	"alloc_iters":          {only: "1", note: asMeasure},
	"credit_delay":         {only: "0", note: asMeasure},
	"routing_delay":        {only: "0", note: asMeasure},
	"vc_alloc_delay":       {only: "1", note: asMeasure},
	"sw_alloc_delay":       {only: "1", note: asMeasure},
	"input_speedup":        {only: "1", note: asMeasure},
	"output_speedup":       {only: "1", note: asMeasure},
	"internal_speedup":     {only: "2.0", note: asMeasure},
	"use_map":              {only: "0", note: "nodes are numbered in order"},
	"sim_type":             {only: "gpgpusim", note: "the only type that a GPU drives"},
	"read_request_subnet":  {only: "0", note: "requests go through the first network"},
	"write_request_subnet": {only: "0", note: "requests go through the first network"},
	"read_reply_subnet":    {only: "1", note: "replies go through the second network"},
	"write_reply_subnet":   {only: "1", note: "replies go through the second network"},

	"network_count": {note: ownUse}, "traffic": {note: ownUse}, "packet_size": {note: ownUse}, "packet_size_rate": {note: ownUse},
	"injection_rate": {note: ownUse}, "use_read_write": {note: ownUse},
	"read_request_begin_vc": {only: "0", note: oneSwitch}, "read_request_end_vc": {only: "0", note: oneSwitch},
	"write_request_begin_vc": {only: "0", note: oneSwitch}, "write_request_end_vc": {only: "0", note: oneSwitch},
	"read_reply_begin_vc": {only: "0", note: oneSwitch}, "read_reply_end_vc": {only: "0", note: oneSwitch},
	"write_reply_begin_vc": {only: "0", note: oneSwitch}, "write_reply_end_vc": {only: "0", note: oneSwitch},
}

// sameValue compares numbers as numbers and words as words.
func sameValue(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 == nil && err2 == nil {
		return x == y
	}
	return a == b
}

// readNetwork reads a network file: name = value; with comments behind //.
func (r *reader) readNetwork(file, text string) ([]Option, error) {
	var list []Option
	fail := func(line int, format string, a ...any) ([]Option, error) {
		return list, fmt.Errorf("%s:%d: %s", file, line, fmt.Sprintf(format, a...))
	}
	ejection := false
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
				return fail(number, "%.60q is not of the form name = value;", statement)
			}
			row, known := networkTable[name]
			if !known {
				names := make([]string, 0, len(networkTable))
				for n := range networkTable {
					names = append(names, n)
				}
				slices.Sort(names)
				if n := Nearest(name, names); n != "" {
					return fail(number, "unknown setting %.60s; did you mean %s?", name, n)
				}
				return fail(number, "unknown setting %.60s", name)
			}
			o := Option{Name: name, Value: value, File: file, Line: number, Use: Inert, Note: row.note}
			r.keys = nil
			r.source = fmt.Sprintf("%s:%d %s", filepath.Base(file), number, name)
			switch {
			case row.only != "":
				if !sameValue(value, row.only) {
					return fail(number, "%s = %.40s is not supported, only %s: %s", name, value, row.only, row.note)
				}
				o.Use = Fixed
			case name == "k":
				nodes := r.g.Chip.Clusters + r.g.Chip.Channels*r.g.Chip.SlicesPerChannel
				if value != strconv.Itoa(nodes) {
					return fail(number, "k = %.40s: the chip has %d nodes, %d clusters and %d L2 slices", value, nodes, r.g.Chip.Clusters, nodes-r.g.Chip.Clusters)
				}
				o.Use, o.Note = Fixed, "the nodes of the chip"
			case row.key != "":
				o.Use = Honoured
				ejection = ejection || name == "ejection_buffer_size"
				if name == "vc_buf_size" && ejection {
					o.Use, o.Note = Inert, "ejection_buffer_size is there"
					break
				}
				n, err := strconv.ParseInt(value, 10, 64)
				if err != nil {
					return fail(number, "%s = %.40q is not a whole number", name, value)
				}
				if err := r.put(row.key, n); err != nil {
					return fail(number, "%s: %v", name, err)
				}
				o.Keys = r.keys
			}
			list = append(list, o)
		}
	}
	return list, nil
}
