package sass

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
)

// logProbe writes what it is called with as a line each. Global addresses are relative to the first one
// seen.
type logProbe struct {
	strings.Builder
	code    []*isa.Inst
	base    uint64
	follows bool
}

func (p *logProbe) OfMachineCode() exec.Probe { return p }
func (p *logProbe) Follows() bool             { return p.follows }
func (p *logProbe) Begin(_ *exec.Launch, code []*isa.Inst, _ func(int) exec.Where, _ func(int) string) {
	p.code = code
}

func (p *logProbe) Block(b exec.ProbedBlock) exec.BlockProbe {
	if p.follows {
		return &flowBlock{logBlock{p, b}}
	}
	return &logBlock{p, b}
}

type logBlock struct {
	*logProbe
	b exec.ProbedBlock
}

func (b *logBlock) say(warp int, lanes isa.LaneMask, format string, args ...any) {
	fmt.Fprintf(b, "w%d %08x "+format+"\n", append([]any{warp, uint32(lanes)}, args...)...)
}

func (b *logBlock) Access(a *exec.Access) {
	at := a.Addr[a.Lanes.First()]
	if a.Space == isa.Global {
		if b.base == 0 {
			b.base = at
		}
		at -= b.base
	}
	does := map[[2]bool]string{{true, false}: "reads", {false, true}: "writes", {true, true}: "updates"}[[2]bool{a.Read, a.Write}]
	s := fmt.Sprintf("%s %d of %v at %d", does, a.Bytes, a.Space, at)
	if a.Inst.Order != isa.Weak {
		s += fmt.Sprintf(", %v.%v", a.Inst.Order, a.Inst.Scope)
	}
	if a.Failed != 0 {
		s += fmt.Sprintf(", fails for %08x", uint32(a.Failed))
	}
	if a.Silent != 0 {
		s += fmt.Sprintf(", silent for %08x", uint32(a.Silent))
	}
	if a.Flight {
		s += ", in flight"
	}
	if a.Inst != b.code[a.Site] || b.b.Site(a.Warp) != a.Site || b.b.Where(a.Warp, a.Lanes.First()).PC != a.Site {
		s += ", WRONG SITE"
	}
	b.say(a.Warp, a.Lanes, "%s", s)
}

func (b *logBlock) WantsSilent() {}

func (b *logBlock) Arrive(warp int, lanes isa.LaneMask, bar int, waits bool) {
	b.say(warp, lanes, "arrives at barrier %d, waits: %v", bar, waits)
}
func (b *logBlock) Open(bar int)                      { fmt.Fprintf(b, "barrier %d opens\n", bar) }
func (b *logBlock) Meet(warp int, lanes isa.LaneMask) { b.say(warp, lanes, "meets") }
func (b *logBlock) Fence(warp int, lanes isa.LaneMask, o isa.Order, s isa.Scope) {
	b.say(warp, lanes, "fence %v.%v", o, s)
}
func (b *logBlock) Signal(*exec.Signal) {}
func (b *logBlock) Group(warp int, lanes isa.LaneMask, a isa.Async) {
	b.say(warp, lanes, "%s", map[isa.AsyncRole]string{isa.AsyncCommit: "closes a group", isa.AsyncWait: fmt.Sprintf("waits for all groups but %d", a.Leave)}[a.Does])
}
func (b *logBlock) Misuse(kind exec.Misuse, warp int, lanes, mask isa.LaneMask) {
	b.say(warp, lanes, "misuse %d, mask %08x", kind, uint32(mask))
}
func (b *logBlock) Exit(warp int, lanes isa.LaneMask) { b.say(warp, lanes, "exits") }
func (b *logBlock) End()                              { fmt.Fprintln(b, "ends") }

// flowBlock is a logBlock that follows values.
type flowBlock struct{ logBlock }

func (b *flowBlock) Access(*exec.Access) {}
func (b *flowBlock) Executed(warp, site int, lanes, active isa.LaneMask, depth int) {
	b.say(warp, lanes, "of %08x executes %s", uint32(active), b.code[site].Op)
}
func (b *flowBlock) Shuffled(warp, site int, lanes isa.LaneMask, from *[32]uint8, depth int) {
	b.say(warp, lanes, "%s: the first takes from %d", b.code[site].Op, from[lanes.First()])
}
func (b *flowBlock) Enter(int, isa.LaneMask, *exec.Callee)               {}
func (b *flowBlock) Passed(int, isa.LaneMask, int, isa.Reg, uint64, int) {}

