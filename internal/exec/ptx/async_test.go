package ptx_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// TestCpAsync copies per lane with every size, operator and kind of zero fill.
func TestCpAsync(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, op := range []string{"ca", "cg"} {
		for _, size := range []int{4, 8, 16} {
			if op == "cg" && size != 16 {
				continue
			}
			for _, fill := range []string{"", "length", "ignore", "not"} {
				for _, quals := range []string{".shared.global", ".shared::cta.global", ".shared.global.L2::cache_hint", ".shared.global.L2::128B", ".shared.global.L2::cache_hint.L2::256B"} {
					src := make([]byte, 32*size)
					lens := make([]byte, 32*4)
					for i := range src {
						src[i] = byte(rnd.Uint32())
					}
					for i := range 32 {
						binary.LittleEndian.PutUint32(lens[4*i:], rnd.Uint32N(uint32(size+1)))
					}
					args := fmt.Sprintf("[%%a3], [%%a1], %d", size)
					switch fill {
					case "length":
						args += ", %r0"
					case "ignore":
						args += ", %p0"
					case "not":
						args += ", !%p0"
					}
					if strings.Contains(quals, "cache_hint") {
						args += ", %a4"
					}
					body := fmt.Sprintf(`
						mul.wide.u32 %%a0, %%t, %d;
						add.u64 %%a1, %%in0, %%a0;
						add.u64 %%a5, %%out, %%a0;
						mul.wide.u32 %%a2, %%t, 4;
						add.u64 %%a2, %%in1, %%a2;
						ld.global.u32 %%r0, [%%a2];
						setp.lt.u32 %%p0, %%r0, %d;
						mov.u64 %%a3, sm;
						add.u64 %%a3, %%a3, %%a0;
						createpolicy.fractional.L2::evict_first.b64 %%a4, 1.0;
						st.shared.b32 [%%a3], -1;
						cp.async.%s%s %s;
						cp.async.commit_group;
						cp.async.wait_group 0;
						cp.async.wait_all;
						bar.sync 0;
						`, size, size/2, op, quals, args)
					for e := 0; e < size; e += 4 {
						body += fmt.Sprintf("ld.shared.b32 %%r1, [%%a3+%d];\nst.global.b32 [%%a5+%d], %%r1;\n", e, e)
					}
					decls := fmt.Sprintf(".reg .b64 %%a<8>; .reg .b32 %%r<4>; .reg .pred %%p<2>; .shared .align 16 .b8 sm[%d];", 32*size)
					got := runBody(t, bodyOpts{}, decls, body, [][]byte{src, lens}, 32*size)
					want := bytes.Clone(src)
					for i := range 32 {
						n := int(binary.LittleEndian.Uint32(lens[4*i:]))
						keep := size
						switch fill {
						case "length":
							keep = n
						case "ignore":
							if n < size/2 {
								keep = 0
							}
						case "not":
							if n >= size/2 {
								keep = 0
							}
						}
						clear(want[i*size+keep : (i+1)*size])
					}
					if !bytes.Equal(got, want) {
						t.Errorf("cp.async.%s%s of %d bytes, %s: got\n%x, want\n%x", op, quals, size, fill, got, want)
					}
				}
			}
		}
	}
}

// refMbar is an mbarrier as the PTX manual describes it: counts and a number
// of the phase.
type refMbar struct {
	expected, pending, tx, phase int
}

func (b *refMbar) settle() {
	if b.pending == 0 && b.tx == 0 {
		b.phase++
		b.pending = b.expected
	}
}

