package tracerun_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

var (
	torture   = flag.Int("torture", 10, "random traces to replay")
	firstSeed = flag.Uint64("seed", 0, "of the first random trace")
	keep      = flag.String("keep", "", "folder in which the first random trace is kept")
)

// opcodes are those seen in code of each binary version.
func opcodes(t testing.TB) map[int][]string {
	t.Helper()
	f, err := os.Open("testdata/opcodes.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list := map[int][]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		w := strings.Fields(s.Text())
		if w[0] == "#" {
			continue
		}
		for _, a := range w[1:] {
			n, err := strconv.Atoi(a)
			if err != nil {
				t.Fatal(err)
			}
			list[n] = append(list[n], w[0])
		}
	}
	// No code of these is at hand: what they are known to have, or that of the
	// nearest.
	list[35] = strings.Fields(`LD.E LD.E.64 LD.E.128 ST.E ST.E.64 LDL LDL.64 STL LDS LDS.64 STS LDSLK STSCUL LDG.E TEXDEPBAR SSY SYNC PBK BRK FFMA FADD FMUL
		IMAD IADD ISUB ISETP.LT.AND ISCADD SHL SHR BFE BFI MOV MOV32I S2R MUFU.RCP DFMA DADD SHFL.IDX VOTE.ALL TEX TLD SULDGA SUSTGA ATOM.ADD RED.ADD MEMBAR.GL`)
	list[52], list[89], list[90] = list[60], list[86], list[86]
	return list
}

// often are opcodes whose timing is a matter of its own; they come as often as
// all others together.
var often = strings.Fields(`LDG.E LDG.E.64 LDG.E.128 LDG.E.U8 LDG.E.STRONG.GPU LDG.E.128.CONSTANT LD.E LD.E.128 ST.E ST.E.64 STG.E STG.E.128 STG.E.U16 LDS LDS.64
	LDS.128 LDS.U.128 STS STS.128 LDL LDL.64 LDL.128 STL STL.64 STL.128 LDSM.16.M88.4 LDGSTS.E.BYPASS.128 LDGDEPBAR DEPBAR.LE DEPBAR ATOMG.E.ADD.STRONG.GPU ATOMG.E.CAS.64.STRONG.GPU
	ATOM.E.ADD.STRONG.GPU ATOMS.ADD ATOMS.CAS.64 RED.E.ADD.F32.FTZ.RN.STRONG.GPU REDUX.SUM MEMBAR.SC.GPU MEMBAR.ALL.CTA MEMBAR.SC.SYS ERRBAR CCTL.IVALL TEX.SCR.LL TLD.LZ TLD4.R
	SULD.P.2D SUST.D.BA.2D SUATOM.1D.ADD LDC LDC.64 LDCU.128 ULDC.64 HMMA.16816.F32 IMMA.16832.S8.S8 DMMA.884 SHFL.BFLY VOTE.ANY VOTEU.ALL MATCH.ANY I2F.F64 F2F.F32.F64 F2I.S64
	MUFU.EX2 DFMA DADD FFMA IMAD.WIDE IADD3.X LOP3.LUT ISETP.GE.AND WARPSYNC NANOSLEEP YIELD NOP S2R S2UR CS2R.64 R2UR UIADD3 UMOV BMOV.32.CLEAR PRMT SEL XMAD FROBNICATE.X QUUX`)

// node is a piece of a random program: an instruction, or a body that is run
// again, or by parts of the warp one after another, or in another function.
type node struct {
	kind nodeKind
	op   *opcode
	body []node // of a loop, a function, the lanes that take a branch
	rest []node // the lanes that do not
}

type nodeKind uint8

const (
	isOp nodeKind = iota
	isLoop
	isBranch
	isCall
	isBarrier
	isLeave // some lanes exit
)

// opcode is a static instruction.
type opcode struct {
	pc    uint32
	line  int
	head  string // destinations, opcode, sources
	bytes int    // of a lane; 0: touches no memory
	base  uint64 // of what it touches
	space string
	imm   int64
}

// maker makes random traces that look like recorded ones.
type maker struct {
	*rand.Rand
	ops     []string
	version int
	arch    int
	line    bool
	pc      uint32
	shared  int

	out          strings.Builder
	records      []string // of a warp
	block        [3]uint32
	warp         int
	live         uint32
	budget       int
	wide         bool // barriers may be unbalanced
	zero         bool // address 0 may come: there is another
	warps, lanes uint64
}

func (m *maker) one(list []string) string { return list[m.IntN(len(list))] }

// chance is true n times of a hundred.
func (m *maker) chance(n int) bool { return m.IntN(100) < n }