// watched runs a block of a kernel with a probe, and returns what the probe was told. R0 is the thread,
// R8 and R9 an address of global memory.
func watched(t *testing.T, p interface {
	exec.Probe
	fmt.Stringer
}, threads uint32, body string) string {
	t.Helper()
	head := header + "S2R R0, SR_TID.X\nMOV R8, c[0x0][0x160]\nMOV R9, c[0x0][0x164]\n"
	if strings.Contains(body, "[B") { // control codes
		head = strings.NewReplacer("S2R", "[B------:R-:W-:-:S05] S2R", "MOV", "[B------:R-:W-:-:S05] MOV").Replace(head)
		body += "\n[B------:R-:W-:-:S05] EXIT\n"
	} else {
		body += "\nEXIT\n"
	}
	k := load(t, head+body)
	if bad := k.Unusable(); len(bad) > 0 {
		t.Fatal(bad)
	}
	mem := device.New(device.Config{})
	at, err := mem.Alloc(4096, "memory")
	if err != nil {
		t.Fatal(err)
	}
	params := make([]byte, k.ParamBytes())
	le.PutUint64(params, at)
	_, err = launch(t, k, Launch{Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: threads, Y: 1, Z: 1}, Params: params, Probe: p}, mem)
	var stuck *exec.StuckError
	if err != nil && !errors.As(err, &stuck) {
		t.Fatal(err)
	}
	return p.String()
}