// TestMbarrierModel runs random sequences of operations of one thread and
// compares every answer with the model.
func TestMbarrierModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for round := range 60 {
		var body strings.Builder
		var want []uint32
		b := refMbar{expected: 1 + rnd.IntN(12)}
		b.pending = b.expected
		fmt.Fprintf(&body, "mov.u64 %%a0, bar;\nmbarrier.init.shared.b64 [%%a0], %d;\n", b.expected)
		record := func(v int) {
			fmt.Fprintf(&body, "st.global.u32 [%%out+%d], %%r0;\n", 4*len(want))
			want = append(want, uint32(v))
		}
		holds := func(v bool) {
			body.WriteString("selp.u32 %r0, 1, 0, %p0;\n")
			if v {
				record(1)
			} else {
				record(0)
			}
		}
		tokenPhase, completed := -1, false // %a1 holds the token of that phase
		for range 60 {
			if b.expected == 0 {
				break
			}
			space := []string{"", ".shared", ".shared::cta"}[rnd.IntN(3)]
			addr := "[%a0]"
			if space == "" {
				body.WriteString("cvta.shared.u64 %a2, %a0;\n")
				addr = "[%a2]"
			}
			n := 1
			if b.pending > 1 {
				n = 1 + rnd.IntN(b.pending)
			}
			was := b
			switch k := rnd.IntN(9); k {
			case 0, 1, 2: // arrive
				if b.pending == 0 {
					continue
				}
				drop := rnd.IntN(8) == 0
				verb := "arrive"
				if drop {
					verb = "arrive_drop"
				}
				switch form := rnd.IntN(3); {
				case form == 0:
					fmt.Fprintf(&body, "mbarrier.%s%s.b64 %%a1, %s, %d;\n", verb, space, addr, n)
				case form == 1:
					n = 1
					fmt.Fprintf(&body, "mbarrier.%s.release.cta%s.b64 %%a1, %s;\n", verb, space, addr)
				default:
					n = 1
					tx := rnd.IntN(100)
					b.tx += tx
					fmt.Fprintf(&body, "mbarrier.%s.expect_tx%s.b64 %%a1, %s, %d;\n", verb, space, addr, tx)
				}
				tokenPhase = was.phase
				if drop {
					b.expected -= n
				}
				b.pending -= n
				b.settle()
			case 3: // the last arrival may not be one of these
				if b.pending < 2 {
					continue
				}
				n = 1 + rnd.IntN(b.pending-1)
				fmt.Fprintf(&body, "mbarrier.arrive.noComplete%s.b64 %%a1, %s, %d;\nmbarrier.pending_count.b64 %%r0, %%a1;\n", space, addr, n)
				record(b.pending)
				tokenPhase = b.phase
				b.pending -= n
			case 4:
				tx := rnd.IntN(1000)
				b.tx += tx
				fmt.Fprintf(&body, "mbarrier.expect_tx.relaxed.cta%s.b64 %s, %d;\n", space, addr, tx)
			case 5:
				tx := rnd.IntN(1000)
				if b.tx > 0 {
					tx = b.tx
				}
				b.tx -= tx
				fmt.Fprintf(&body, "mbarrier.complete_tx%s.b64 %s, %d;\n", space, addr, tx)
				b.settle()
			case 6, 7:
				verb := []string{"test_wait", "try_wait"}[k-6]
				par := rnd.IntN(2)
				hint := ""
				if verb == "try_wait" && rnd.IntN(2) == 0 {
					hint = ", 100"
				}
				fmt.Fprintf(&body, "mbarrier.%s.parity%s.b64 %%p0, %s, %d%s;\n", verb, space, addr, par, hint)
				holds(b.phase%2 != par)
			case 8:
				// A token is good for its own phase and the one after it.
				if tokenPhase < 0 || b.phase > tokenPhase+1 {
					continue
				}
				fmt.Fprintf(&body, "mbarrier.test_wait.acquire.cta%s.b64 %%p0, %s, %%a1;\n", space, addr)
				holds(b.phase == tokenPhase+1)
				completed = completed || b.phase == tokenPhase+1
			}
		}
		body.WriteString("mbarrier.inval.shared.b64 [%a0];\n")
		decls := ".reg .b64 %a<4>; .reg .b32 %r<4>; .reg .pred %p<2>; .shared .align 8 .b64 bar;"
		got := runBody(t, bodyOpts{block: 1}, decls, body.String(), nil, 4*len(want)+4)
		for i, w := range want {
			if g := binary.LittleEndian.Uint32(got[4*i:]); g != w {
				t.Fatalf("round %d: answer %d is %d, want %d\n%s", round, i, g, w, body.String())
			}
		}
	}
}