func pick[T any](m *maker, list ...T) T { return list[m.IntN(len(list))] }

func (m *maker) register() string {
	switch {
	case m.chance(10):
		return "R255"
	case m.version >= 6 && m.chance(10):
		return pick(m, "UR4", "UR63", "UR17")
	}
	return fmt.Sprintf("R%d", pick(m, m.IntN(12), m.IntN(64), m.IntN(255)))
}

// lanesOf are the bytes that an opcode's lane touches.
func lanesOf(op string) int {
	for part := range strings.SplitSeq(op, ".") {
		switch part {
		case "128":
			return 16
		case "64", "U64", "S64":
			return 8
		case "U16", "S16":
			return 2
		case "U8", "S8":
			return 1
		}
	}
	return 4
}

func (m *maker) opcode(op string) *opcode {
	o := &opcode{pc: m.pc, line: m.IntN(500), imm: pick(m, 0, 0, 1, -1, int64(m.IntN(1<<20)))}
	m.pc += 16
	if m.arch < 70 {
		m.pc -= 8
		if m.pc%32 == 0 {
			m.pc += 8
		}
	}
	base, _, _ := strings.Cut(op, ".")
	dsts, srcs := m.IntN(2), m.IntN(4)
	if m.version >= 6 && m.chance(10) {
		dsts = 4
	}
	switch {
	case slices.Contains([]string{"LDS", "STS", "ATOMS", "LDSM", "LDSLK", "STSCUL"}, base):
		o.bytes, o.space = lanesOf(op), "shared"
	case base == "LDL" || base == "STL":
		o.bytes, o.space = lanesOf(op), "local"
	case base == "LD" || base == "ST" || base == "ATOM":
		o.bytes, o.space = lanesOf(op), pick(m, "shared window", "local window", "global", "mixed")
	case base == "LDC" && m.chance(50) || base == "ULDC" && m.chance(20):
		o.bytes, o.space = lanesOf(op), "constant"
	case strings.HasPrefix(op, "LDG.") || strings.HasPrefix(op, "STG") || base == "RED" || base == "REDG" || base == "ATOMG" || base == "LDGSTS":
		o.bytes, o.space = lanesOf(op), "global"
	case (base == "CCTL" || base == "SULD" || base == "TLD") && m.chance(30):
		o.bytes, o.space = 4, "global"
	}
	if base == "LDGSTS" && m.chance(50) {
		o.space = "shared"
	}
	switch o.space {
	case "global", "mixed":
		o.base = pick[uint64](m, 0x7f0000000000, 0x7fffe0000000, 0x10000000, 0xfffffffffffff000, 0x7f00dead0003)
	case "shared window":
		o.base = 0x7f5e00000000
	case "local window":
		o.base = 0x7f5ddd000000
	case "local":
		o.base = 0xfffbc8
	}
	if o.bytes > 0 && m.chance(3) {
		o.bytes = 1 + m.IntN(255) // what a trace says there is not to be trusted
	}
	var s strings.Builder
	list := func(n int) {
		fmt.Fprintf(&s, "%d ", n)
		for range n {
			s.WriteString(m.register() + " ")
		}
	}
	list(dsts)
	s.WriteString(op + " ")
	list(srcs)
	o.head = s.String()
	return o
}

// body makes a piece of a program.
func (m *maker) body(n, depth int) []node {
	var list []node
	for range n {
		k := m.IntN(100)
		switch {
		case k < 6 && depth > 0:
			list = append(list, node{kind: isLoop, op: m.opcode("BRA"), body: m.body(1+m.IntN(6), depth-1)})
		case k < 14 && depth > 0:
			x := node{kind: isBranch, op: m.opcode(pick(m, "BRA", "BSSY", "SSY", "BRX", "JMP"))}
			x.body = m.body(m.IntN(5), depth-1)
			x.rest = m.body(m.IntN(5), depth-1)
			list = append(list, x)
		case k < 17 && depth > 0:
			x := node{kind: isCall, op: m.opcode(pick(m, "CALL.REL.NOINC", "CAL", "JCAL", "PRET"))}
			was := m.pc
			m.pc = uint32(8 * m.IntN(4)) // functions begin anew
			x.body = append(m.body(m.IntN(5), 0), node{op: m.opcode(pick(m, "RET.REL.NODEC", "RET", "RTT"))})
			m.pc = max(was, m.pc)
			list = append(list, x)
		case k < 25 && (depth >= 2 || m.wide):
			list = append(list, node{kind: isBarrier, op: m.opcode(pick(m, "BAR.SYNC", "BAR.SYNC.DEFER_BLOCKING", "BAR.RED.POPC", "BAR.RED.AND"))})
		case k < 27 && m.wide:
			list = append(list, node{op: m.opcode(pick(m, "BAR.ARV", "BAR.SYNC", "BAR.SCAN", "B2R.RESULT"))})
		case k < 29:
			list = append(list, node{kind: isLeave, op: m.opcode("EXIT")})
		case k < 65:
			list = append(list, node{op: m.opcode(m.one(often))})
		default:
			list = append(list, node{op: m.opcode(m.one(m.ops))})
		}
	}
	return list
}

