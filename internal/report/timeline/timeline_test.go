package timeline

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample() *Recorder {
	r := New(0)
	p := r.AddProgram(Program{Kernel: "k", Insts: []string{"ld.global.f32", "add\t.f32"}, Places: []string{"k.ptx:7", ""}})
	// Given out of order, as SMs hand them on.
	r.Add(Inst{At: [MaxStages]uint64{102, 103, 110, 111, 113, 113, 117}, Block: 4, Program: p, Index: 1, SM: 1, Sched: 2, Slot: 6, Warp: 2, Lanes: 0xf})
	r.Add(Inst{At: [MaxStages]uint64{100, 101, 102, 103, 104, 105, 300}, Block: 3, Program: p, Index: 0, SM: 0, Sched: 1, Slot: 5, Warp: 1, Lanes: 0xffffffff})
	r.Add(Inst{At: [MaxStages]uint64{100, 101, 104, 105, 105, 106, 109}, Block: 3, Program: p, Index: 1, SM: 0, Sched: 1, Slot: 5, Warp: 1, Lanes: 0xffffffff})
	r.AddSpan(Span{Name: "launch 0: k", Track: "stream 0", Start: 90, End: 310})
	return r
}

func TestKanata(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteKanata(&b); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(`Kanata 0004
C= 100
I 0 0 5
L 0 0 SM0_w5:_ld.global.f32
L 0 1 ld.global.f32,_kernel_k,_block_3,_warp_1,_scheduler_1,_lanes_ffffffff,_k.ptx:7
S 0 0 F
I 1 1 5
L 1 0 SM0_w5:_add_.f32
L 1 1 add_.f32,_kernel_k,_block_3,_warp_1,_scheduler_1,_lanes_ffffffff
S 1 0 F
C 1
E 0 0 F
S 0 0 D
E 1 0 F
S 1 0 D
C 1
E 0 0 D
S 0 0 Is
I 2 2 13
L 2 0 SM1_w6:_add_.f32
L 2 1 add_.f32,_kernel_k,_block_4,_warp_2,_scheduler_2,_lanes_0000000f
S 2 0 F
C 1
E 0 0 Is
S 0 0 Rd
E 2 0 F
S 2 0 D
C 1
E 0 0 Rd
S 0 0 Dp
E 1 0 D
S 1 0 Is
C 1
E 0 0 Dp
S 0 0 X
E 1 0 Is
S 1 0 Dp
C 1
E 1 0 Dp
S 1 0 X
C 3
E 1 0 X
S 1 0 Wb
C 1
E 1 0 Wb
R 1 0 0
E 2 0 D
S 2 0 Is
C 1
E 2 0 Is
S 2 0 Rd
C 2
E 2 0 Rd
S 2 0 X
C 4
E 2 0 X
S 2 0 Wb
C 1
E 2 0 Wb
R 2 1 0
C 182
E 0 0 X
S 0 0 Wb
C 1
E 0 0 Wb
R 0 2 0
`, " ", "\t")
	want = strings.ReplaceAll(want, "_", " ")
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// field is one field of a protocol buffer.
type field struct {
	n    int
	v    uint64
	data []byte
}

// fields takes a protocol buffer apart, by the rules of its encoding.
func fields(t *testing.T, b []byte) []field {
	t.Helper()
	var list []field
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatal("a key is cut off")
		}
		b = b[n:]
		f := field{n: int(key >> 3)}
		if f.v, n = binary.Uvarint(b); n <= 0 {
			t.Fatal("a number is cut off")
		}
		b = b[n:]
		switch key & 7 {
		case 0:
		case 2:
			if f.v > uint64(len(b)) {
				t.Fatal("a field is longer than its message")
			}
			f.data, b = b[:f.v], b[f.v:]
		default:
			t.Fatalf("wire type %d", key&7)
		}
		list = append(list, f)
	}
	return list
}

// one returns a field's last value.
func one(list []field, n int) (field, bool) {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].n == n {
			return list[i], true
		}
	}
	return field{}, false
}