// TestMbarrierPipeline: one warp fills two stages in shared memory, another sums them up;
// full and empty barriers alternate, waited for by parity.
func TestMbarrierPipeline(t *testing.T) {
	const rounds = 37
	in := make([]byte, 4*32*rounds)
	want := [32]uint32{}
	for i := range 32 * rounds {
		v := uint32(i*i + 3*i)
		binary.LittleEndian.PutUint32(in[4*i:], v)
		want[i%32] += v * uint32(i/32+1)
	}
	for i, wait := range []string{"try_wait", "test_wait", "try_wait", "test_wait"} {
		body := strings.ReplaceAll(`
		mov.u64 %a0, bars;
		mov.u64 %a1, stage;
		and.b32 %r0, %t, 31;
		mul.wide.u32 %a2, %r0, 4;
		setp.ne.u32 %p0, %t, 0;
		@%p0 bra READY;
		mbarrier.init.shared.b64 [%a0], 32;
		mbarrier.init.shared.b64 [%a0+8], 32;
		mbarrier.init.shared.b64 [%a0+16], 32;
		mbarrier.init.shared.b64 [%a0+24], 32;
		fence.mbarrier_init.release.cluster;
		READY:
		bar.sync 0;
		mov.u32 %r1, 0;              // round
		mov.u32 %r7, 0;              // sum
		setp.ge.u32 %p1, %t, 32;
		add.u64 %a3, %in0, %a2;
		@%p1 bra CONSUMER;
		PRODUCER:
		and.b32 %r2, %r1, 1;         // stage
		mul.wide.u32 %a4, %r2, 16;
		add.u64 %a4, %a0, %a4;
		shr.u32 %r3, %r1, 1;
		and.b32 %r3, %r3, 1;
		xor.b32 %r3, %r3, 1;
		WAIT_EMPTY:
		mbarrier.WAIT.parity.shared.b64 %p2, [%a4+8], %r3;
		@!%p2 bra WAIT_EMPTY;
		mul.wide.u32 %a5, %r2, 128;
		add.u64 %a5, %a5, %a1;
		add.u64 %a5, %a5, %a2;
		cp.async.ca.shared.global [%a5], [%a3], 4;
		cp.async.mbarrier.arrive.noinc.shared.b64 [%a4];
		add.u64 %a3, %a3, 128;
		add.u32 %r1, %r1, 1;
		setp.lt.u32 %p3, %r1, ROUNDS;
		@%p3 bra PRODUCER;
		ret;
		CONSUMER:
		and.b32 %r2, %r1, 1;
		mul.wide.u32 %a4, %r2, 16;
		add.u64 %a4, %a0, %a4;
		shr.u32 %r3, %r1, 1;
		and.b32 %r3, %r3, 1;
		WAIT_FULL:
		mbarrier.WAIT.parity.shared.b64 %p2, [%a4], %r3;
		@!%p2 bra WAIT_FULL;
		mul.wide.u32 %a5, %r2, 128;
		add.u64 %a5, %a5, %a1;
		add.u64 %a5, %a5, %a2;
		ld.shared.u32 %r4, [%a5];
		mbarrier.arrive.shared.b64 _, [%a4+8];
		add.u32 %r1, %r1, 1;
		mad.lo.u32 %r7, %r4, %r1, %r7;
		setp.lt.u32 %p3, %r1, ROUNDS;
		@%p3 bra CONSUMER;
		add.u64 %a6, %out, %a2;
		st.global.u32 [%a6], %r7;`, "WAIT", wait)
		body = strings.ReplaceAll(body, "ROUNDS", fmt.Sprint(rounds))
		got := runBody(t, bodyOpts{block: 64, stepped: i > 1}, ".reg .b64 %a<8>; .reg .b32 %r<8>; .reg .pred %p<4>; .shared .align 8 .b64 bars[4]; .shared .align 16 .b32 stage[64];", body, [][]byte{in}, 128)
		for i, w := range want {
			if g := binary.LittleEndian.Uint32(got[4*i:]); g != w {
				t.Errorf("%s: sum %d is %d, want %d", wait, i, g, w)
			}
		}
	}
}