// run walks a program with the lanes of mask.
func (m *maker) run(list []node, mask uint32) {
	for i := range list {
		x := &list[i]
		mask &= m.live
		switch x.kind {
		case isLoop:
			for range 1 + m.IntN(4) {
				m.run(x.body, mask)
				m.record(x.op, mask&m.live)
			}
		case isBranch:
			taken := mask & pick(m, 0, 0xffff, 0x55555555, m.Uint32(), 1, 1<<31, ^uint32(0))
			m.record(x.op, taken)
			m.run(x.body, taken)
			m.run(x.rest, mask&^taken)
		case isCall:
			m.record(x.op, mask)
			m.run(x.body, mask)
		case isBarrier:
			if m.wide && m.chance(30) {
				continue
			}
			m.record(x.op, mask)
		case isLeave:
			out := mask & pick(m, 0, 0, 0, 1, 0xf0f0f0f0, m.Uint32())
			m.record(x.op, out)
			m.live &^= out
		default:
			guard := mask
			if m.chance(15) {
				guard &= pick(m, 0, 1, m.Uint32(), 0xffff0000)
			}
			m.record(x.op, guard)
		}
	}
}

// record writes the line of an instruction.
func (m *maker) record(o *opcode, mask uint32) {
	if m.budget <= 0 {
		return
	}
	m.budget--
	m.warps++
	m.lanes += uint64(bits.OnesCount32(mask))
	var s strings.Builder
	if m.version < 3 {
		fmt.Fprintf(&s, "%d %d %d %d ", m.block[0], m.block[1], m.block[2], m.warp)
	}
	if m.line && m.version >= 4 {
		fmt.Fprintf(&s, "%d ", o.line)
	}
	fmt.Fprintf(&s, "%04x %08x %s%d", o.pc, mask, o.head, o.bytes)
	if o.bytes > 0 {
		s.WriteString(m.addresses(o, mask))
	}
	switch {
	case m.version == 5:
		fmt.Fprintf(&s, " %d", int32(o.imm))
	case m.version >= 6 && m.chance(5):
		fmt.Fprintf(&s, " %d 0 Val 1 0x2 1 0x3", o.imm)
	case m.version >= 6:
		fmt.Fprintf(&s, " %d 0 NoVal", o.imm)
	}
	s.WriteByte(' ')
	m.records = append(m.records, s.String())
}

// addresses writes those of the lanes of mask in one of the modes that can.
func (m *maker) addresses(o *opcode, mask uint32) string {
	digits := 1
	if m.version < 3 {
		digits = 16
	}
	var at []uint64
	stride := pick(m, 0, 4, 8, 16, 1, 128, 132, 4096, -4, 33, 1<<20)
	base := o.base + uint64(m.IntN(1<<14))&^3
	if o.space == "shared" {
		base = uint64(m.IntN(max(1, m.shared)))
	}
	if m.zero && m.chance(3) {
		base = 0
	}
	m.zero = m.zero || o.space == "global" && base != 0 && mask != 0
	random := m.chance(20)
	for i := range bits.OnesCount32(mask) {
		a := base + uint64(i*stride)
		if random {
			a = base + uint64(m.IntN(1<<16))
		}
		if o.space == "mixed" && m.chance(20) {
			a = pick[uint64](m, 0x7f5e00000010, 0x7f5ddd000010, 0x7f0000000010)
		}
		at = append(at, a)
	}
	n := len(at)
	run := n >= 2 && bits.OnesCount32(mask>>bits.TrailingZeros32(mask)+1) == 1
	for i := 2; i < n; i++ {
		run = run && at[i]-at[i-1] == at[1]-at[0]
	}
	switch {
	case n == 0:
		return fmt.Sprintf(" 1 0x%0*x 0", digits, 0)
	case m.chance(20):
		var s strings.Builder
		s.WriteString(" 0")
		for _, a := range at {
			fmt.Fprintf(&s, " 0x%016x", a)
		}
		return s.String()
	case run:
		return fmt.Sprintf(" 1 0x%0*x %d", digits, at[0], int32(at[1]-at[0]))
	}
	s := fmt.Sprintf(" 2 0x%0*x", digits, at[0])
	for i := 1; i < n; i++ {
		s += fmt.Sprintf(" %d", int64(at[i]-at[i-1]))
	}
	return s
}