// readPerfetto lists what a trace holds: the path of each track with its
// slices and values, in the order of the file.
func readPerfetto(t *testing.T, b []byte) []string {
	t.Helper()
	type track struct {
		path string
		open string
		from uint64
		last uint64
	}
	tracks := map[uint64]*track{}
	var list []string
	for _, p := range fields(t, b) {
		if p.n != 1 {
			t.Fatalf("field %d of the trace", p.n)
		}
		packet := fields(t, p.data)
		if s, ok := one(packet, 10); !ok || s.v == 0 {
			t.Fatal("a packet belongs to no sequence")
		}
		if d, ok := one(packet, 60); ok {
			f := fields(t, d.data)
			uuid, _ := one(f, 1)
			name, _ := one(f, 2)
			path := string(name.data)
			if parent, ok := one(f, 5); ok {
				if tracks[parent.v] == nil {
					t.Fatalf("track %q is below one that is not known yet", path)
				}
				path = tracks[parent.v].path + " / " + path
			}
			if tracks[uuid.v] != nil {
				t.Fatalf("track %d is described twice", uuid.v)
			}
			tracks[uuid.v] = &track{path: path}
			continue
		}
		e, ok := one(packet, 11)
		if !ok {
			t.Fatal("a packet is neither a track nor an event")
		}
		at, ok := one(packet, 8)
		if !ok {
			t.Fatal("an event has no time")
		}
		f := fields(t, e.data)
		on, _ := one(f, 11)
		tr := tracks[on.v]
		if tr == nil {
			t.Fatalf("an event on track %d, which is not known yet", on.v)
		}
		if at.v < tr.last {
			t.Errorf("%s: time falls from %d to %d", tr.path, tr.last, at.v)
		}
		tr.last = at.v
		switch kind, _ := one(f, 9); kind.v {
		case 1:
			if tr.open != "" {
				t.Errorf("%s: %s begins within %s", tr.path, at.data, tr.open)
			}
			name, _ := one(f, 23)
			tr.open, tr.from = string(name.data), at.v
			for _, n := range f {
				if n.n == 4 {
					a := fields(t, n.data)
					key, _ := one(a, 10)
					if v, ok := one(a, 6); ok {
						tr.open += fmt.Sprintf(" %s=%s", key.data, v.data)
					} else if v, ok := one(a, 3); ok {
						tr.open += fmt.Sprintf(" %s=%d", key.data, v.v)
					}
				}
			}
		case 2:
			if tr.open == "" {
				t.Errorf("%s: an end without a beginning", tr.path)
			}
			list = append(list, fmt.Sprintf("%s: %d to %d %s", tr.path, tr.from, at.v, tr.open))
			tr.open = ""
		case 4:
			v, _ := one(f, 30)
			list = append(list, fmt.Sprintf("%s: at %d: %d", tr.path, at.v, v.v))
		default:
			t.Errorf("event of kind %d", kind.v)
		}
	}
	return list
}

func TestPerfetto(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WritePerfetto(&b); err != nil {
		t.Fatal(err)
	}
	const root = "GPU (1 ns = 1 core cycle) / "
	want := []string{
		root + "stream 0: 90 to 310 launch 0: k",
		root + "SM 0 / scheduler 1 / warp 5: 102 to 301 ld.global.f32 kernel=k block=3 warp=1 lanes=ffffffff at=k.ptx:7 fetch=100 decode=101 issue=102 read operands=103 dispatch=104 execute=105 write back=300",
		root + "SM 0 / scheduler 1 / warp 5: 104 to 110 add\t.f32 kernel=k block=3 warp=1 lanes=ffffffff fetch=100 decode=101 issue=104 read operands=105 dispatch=105 execute=106 write back=109",
		root + "SM 1 / scheduler 2 / warp 6: 110 to 118 add\t.f32 kernel=k block=4 warp=2 lanes=0000000f fetch=102 decode=103 issue=110 read operands=111 dispatch=113 execute=113 write back=117",
		// All three were issued within the second span of 64 cycles.
		root + "warp instructions issued in 64 cycles: at 64: 3",
		root + "SM 0 / SM 0: issued in 64 cycles: at 64: 2",
		root + "SM 1 / SM 1: issued in 64 cycles: at 64: 1",
		root + "warp instructions issued in 64 cycles: at 128: 0",
		root + "SM 0 / SM 0: issued in 64 cycles: at 128: 0",
		root + "SM 1 / SM 1: issued in 64 cycles: at 128: 0",
	}
	if diff := cmp.Diff(want, readPerfetto(t, b.Bytes())); diff != "" {
		t.Error(diff)
	}
}

// Beyond its bound a recorder counts only.
func TestLimit(t *testing.T) {
	r := New(chunk + 3)
	for i := range uint64(chunk + 10) {
		at := Inst{Index: 0, Program: -1}
		for s := range at.At {
			at.At[s] = i
		}
		r.Add(at)
	}
	if r.Len() != chunk+3 || r.Left() != 7 {
		t.Errorf("%d kept, %d left", r.Len(), r.Left())
	}
	var b bytes.Buffer
	if err := r.WriteKanata(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\nR\t"); n != chunk+3 {
		t.Errorf("%d instructions end in the file", n)
	}
	b.Reset()
	if err := r.WritePerfetto(&b); err != nil {
		t.Fatal(err)
	}
	slices := slices.DeleteFunc(readPerfetto(t, b.Bytes()), func(s string) bool { return !strings.Contains(s, "instruction 0") })
	if len(slices) != chunk+3 {
		t.Errorf("%d slices", len(slices))
	}
}

func TestEmpty(t *testing.T) {
	var b bytes.Buffer
	if err := New(0).Write(&b, Kanata); err != nil || b.String() != "Kanata\t0004\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	b.Reset()
	if err := New(0).Write(&b, Perfetto); err != nil {
		t.Fatal(err)
	}
	if list := readPerfetto(t, b.Bytes()); len(list) != 0 {
		t.Errorf("%v", list)
	}
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{"a.kanata": Kanata, "x/b.PFTRACE": Perfetto} {
		if f, err := FormatOf(name); err != nil || f != want {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	for _, name := range []string{"", "a", "a.json", ".kanata.gz"} {
		if _, err := FormatOf(name); err == nil || !strings.Contains(err.Error(), ".pftrace") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