// TestCpAsyncArrive: without .noinc the arrival changes no count, with it the
// phase ends.
func TestCpAsyncArrive(t *testing.T) {
	got := runBody(t, bodyOpts{block: 1}, ".reg .b64 %a<4>; .reg .b32 %r<4>; .reg .pred %p<2>; .shared .align 8 .b64 bar;", `
		mov.u64 %a0, bar;
		mbarrier.init.shared.b64 [%a0], 2;
		cp.async.mbarrier.arrive.shared.b64 [%a0];
		cp.async.mbarrier.arrive.shared.b64 [%a0];
		mbarrier.arrive.noComplete.shared.b64 %a1, [%a0], 1;
		mbarrier.pending_count.b64 %r0, %a1;
		st.global.u32 [%out], %r0;
		cvta.shared.u64 %a2, %a0;
		cp.async.mbarrier.arrive.noinc.b64 [%a2];
		mbarrier.test_wait.shared.b64 %p0, [%a0], %a1;
		selp.u32 %r1, 1, 0, %p0;
		st.global.u32 [%out+4], %r1;`, nil, 8)
	if a, b := binary.LittleEndian.Uint32(got), binary.LittleEndian.Uint32(got[4:]); a != 2 || b != 1 {
		t.Errorf("pending %d, complete %d; want 2, 1", a, b)
	}
}