// launchFacts are the warp and thread instructions of a made launch.
type launchFacts struct {
	warps, lanes uint64
}

// launch writes a launch and says what is in it.
func (m *maker) launch(path string, id int) (launchFacts, error) {
	m.out.Reset()
	m.warps, m.lanes, m.pc = 0, 0, 0
	m.wide, m.zero = m.chance(30), false
	grid := pick(m, [3]uint32{1, 1, 1}, [3]uint32{1 + m.Uint32N(20), 1, 1}, [3]uint32{2, 3, 2}, [3]uint32{5, 7, 1}, [3]uint32{1<<31 - 1, 1, 1}, [3]uint32{1<<31 - 1, 65535, 65535})
	block := pick(m, [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, [3]uint32{33, 1, 1}, [3]uint32{10, 10, 1}, [3]uint32{128, 1, 1}, [3]uint32{16, 16, 1}, [3]uint32{7, 5, 3}, [3]uint32{1, 1, 64},
		[3]uint32{1024, 1, 1}, [3]uint32{8, 8, 16})
	m.shared = pick(m, 0, 0, 1, 4096, 16<<10, 48<<10, 100<<10, 227<<10)
	registers := pick(m, 0, 8, 16, 24, 40, 64, 128, 255)
	threads := int(block[0] * block[1] * block[2])
	o := &m.out
	fmt.Fprintf(o, "-kernel name = _Z%dtortured%dPf\n-kernel id = %d\n-grid dim = (%d,%d,%d)\n-block dim = (%d,%d,%d)\n-shmem = %d\n-nregs = %d\n-binary version = %d\n-cuda stream id = %d\n",
		9, m.IntN(3), id, grid[0], grid[1], grid[2], block[0], block[1], block[2], m.shared, registers, m.arch, m.IntN(4))
	if m.version >= 3 || m.chance(50) {
		o.WriteString("-shmem base_addr = 0x00007f5e00000000\n-local mem base_addr = 0x00007f5ddd000000\n-nvbit version = 1.5.5\n")
	}
	if m.version > 0 {
		fmt.Fprintf(o, "-accelsim tracer version = %d\n", m.version)
	}
	m.line = m.chance(30)
	if m.version >= 4 {
		fmt.Fprintf(o, "-enable lineinfo = %d\n", map[bool]int{true: 1}[m.line])
	}
	o.WriteString("\n#traces format = whatever\n\n")
	program := m.body(3+m.IntN(30), 2)
	exit := m.opcode("EXIT")
	warps := (threads + 31) / 32
	total := uint64(grid[0]) * uint64(grid[1]) * uint64(grid[2])
	present := min(total, 1+m.Uint64N(24))
	if warps > 8 {
		present = min(present, 5)
	}
	sparse := total > present || m.chance(20)
	holes := m.chance(25)
	n := uint64(0)
	for at := uint64(0); at < total && n < present; at++ {
		if sparse {
			at += m.Uint64N(1 + (total-at)/(2*present))
			if at >= total {
				break
			}
		}
		n++
		d := trace.Dim(grid).At(at)
		m.block = d
		fmt.Fprintf(o, "#BEGIN_TB\n\nthread block = %d,%d,%d\n\n", d[0], d[1], d[2])
		for w := range warps {
			if holes && m.chance(20) {
				if m.chance(50) {
					fmt.Fprintf(o, "warp = %d\ninsts = 0\n\n", w)
				}
				continue
			}
			m.warp, m.records, m.budget = w, nil, 300
			m.live = ^uint32(0)
			if left := threads - 32*w; left < 32 {
				m.live = 1<<left - 1
			}
			all := m.live
			m.run(program, all)
			if !holes || m.chance(80) {
				m.budget = 1
				m.record(exit, pick(m, m.live, m.live, all))
			}
			fmt.Fprintf(o, "warp = %d\ninsts = %d\n%s\n\n", w, len(m.records), strings.Join(m.records, "\n"))
		}
		o.WriteString("#END_TB\n\n")
	}
	return launchFacts{m.warps, m.lanes}, os.WriteFile(path, []byte(o.String()), 0o666)
}

// tortured makes a folder of a random trace.
func tortured(t testing.TB, seed uint64, ops map[int][]string) (dir string, list []launchFacts, about string) {
	t.Helper()
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 0))}
	m.arch = pick(m, 35, 52, 60, 61, 70, 75, 80, 86, 89, 90, 100, 120)
	m.ops = ops[m.arch]
	m.version = m.IntN(7)
	dir = t.TempDir()
	var lines strings.Builder
	for i := range 1 + m.IntN(4) {
		if m.chance(40) {
			fmt.Fprintf(&lines, "MemcpyHtoD,0x%016x,%d\n", pick[uint64](m, 0x7f0000000000, 0x10000000, 0), pick(m, 1, 4096, 400000))
		}
		name := fmt.Sprintf("kernel-%d.traceg", i+1)
		f, err := m.launch(filepath.Join(dir, name), i+1)
		if err != nil {
			t.Fatal(err)
		}
		for range pick(m, 1, 1, 2) {
			fmt.Fprintln(&lines, name)
			list = append(list, f)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "kernelslist.g"), []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir, list, fmt.Sprintf("seed %d, sm_%d, version %d, %d launches", seed, m.arch, m.version, len(list))
}

