package truth_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/report/timeline"
)

// This file: timelines of a run of the modern core, read by readers written only from the
// formats' descriptions: docs/kanata-log-format.md of Konata, and the messages of
// perfetto/trace by the numbers of their fields.

// stages are the stages of an instruction and their names in Konata.
var (
	stages = []string{"fetch", "decode", "issue", "control", "allocate", "read operands", "execute", "memory", "write back"}
	cells  = []string{"F", "D", "Is", "C", "A", "Rd", "X", "M", "Wb"}
)

// recorded is the timeline of a reduction over shared memory with barriers, and
// the number of its warp instructions.
func recorded(t *testing.T) (*timeline.Recorder, int) {
	t.Helper()
	opt := heddle.JobOptions{Timing: true, GPU: "rtx-a6000", Threads: 1, Timeline: timeline.New(0)}
	if err := opt.Settings.Set("chip.clusters=2"); err != nil {
		t.Fatal(err)
	}
	res, err := heddle.RunJob(context.Background(), "../../examples/sass/reduction.toml", opt)
	if err != nil || !res.OK {
		t.Fatal(err)
	}
	return opt.Timeline, int(res.WarpInstructions)
}

func TestKanataOfModernRun(t *testing.T) {
	rec, want := recorded(t)
	var text bytes.Buffer
	if err := rec.WriteKanata(&text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	if lines[0] != "Kanata\t0004" || !strings.HasPrefix(lines[1], "C=\t") {
		t.Fatalf("it begins with %q and %q", lines[0], lines[1])
	}
	type way struct {
		stage   string // under way, "" if none
		seen    []string
		labels  int
		since   int64
		retired bool
	}
	var list []*way
	seen := map[string]bool{}
	retired := 0
	now := int64(0)
	for n, l := range lines[1:] {
		f := strings.Split(l, "\t")
		fail := func(why string) { t.Fatalf("line %d, %q: %s", n+2, l, why) }
		num := func(i int) int64 {
			if i >= len(f) {
				fail("too short")
			}
			v, err := strconv.ParseInt(f[i], 10, 64)
			if err != nil {
				fail("no number")
			}
			return v
		}
		at := func() *way {
			id := num(1)
			if id < 0 || id >= int64(len(list)) {
				fail("no such instruction yet")
			}
			if list[id].retired {
				fail("it has ended")
			}
			return list[id]
		}
		switch f[0] {
		case "C=":
			if n != 0 {
				fail("not at the beginning")
			}
			now = num(1)
		case "C":
			if num(1) < 1 {
				fail("time does not go on")
			}
			now += num(1)
		case "I":
			if len(f) != 4 || num(1) != int64(len(list)) {
				fail("numbers are not in sequence")
			}
			num(2)
			num(3)
			list = append(list, &way{})
		case "L":
			if k := num(2); len(f) != 4 || k != 0 && k != 1 {
				fail("no such kind of text")
			}
			at().labels++
		case "S":
			w := at()
			if len(f) != 4 || num(2) != 0 || w.stage != "" {
				fail("it is in a stage already")
			}
			w.stage, w.since = f[3], now
			w.seen = append(w.seen, f[3])
		case "E":
			w := at()
			if len(f) != 4 || num(2) != 0 || w.stage != f[3] {
				fail("it is not in that stage")
			}
			if now <= w.since {
				fail("a stage without time")
			}
			w.stage = ""
			seen[f[3]] = true
		case "R":
			w := at()
			if len(f) != 4 || num(2) != int64(retired) || num(3) != 0 || w.stage != "" || len(w.seen) == 0 {
				fail("it cannot end so")
			}
			w.retired = true
			retired++
		default:
			fail("no such command")
		}
	}
	if retired != len(list) || retired != want {
		t.Errorf("%d instructions ended of %d, %d were executed", retired, len(list), want)
	}
	for id, w := range list {
		order := 0
		for _, s := range w.seen {
			k := slices.Index(cells, s)
			if k < order {
				t.Fatalf("instruction %d goes through %v", id, w.seen)
			}
			order = k + 1
		}
		if w.labels != 2 {
			t.Fatalf("instruction %d has %d texts", id, w.labels)
		}
	}
	for _, c := range cells {
		if !seen[c] {
			t.Errorf("no instruction was in stage %s", c)
		}
	}
}

// fields splits a message. Numbers go to uints, the rest to subs.
func fields(t *testing.T, b []byte) (uints map[int]uint64, subs map[int][][]byte) {
	t.Helper()
	uints, subs = map[int]uint64{}, map[int][][]byte{}
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		switch kind {
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				t.Fatal(protowire.ParseError(n))
			}
			uints[int(num)], b = v, b[n:]
		case protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				t.Fatal(protowire.ParseError(n))
			}
			subs[int(num)], b = append(subs[int(num)], v), b[n:]
		default:
			t.Fatalf("field %d is of kind %d", num, kind)
		}
	}
	return uints, subs
}