// TestBulkCopies: global to shared with an mbarrier, shared to shared, shared
// to global with and without a byte mask, prefetch and groups.
func TestBulkCopies(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, size := range []int{0, 16, 48, 256, 272, 4096 + 16} {
		src := make([]byte, size+16)
		for i := range src {
			src[i] = byte(rnd.Uint32())
		}
		decls := fmt.Sprintf(".reg .b64 %%a<8>; .reg .b32 %%r<4>; .reg .b16 %%h; .reg .pred %%p<2>; .shared .align 8 .b64 bar[2]; .shared .align 16 .b8 one[%d]; .shared .align 16 .b8 two[%d];", size+16, size+16)
		body := strings.ReplaceAll(`
		setp.ne.u32 %p0, %t, 0;
		@%p0 bra ALL;
		mov.u64 %a0, bar;
		mbarrier.init.shared.b64 [%a0], 1;
		mbarrier.init.shared.b64 [%a0+8], 1;
		cp.async.bulk.prefetch.L2.global [%in0], SIZE;
		mov.u64 %a1, one;
		mov.u64 %a2, two;
		mbarrier.arrive.expect_tx.shared.b64 _, [%a0], SIZE;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a1], [%in0], SIZE, [%a0];
		ALL:
		mov.u64 %a0, bar;
		W1:
		mbarrier.try_wait.parity.shared.b64 %p1, [%a0], 0;
		@!%p1 bra W1;
		@%p0 bra ALL2;
		mov.u32 %r0, SIZE;
		mov.b16 %h, 1;
		mbarrier.expect_tx.shared.b64 [%a0+8], %r0;
		cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%a2], [%a1], %r0, [%a0+8];
		mbarrier.arrive.shared.b64 _, [%a0+8];
		ALL2:
		W2:
		mbarrier.test_wait.parity.shared.b64 %p1, [%a0+8], 0;
		@!%p1 bra W2;
		@%p0 bra END;
		fence.proxy.async.shared::cta;
		createpolicy.fractional.L2::evict_last.b64 %a5, 0.25;
		cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%out], [%a2], %r0, %a5;
		cp.async.bulk.commit_group;
		cp.async.bulk.wait_group.read 0;
		mov.b16 %h, 0x8421;
		add.u64 %a3, %out, SIZE;
		cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%a3], [%a2], %r0, %h;
		cp.async.bulk.wait_group 0;
		mbarrier.expect_tx.shared.b64 [%a0], %r0;
		mov.b16 %h, 1;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%a1], [%in0], %r0, [%a0], %h, %a5;
		END:`, "SIZE", fmt.Sprint(size))
		got := runBody(t, bodyOpts{version: "8.8", target: "sm_100"}, decls, body, [][]byte{src}, 2*size)
		want := append(bytes.Clone(src[:size]), make([]byte, size)...)
		for i := range size {
			if 0x8421>>(i%16)&1 != 0 {
				want[size+i] = src[i]
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %x, want %x", size, got, want)
		}
	}
}

// TestStepAddresses: the addresses of atomics and copies that a core model sees are those in
// the reported space, not those of the copy's other end or of its mbarrier.
func TestStepAddresses(t *testing.T) {
	in := words(make([]uint32, 64)...)
	var base uint64
	seen := 0
	watch := func(e *exec.Effects) {
		op, _, _ := strings.Cut(e.Inst.Op, ".")
		switch {
		case strings.HasPrefix(e.Inst.Op, "ld.global"):
			base = e.Addr[0]
		case op == "cp" || op == "atom" || op == "red":
			seen++
			space := isa.Global
			if strings.Contains(e.Inst.Op, "red.async") {
				space = isa.Shared
			}
			if e.Addr == nil || e.Space != space || e.Lanes != 0xf {
				t.Errorf("%s: space %v, lanes %#x", e.Inst.Op, e.Space, e.Lanes)
				return
			}
			for l := range uint64(4) {
				want := base + 16*l
				if space == isa.Shared {
					want = 16 * l
				}
				if e.Addr[l] != want {
					t.Errorf("%s: lane %d at %#x, want %#x", e.Inst.Op, l, e.Addr[l], want)
				}
			}
		}
	}
	runBody(t, bodyOpts{block: 4, stepped: true, watch: watch}, regs+".shared .align 16 .b8 s[64]; .shared .align 8 .b64 bar;", `
		mov.u64 %a0, s;
		mul.wide.u32 %a1, %t, 16;
		add.u64 %a0, %a0, %a1;
		add.u64 %a2, %in0, %a1;
		setp.eq.u32 %p0, %t, 0;
		@%p0 mbarrier.init.shared.b64 [bar], 4;
		ld.global.u32 %r0, [%a2];
		cp.async.cg.shared.global [%a0], [%a2], 16;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%a2], 16, [bar];
		cp.async.bulk.global.shared::cta.bulk_group [%a2], [%a0], 16;
		cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a2], [%a0], 16;
		atom.global.add.u32 %r0, [%a2], 1;
		red.add.u64 [%a2], 1;
		red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%a0], 1, [bar];`, [][]byte{in}, 4)
	if seen != 7 {
		t.Errorf("saw %d instructions, want 7", seen)
	}
}

// TestBulkReduce combines shared with global or shared memory, element by
// element.
func TestBulkReduce(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	const size = 272
	run := func(op, typ, noftz string, global bool) {
		t.Helper()
		a, b := interesting(rnd, typ, size/typeBytes[typ]), interesting(rnd, typ, size/typeBytes[typ])
		to := "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." + op + "." + typ + " [%a3], [%a1], SIZE, [%a0];"
		if global {
			to = "cp.reduce.async.bulk.global.shared::cta.bulk_group." + op + noftz + "." + typ + " [%out], [%a1], SIZE;"
		}
		body := strings.ReplaceAll(`
		mov.u64 %a0, bar;
		mov.u64 %a1, one;
		mov.u64 %a3, two;
		mbarrier.init.shared.b64 [%a0], 1;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a3], [%in0], SIZE, [%a0];
		cp.async.bulk.global.shared::cta.bulk_group [%out], [%a3], SIZE;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a1], [%in1], SIZE, [%a0];
		`+to+"\n", "SIZE", fmt.Sprint(size))
		if !global {
			body += fmt.Sprintf(`mbarrier.arrive.expect_tx.shared.b64 _, [%%a0], %d;
			mbarrier.test_wait.parity.shared.b64 %%p0, [%%a0], 0;
			@!%%p0 trap;
			cp.async.bulk.global.shared::cta.bulk_group [%%out], [%%a3], %d;`, 3*size, size)
		}
		decls := fmt.Sprintf(".reg .b64 %%a<8>; .reg .pred %%p<2>; .shared .align 8 .b64 bar; .shared .align 16 .b8 one[%d]; .shared .align 16 .b8 two[%d];", size, size)
		got := runBody(t, bodyOpts{block: 1}, decls, body, [][]byte{a, b}, size)
		n := typeBytes[typ]
		for i := 0; i < size; i += n {
			want := refAtomic(op, typ, a[i:i+n], b[i:i+n], nil, global)
			g := got[i : i+n]
			if typ == "f64" {
				x, y := math.Float64frombits(binary.LittleEndian.Uint64(g)), math.Float64frombits(binary.LittleEndian.Uint64(want))
				if x != x && y != y {
					continue
				}
			}
			if !bytes.Equal(g, want) {
				t.Fatalf("%s: %x and %x give %x, want %x", to, a[i:i+n], b[i:i+n], g, want)
			}
		}
	}
	for _, c := range []struct {
		op, types    string
		noftz        string
		global, both bool
	}{
		{"and", "b32 b64", "", true, true}, {"or", "b32 b64", "", true, true}, {"xor", "b32 b64", "", true, true},
		{"add", "u32 s32 u64", "", true, true}, {"add", "f32 f64", "", true, false}, {"add", "f16 bf16", ".noftz", true, false},
		{"inc", "u32", "", true, true}, {"dec", "u32", "", true, true},
		{"min", "u32 s32", "", true, true}, {"max", "u32 s32", "", true, true},
		{"min", "u64 s64 f16 bf16", "", true, false}, {"max", "u64 s64 f16 bf16", "", true, false},
	} {
		for _, typ := range strings.Fields(c.types) {
			run(c.op, typ, c.noftz, true)
			if c.both {
				run(c.op, typ, c.noftz, false)
			}
		}
	}
}

// TestStoreAndReduceAsync: st.async, st.bulk and red.async in the block's own
// shared memory count their bytes at an mbarrier.
func TestStoreAndReduceAsync(t *testing.T) {
	got := runBody(t, bodyOpts{version: "8.7", target: "sm_100", block: 1}, ".reg .b64 %a<4>; .reg .b32 %r<8>; .reg .pred %p<2>; .shared .align 8 .b64 bar; .shared .align 16 .b32 s[8];", `
		mov.u64 %a0, bar;
		mov.u64 %a1, s;
		mbarrier.init.shared.b64 [%a0], 1;
		st.shared.v4.u32 [%a1], {-1, -1, -1, -1};
		st.shared.v4.u32 [%a1+16], {7, 100, -1, -1};
		st.bulk.weak.shared::cta [%a1+8], 8, 0;
		st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%a1], 11, [%a0];
		mov.u32 %r0, 12;
		st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%a1+24], {%r0, 13}, [%a0];
		red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%a1+16], 5, [%a0];
		red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.dec.u32 [%a1+20], 50, [%a0];
		mbarrier.arrive.expect_tx.shared.b64 _, [%a0], 20;
		mbarrier.test_wait.parity.shared.b64 %p0, [%a0], 0;
		selp.u32 %r7, 1, 0, %p0;
		st.global.u32 [%out+32], %r7;
		ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [%a1];
		st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};
		ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [%a1+16];
		st.global.v4.u32 [%out+16], {%r0, %r1, %r2, %r3};
		st.async.mmio.release.gpu.global.u32 [%out+36], 77;
		red.async.mmio.release.gpu.global.add.u32 [%out+36], 3;`, nil, 40)
	for i, w := range []uint32{11, 0xffffffff, 0, 0, 12, 50, 12, 13, 1, 80} {
		if g := binary.LittleEndian.Uint32(got[4*i:]); g != w {
			t.Errorf("word %d is %d, want %d", i, g, w)
		}
	}
}

// TestAsyncFaults: what barriers in memory and copies reject.
func TestAsyncFaults(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"mbarrier.arrive.shared.b64 _, [%a0];", "is not initialised"},
		{"mbarrier.init.shared.b64 [%a0], 0;", "initialised with a count of 0"},
		{"mbarrier.init.shared.b64 [%a0], 1048576;", "initialised with a count of 1048576"},
		{"mbarrier.init.shared.b64 [%a0+4], 1;", "misaligned mbarrier operation"},
		{"mbarrier.init.shared.b64 [%a0+4096], 1;", "shared address 0x1000"},
		{"mbarrier.init.b64 [%out], 1;", "not in shared memory"},
		{"mbarrier.init.shared.b64 [%a0], 1;\nmbarrier.inval.shared.b64 [%a0];\nmbarrier.arrive.shared.b64 _, [%a0];", "is not initialised"},
		{"mbarrier.init.shared.b64 [%a0], 2;\nmbarrier.arrive.shared.b64 _, [%a0], 3;", "3 arrivals at the mbarrier"},
		{"mbarrier.init.shared.b64 [%a0], 2;\nmbarrier.arrive.noComplete.shared.b64 %a2, [%a0], 2;", "completes the phase"},
		{"mbarrier.init.shared.b64 [%a0], 2;\nmbarrier.expect_tx.shared.b64 [%a0], 1048575;\nmbarrier.expect_tx.shared.b64 [%a0], 1;", "transaction count"},
		{"cp.async.ca.shared.global [%a1], [%in0+2], 4;", "misaligned asynchronous copy of 4 bytes"},
		{"cp.async.cg.shared.global [%a1+8], [%in0], 16;", "misaligned asynchronous copy of 16 bytes"},
		{"cp.async.ca.shared.global [%a1], [%in0+64], 4;", "out-of-bounds read of 4 bytes"},
		{"cp.async.ca.shared.global [%a1+64], [%in0], 4;", "out-of-bounds write of 4 bytes at shared"},
		{"mov.u32 %r0, 5;\ncp.async.ca.shared.global [%a1], [%in0], 4, %r0;", "reads 5"},
		{"mbarrier.init.shared.b64 [%a0], 1;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a1], [%in0], 8, [%a0];", "multiple of 16"},
		{"mbarrier.init.shared.b64 [%a0], 1;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a1], [%in0+8], 16, [%a0];", "misaligned bulk copy"},
		{"mbarrier.init.shared.b64 [%a0], 1;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a1], [%in0], 80, [%a0];", "out-of-bounds read of 80 bytes"},
		{"cp.async.bulk.global.shared::cta.bulk_group [%out], [%a1], 4294967280;", "out-of-bounds"},
		{"mov.u16 %h, 2;\nmbarrier.init.shared.b64 [%a0], 1;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%a1], [%in0], 16, [%a0], %h;", "multicast to the blocks 0x2"},
		{"mov.u32 %r0, 1;\nmapa.shared::cluster.u64 %a2, %a1, %r0;", "address in block 1 of a cluster"},
		{"alloca.u64 %a2, 100000000;", "stack overflow: alloca of 100000000 bytes"},
		{"mov.u64 %a2, 99;\nstackrestore.u64 %a2;", "stackrestore to 0x63"},
	} {
		_, err := tryBody(t, bodyOpts{block: 1}, ".reg .b64 %a<4>; .reg .b32 %r<2>; .reg .b16 %h; .shared .align 16 .b8 s[64]; .shared .align 8 .b64 bar;", "mov.u64 %a0, bar;\nmov.u64 %a1, s;\n"+c.body, [][]byte{make([]byte, 64)}, 64)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.body, err, c.want)
		}
	}
}