// machines are all GPUs, and those that files of Accel-Sim describe.
func machines() []string {
	list := config.Names()
	for _, name := range []string{"SM86_RTX3070", "SM6_TITANX"} {
		list = append(list, filepath.Join(configs, name, "gpgpusim.config"))
	}
	return list
}

// TestTorture replays random traces of all binary versions and versions of the
// tracer, each on some of the machines: each comes to its end with the
// instructions that were written, whatever the number of threads.
func TestTorture(t *testing.T) {
	alltests.Only(t, "traces made to be hard")
	ops := opcodes(t)
	all := machines()
	n := uint64(*torture)
	if !alltests.On() {
		n = min(n, 2)
	}
	for seed := *firstSeed; seed < *firstSeed+n; seed++ {
		dir, facts, about := tortured(t, seed, ops)
		if *keep != "" && seed == *firstSeed {
			if err := os.CopyFS(*keep, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
		}
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 1))}
		for _, i := range m.Perm(len(all))[:alltests.Count(2, 4)] {
			gpu := all[i]
			hidden, dependences := pick(m, "off", "recover"), pick(m, "recorded", "scoreboard", "inferred")
			var first *report.Run
			for _, threads := range []int{1, 3} {
				var s run.Settings
				for _, k := range []string{"trace.hidden_dependences=" + hidden, "trace.dependences=" + dependences} {
					if err := s.Set(k); err != nil {
						t.Fatal(err)
					}
				}
				set, err := open.Open(dir)
				if err != nil {
					t.Fatalf("%s: %v", about, err)
				}
				ctx, stop := context.WithTimeout(context.Background(), time.Minute)
				r, err := tracerun.Run(ctx, set, tracerun.Options{GPU: gpu, Threads: threads, Settings: s})
				stop()
				r.Seconds = 0
				how := fmt.Sprintf("%s on %s, hidden dependences %s, dependences %s, %d threads", about, gpu, hidden, dependences, threads)
				if err != nil {
					t.Errorf("%s: %.1500v", how, err)
				} else {
					ran(t, how, r, facts)
				}
				if first == nil {
					first = r
				} else if d := cmp.Diff(first, r); d != "" {
					t.Errorf("%s (-1 thread, +%d):\n%s", how, threads, d)
				}
			}
		}
	}
}

// ran compares the launches of a result with what was written.
func ran(t *testing.T, how string, r *report.Run, facts []launchFacts) {
	t.Helper()
	if len(r.Kernels) != len(facts) {
		t.Errorf("%s: %d launches ran of %d", how, len(r.Kernels), len(facts))
		return
	}
	for i, f := range facts {
		if k := &r.Kernels[i]; k.WarpInstructions != f.warps || k.ThreadInstructions != f.lanes {
			t.Errorf("%s: launch %d: %d warp and %d thread instructions, want %d and %d", how, i, k.WarpInstructions, k.ThreadInstructions, f.warps, f.lanes)
		}
	}
}

// TestNobodyWaits replays loads that write no register, for which no warp waits:
// an SM whose warps have all retired still takes their answers, where they come
// past the L1.
func TestNobodyWaits(t *testing.T) {
	dir, facts, about := tortured(t, 1000, opcodes(t))
	r, err := replayed(t, dir, tracerun.Options{GPU: "titan-x-pascal", Threads: 1})
	if err != nil {
		t.Fatalf("%s: %.500v", about, err)
	}
	ran(t, about, r, facts)
}