func TestPerfettoOfModernRun(t *testing.T) {
	rec, want := recorded(t)
	var file bytes.Buffer
	if err := rec.WritePerfetto(&file); err != nil {
		t.Fatal(err)
	}
	const ( // of perfetto/trace
		timestamp, sequence, event, flags, descriptor    = 8, 10, 11, 13, 60
		uuid, trackName, parent, counter                 = 1, 2, 5, 8
		note, kind, track, eventName, value              = 4, 9, 11, 23, 30
		begin, end, set                                  = 1, 2, 4
		noteUint, noteText, noteName, stateCleared, root = 3, 6, 10, 1, 0
	)
	type row struct {
		name    string
		counter bool
		parent  uint64
		open    []uint64 // when the slices under way began
		last    uint64
		slices  int
	}
	rows := map[uint64]*row{}
	_, packets := fields(t, file.Bytes())
	if len(packets) != 1 || len(packets[1]) == 0 {
		t.Fatal("a trace is nothing but packets, field 1")
	}
	insts := 0
	for i, p := range packets[1] {
		nums, subs := fields(t, p)
		fail := func(why string, a ...any) { t.Fatalf("packet %d: %s", i, fmt.Sprintf(why, a...)) }
		if nums[sequence] != 1 {
			fail("of sequence %d, not 1", nums[sequence])
		}
		if cleared := nums[flags]&stateCleared != 0; cleared != (i == 0) {
			fail("says that its state is cleared: %v", cleared)
		}
		if d := subs[descriptor]; d != nil {
			n, s := fields(t, d[0])
			id := n[uuid]
			if id == 0 || rows[id] != nil {
				fail("track %d a second time", id)
			}
			if up := n[parent]; up != root && rows[up] == nil {
				fail("track %d below %d, which is not there", id, up)
			}
			if len(s[trackName]) != 1 {
				fail("track %d has no name", id)
			}
			rows[id] = &row{name: string(s[trackName][0]), counter: s[counter] != nil, parent: n[parent]}
			continue
		}
		if len(subs[event]) != 1 {
			fail("neither a track nor an event")
		}
		at, timed := nums[timestamp]
		n, s := fields(t, subs[event][0])
		r := rows[n[track]]
		switch {
		case !timed:
			fail("has no time")
		case r == nil:
			fail("on track %d, which is not there", n[track])
		case at < r.last:
			fail("on %q at %d, after %d", r.name, at, r.last)
		case r.counter != (n[kind] == set):
			fail("of kind %d on %q", n[kind], r.name)
		}
		r.last = at
		switch n[kind] {
		case begin:
			if len(s[eventName]) != 1 || len(s[eventName][0]) == 0 {
				fail("a slice without a name")
			}
			r.open = append(r.open, at)
			if !strings.HasPrefix(r.name, "warp ") {
				break
			}
			insts++
			if len(r.open) > 1 {
				fail("two instructions at a time on %q", r.name)
			}
			var names []string
			was := uint64(0)
			for _, b := range s[note] {
				n, s := fields(t, b)
				name := string(s[noteName][0])
				if _, isNum := n[noteUint]; !isNum && s[noteText] == nil {
					fail("note %s without a value", name)
				}
				if !slices.Contains(stages, name) {
					continue
				}
				if names = append(names, name); n[noteUint] < was {
					fail("%s at %d, before %d", name, n[noteUint], was)
				}
				was = n[noteUint]
			}
			if !slices.Equal(names, stages) {
				fail("stages %v", names)
			}
		case end:
			if len(r.open) == 0 {
				fail("nothing to end on %q", r.name)
			}
			if at <= r.open[len(r.open)-1] {
				fail("a slice without time on %q", r.name)
			}
			r.open = r.open[:len(r.open)-1]
			r.slices++
		case set:
			if _, ok := n[value]; !ok {
				fail("no value on %q", r.name)
			}
		default:
			fail("of kind %d", n[kind])
		}
	}
	for id, r := range rows {
		if len(r.open) > 0 {
			t.Errorf("track %d, %q: %d slices have no end", id, r.name, len(r.open))
		}
	}
	if insts != want {
		t.Errorf("slices of %d instructions, %d were executed", insts, want)
	}
}