// TestProbe holds what a probe is called with against what a kernel does.
func TestProbe(t *testing.T) {
	for _, c := range []struct {
		name    string
		threads uint32
		follows bool
		exits   bool // exits are of interest
		body    string
		want    string
	}{
		{"spaces, widths, guards", 32, false, false, `
ISETP.LT.AND P0, PT, R0, 0x4, PT
@P0 STG.E.64 [R8], R4
LDS.128 R12, [RZ]
STL [0x8], R0
LD.E.U8 R5, [R8]`, `
w0 0000000f writes 8 of global at 0, silent for 0000000f
w0 ffffffff reads 16 of shared at 0
w0 ffffffff writes 4 of local at 8
w0 ffffffff reads 1 of global at 0`},
		{"strong accesses, atomics and fences", 1, false, false, `
LDG.E.STRONG.SYS R4, [R8]
STG.E.STRONG.GPU [R8], R8
LDG.E.STRONG.SM R4, [R8]
RED.E.ADD.STRONG.GPU [R8], R8
ATOMS.ADD R4, [RZ], R8
ATOMG.E.CAS.STRONG.GPU PT, R6, [R8], RZ, R0
MEMBAR.SC.GPU
ERRBAR
CCTL.IVALL
MEMBAR.ALL.CTA`, `
w0 00000001 reads 4 of global at 0, relaxed.sys
w0 00000001 writes 4 of global at 0, relaxed.gpu
w0 00000001 reads 4 of global at 0, acquire.cta
w0 00000001 updates 4 of global at 0, relaxed.gpu
w0 00000001 updates 4 of shared at 0, acquire.cta
w0 00000001 updates 4 of global at 0, relaxed.gpu, fails for 00000001
w0 00000001 fence sc.gpu
w0 00000001 fence acquire.sys
w0 00000001 fence acq_rel.cta`},
		{"rows of matrices", 32, false, false, `
LDSM.16.M88.2 R4, [RZ]`, `
w0 0000ffff reads 16 of shared at 0`},
		{"stores of equal values", 3, false, false, `
STG.E [R8], R0
STG.E [R8], R8`, `
w0 00000007 writes 4 of global at 0, silent for 00000001
w0 00000007 writes 4 of global at 0, silent for 00000006`},
		{"copies and their groups", 2, false, false, `
ISETP.EQ.AND P0, PT, R0, RZ, PT
SHF.L.U32 R4, R0, 0x2, RZ
LDGSTS.E [R4+0x40], [R8.64], P0
LDGDEPBAR
DEPBAR.LE SB0, 0x1`, `
w0 00000001 reads 4 of global at 0, in flight
w0 00000003 writes 4 of shared at 64, in flight
w0 00000003 closes a group
w0 00000003 waits for all groups but 1`},
		{"counters of groups, and others", 1, false, false, `
[B------:R-:W3:-:S01] LDGDEPBAR
[B------:R-:W-:-:S05] DEPBAR.LE SB0, 0x1
[B------:R-:W-:-:S05] DEPBAR.LE SB3, 0x2
[B------:R-:W-:-:S05] DEPBAR.LE SB0, 0x1, {3}`, `
w0 00000001 closes a group
w0 00000001 waits for all groups but 2
w0 00000001 waits for all groups but 0`},
		{"barriers and exits", 64, false, true, `
ISETP.GE.AND P0, PT, R0, 0x20, PT
@!P0 BAR.ARV 0x1, 0x40
@!P0 EXIT
BAR.SYNC 0x1, 0x40`, `
w0 ffffffff arrives at barrier 1, waits: false
w0 ffffffff exits
w1 ffffffff arrives at barrier 1, waits: true
barrier 1 opens
w1 ffffffff exits`},
		{"lanes that meet", 32, false, false, `
ISETP.GE.AND P0, PT, R0, 0x10, PT
BSSY B0, join
@P0 BRA side
NOP
side:
BSYNC B0
join:
WARPSYNC 0xffffffff
MOV R4, 0xffff
WARPSYNC R4`, `
w0 0000ffff meets
w0 ffffffff meets
w0 ffff0000 misuse 0, mask 0000ffff
w0 ffffffff meets`},
		{"lanes that never come", 32, false, false, `
ISETP.GE.AND P0, PT, R0, 0x10, PT
@P0 BAR.SYNC 0x0, 0x40
@!P0 WARPSYNC 0xffffffff`, `
w0 ffff0000 arrives at barrier 0, waits: true
w0 0000ffff misuse 1, mask ffffffff`},
		{"a shuffle from elsewhere", 32, false, false, `
ISETP.GE.AND P0, PT, R0, 0x8, PT
@!P0 SHFL.BFLY PT, R4, R0, 0x8, 0x1f`, `
w0 000000ff misuse 2, mask 0000ff00`},
		{"values are followed", 32, true, false, `
ISETP.GE.AND P0, PT, R0, 0x8, PT
@P0 LDS R4, [RZ]
SHFL.BFLY PT, R4, R0, 0x8, 0x1f
@P1 BRA end
UIADD3 UR4, UR4, 0x1, URZ
end:`, `
w0 ffffffff of ffffffff executes S2R
w0 ffffffff of ffffffff executes MOV
w0 ffffffff of ffffffff executes MOV
w0 ffffffff of ffffffff executes ISETP.GE.AND
w0 ffffff00 of ffffffff executes LDS
w0 ffffffff SHFL.BFLY: the first takes from 8
w0 00000000 of ffffffff executes BRA
w0 ffffffff of ffffffff executes UIADD3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := watched(t, &logProbe{follows: c.follows}, c.threads, c.body)
			var kept []string
			for _, l := range strings.Split(strings.TrimSpace(got), "\n") {
				if l == "ends" || !c.exits && strings.HasSuffix(l, " exits") {
					continue
				}
				kept = append(kept, l)
			}
			if got, want := strings.Join(kept, "\n"), strings.TrimSpace(c.want); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// faultBlock is a logBlock that lets all faults pass.
type faultBlock struct{ logBlock }

func (b *faultBlock) Fault(f *exec.Fault) bool {
	fmt.Fprintf(b, "thread %d: %s\n", f.Where.Thread.X, strings.SplitN(f.What, " at ", 2)[0])
	return true
}

type faultProbe struct{ logProbe }

func (p *faultProbe) OfMachineCode() exec.Probe { return p }
func (p *faultProbe) Block(b exec.ProbedBlock) exec.BlockProbe {
	return &faultBlock{logBlock{&p.logProbe, b}}
}

// TestProbeFaults: accesses with which a probe lets a kernel go on are left out, lane by lane. R4 is 3 in
// lanes that have lost one.
func TestProbeFaults(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"load", "@P0 IADD3 R6, R6, 0x4000, RZ\nLDS R4, [R6]", `
thread 1: out-of-bounds read of 4 bytes
thread 3: out-of-bounds read of 4 bytes
w0 00000005 reads 4 of shared at 0
w0 00000005 writes 4 of local at 0
w0 0000000a writes 4 of local at 4`},
		{"store", "@P0 IADD3 R6, R6, 0x4000, RZ\nSTS [R6], R0\nLDS R4, [RZ]", `
thread 1: out-of-bounds write of 4 bytes
thread 3: out-of-bounds write of 4 bytes
w0 00000005 writes 4 of shared at 0, silent for 00000001
w0 0000000f reads 4 of shared at 0
w0 0000000f writes 4 of local at 0`},
		{"atomic", "@P0 IADD3 R6, R6, 0x4000, RZ\nMOV R7, 0x1\nATOMS.ADD R4, [R6], R7\nLDS R4, [RZ]", `
thread 1: out-of-bounds write of 4 bytes
thread 3: out-of-bounds write of 4 bytes
w0 00000005 updates 4 of shared at 0, acquire.cta
w0 0000000f reads 4 of shared at 0
w0 0000000f writes 4 of local at 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := watched(t, &faultProbe{}, 4, `
LOP3.LUT R6, R0, 0x1, RZ, 0xc0, !PT
ISETP.NE.AND P0, PT, R6, RZ, PT
MOV R6, RZ
MOV R4, 0x3
`+c.body+`
ISETP.NE.AND P0, PT, R4, 0x3, PT
@P0 STL [RZ], R4
@!P0 STL [0x4], R4`)
			var kept []string
			for _, l := range strings.Split(strings.TrimSpace(got), "\n") {
				if l != "ends" && !strings.HasSuffix(l, " exits") {
					kept = append(kept, l)
				}
			}
			if got, want := strings.Join(kept, "\n"), strings.TrimSpace(c.want); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestProbeChangesNothing: a kernel issues the same instructions with probes, and leaves the same memory.
func TestProbeChangesNothing(t *testing.T) {
	k := load(t, `
    S2R R0, SR_TID.X
    ISETP.GE.AND P0, PT, R0, 0x8, PT
    MOV R3, 0x4
    IMAD.WIDE.U32 R8, R0, R3, c[0x0][0x160]
    @P0 LDG.E R4, [R8]
    @!P0 STS [R0.X4], R0
    MOV R5, 0x7
    @!P0 BRA end
    @P1 BRA end
    ULDC.S8 UR4, c[0x0][0x170]
    ULDC UR5, c[0x0][0x0]
    IADD3 R5, R0, UR4, RZ
    IADD3 R5, R5, UR5, RZ
    @P0 SHFL.BFLY PT, R5, R5, 0x1, 0x1f
    ATOMS.CAS R6, [RZ], RZ, R5
    IADD3 R5, R5, R6, RZ
    NOP
end:
    STG.E [R8], R5
    EXIT
`)
	run := func(p exec.Probe) (Result, []byte) {
		mem := device.New(device.Config{})
		at, err := mem.Alloc(4096, "memory")
		if err != nil {
			t.Fatal(err)
		}
		params := make([]byte, k.ParamBytes())
		le.PutUint64(params, at)
		params[16] = 0x85
		r, err := launch(t, k, Launch{Grid: exec.Dim3{X: 2, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}, Params: params, Probe: p}, mem)
		if err != nil {
			t.Fatal(err)
		}
		left := make([]byte, 256)
		if err := mem.Read(at, left); err != nil {
			t.Fatal(err)
		}
		return r, left
	}
	want, memory := run(nil)
	for _, follows := range []bool{false, true} {
		got, left := run(&logProbe{follows: follows})
		if got != want {
			t.Errorf("follows %v: %+v, without a probe %+v", follows, got, want)
		}
		if !bytes.Equal(left, memory) {
			t.Errorf("follows %v: memory %x, without a probe %x", follows, left, memory)
		}
	}
}