// TestClusterOfOne: mapa and getctarank in a cluster of one block.
func TestClusterOfOne(t *testing.T) {
	got := runBody(t, bodyOpts{block: 1}, ".reg .b64 %a<4>; .reg .b32 %r<8>; .shared .align 4 .b32 s[4];", `
		mov.u64 %a0, s;
		mov.u32 %r0, 0;
		mapa.shared::cluster.u64 %a1, %a0, %r0;
		st.shared.u32 [%a0+4], 42;
		ld.shared::cluster.u32 %r1, [%a1+4];
		st.global.u32 [%out], %r1;
		cvta.shared::cluster.u64 %a2, %a0;
		mapa.u64 %a3, %a2, 0;
		ld.u32 %r2, [%a3+4];
		st.global.u32 [%out+4], %r2;
		mov.u32 %r3, 9;
		getctarank.u64 %r3, %a2;
		st.global.u32 [%out+8], %r3;
		mov.u32 %r4, s;
		mapa.shared::cluster.u32 %r5, %r4, %r0;
		ld.shared::cluster.u32 %r6, [%r5+4];
		st.global.u32 [%out+12], %r6;
		barrier.cluster.arrive.release.aligned;
		barrier.cluster.wait.acquire.aligned;`, nil, 16)
	for i, w := range []uint32{42, 42, 0, 42} {
		if g := binary.LittleEndian.Uint32(got[4*i:]); g != w {
			t.Errorf("word %d is %d, want %d", i, g, w)
		}
	}
}
