// Package agreetest runs kernels by their PTX and by the machine code that a compiler made of it,
// on the same memory, and compares what they leave there, bit for bit. Tests use it.
//
// Arguments follow from the types of a kernel's parameters, which its mangled name has: pointers
// lead to the middle of large buffers, whose values suit their type; integers and floats are
// drawn, always the same.
package agreetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/program"
)

// A Draw chooses the integers of a launch, and its grid.
type Draw struct {
	Name string
	Ints []uint64
	Grid exec.Dim3
	// Set has the values of parameters that are not drawn, by their numbers; a pointer can only be
	// null.
	Set map[int]uint64
	// Distinct are parameters that lead to indices of which none may repeat: 0, 1, 2 and so on.
	Distinct []int
}

// Draws reach most kernels: sizes and strides that are powers of two keep vectors aligned, small
// numbers reach what is done for parts of tiles.
var Draws = []Draw{
	{Name: "32 to 128", Ints: []uint64{32, 64, 128}, Grid: exec.Dim3{X: 3, Y: 2, Z: 2}},
	{Name: "2 to 16", Ints: []uint64{2, 4, 8, 16}, Grid: exec.Dim3{X: 2, Y: 2, Z: 1}},
	{Name: "1 to 7", Ints: []uint64{1, 2, 3, 4, 5, 6, 7}, Grid: exec.Dim3{X: 2, Y: 2, Z: 2}},
	{Name: "256 to 512", Ints: []uint64{256, 512}, Grid: exec.Dim3{X: 2, Y: 1, Z: 1}},
}

const (
	buffers     = 12
	bufferBytes = 2 << 20
	pointAt     = bufferBytes / 4 // indices may be negative, too
	dynamic     = 96 << 10        // bytes of shared memory
	mostInsts   = 4 << 20         // warp instructions of a launch
)

// element is what a buffer holds.
type element uint8

const (
	opaque element = iota // packed weights: halves below 2 at even places, any bits between
	f32
	f64
	f16
	bf16
	index
	pointer
	elements
)

// elementOf is what a pointer of a type leads to.
func elementOf(typ string) element {
	switch typ = strings.TrimSpace(strings.ReplaceAll(strings.TrimSuffix(typ, "*"), "const", "")); {
	case strings.HasSuffix(typ, "*"):
		return pointer
	case strings.HasPrefix(typ, "float"):
		return f32
	case strings.HasPrefix(typ, "double"):
		return f64
	case strings.HasPrefix(typ, "__half"):
		return f16
	case strings.HasPrefix(typ, "__nv_bfloat"):
		return bf16
	case typ == "int" || typ == "unsigned int":
		return index
	}
	return opaque
}

// word returns eight bytes of a buffer.
func (e element) word(r *rand.Rand) uint64 {
	number := func() float32 { return r.Float32()*2 - 1 }
	four := func(f func(x float32) uint64) uint64 {
		return f(number()) | f(number())<<16 | f(number())<<32 | f(number())<<48
	}
	switch e {
	case f32:
		return uint64(math.Float32bits(number())) | uint64(math.Float32bits(number()))<<32
	case f64:
		return math.Float64bits(r.Float64()*2 - 1)
	case f16:
		return four(func(x float32) uint64 { return uint64(num.F64ToF16(math.Float64bits(float64(x)), num.RN)) })
	case bf16:
		return four(func(x float32) uint64 { return uint64(math.Float32bits(x) >> 16) })
	case index:
		return r.Uint64() & 0x0000_0003_0000_0003
	case pointer:
		return r.Uint64() % (bufferBytes / 4) &^ 0xff
	}
	return r.Uint64() &^ 0x4000_4000_4000_4000 // with this bit 0 no half, float or double is huge or NaN
}

// patterns are what buffers of each element begin with: each a part of it.
var patterns = func() (list [elements][]byte) {
	for e := range list {
		r := rand.New(rand.NewPCG(1, uint64(e)))
		for range 2 * bufferBytes / 8 {
			list[e] = binary.LittleEndian.AppendUint64(list[e], element(e).word(r))
		}
	}
	return list
}()

// fill returns a buffer's bytes; a table of pointers leads to addresses from target on.
func (e element) fill(target uint64, r *rand.Rand) []byte {
	from := 256 * r.IntN(bufferBytes/256)
	b := bytes.Clone(patterns[e][from : from+bufferBytes])
	if e == pointer {
		for i := 0; i < len(b); i += 8 {
			binary.LittleEndian.PutUint64(b[i:], target+binary.LittleEndian.Uint64(b[i:]))
		}
	}
	return b
}

// fastDivisor is the number that ggml's kernels divide by, with the multiplier and the shift of
// the division: n / d = (mulhi(n, m) + n) >> s.
func fastDivisor(d uint64) []byte {
	s := bits.Len64(d - 1)
	m := (uint64(1)<<32*(uint64(1)<<s-d))/d + 1
	b := binary.LittleEndian.AppendUint32(nil, uint32(m))
	b = binary.LittleEndian.AppendUint32(b, uint32(s))
	return binary.LittleEndian.AppendUint32(b, uint32(d))
}

// parameterTypes are those in a kernel's name.
func parameterTypes(mangled string) ([]string, error) {
	s, err := demangle.ToString(mangled)
	if err != nil {
		return nil, err
	}
	depth, from := 0, -1
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				from = i
			}
		}
		if from >= 0 {
			break
		}
	}
	if from < 0 || !strings.HasSuffix(s, ")") {
		return nil, fmt.Errorf("%s has no parameters", s)
	}
	var list []string
	for p := range strings.SplitSeq(s[from+1:len(s)-1], ",") {
		list = append(list, strings.TrimSpace(p))
	}
	return list, nil
}

// side is one of the programs, in memory of its own.
type side struct {
	prog    *program.Program
	machine *program.Machine
	buffers [][]byte // in place
	issued  uint64
}

// Pair is a module as PTX and as machine code.
type Pair struct {
	ptx, code *side
	free      func() *side // the PTX with the compiler's freedoms written out
	at        []uint64     // addresses of the buffers, on both sides
	bodies    map[string]string
	// Threads is the number of threads of a block where a kernel sets no limit.
	Threads uint32
}

// New places a module's two forms in memory.
func New(t testing.TB, ptx, code program.Source) *Pair {
	t.Helper()
	p := &Pair{bodies: bodies(ptx.Text), Threads: 32}
	p.ptx = p.place(t, ptx)
	p.code = p.place(t, code)
	p.free = sync.OnceValue(func() *side { return p.place(t, program.Source{Name: ptx.Name, Text: writeOut(ptx.Text)}) })
	return p
}

func (p *Pair) place(t testing.TB, from program.Source) *side {
	t.Helper()
	s, mem := &side{}, device.New(device.Config{})
	p.at = nil
	for i := range buffers {
		a, err := mem.Alloc(bufferBytes, fmt.Sprintf("buffer %d", i))
		if err != nil {
			t.Fatal(err)
		}
		b, err := mem.Bytes(a, bufferBytes)
		if err != nil {
			t.Fatal(err)
		}
		p.at, s.buffers = append(p.at, a), append(s.buffers, b)
	}
	l := program.Loader{As: program.FormOf(from.Name, from.Text)}
	if err := l.Add(from); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.prog, err = l.Link(); err != nil {
		t.Fatal(err)
	}
	if s.machine, err = program.NewMachine(s.prog, mem); err != nil {
		t.Fatal(err)
	}
	return s
}

// Kernels returns those of the PTX.
func (p *Pair) Kernels() []exec.Kernel { return p.ptx.prog.Kernels() }

// run launches a kernel.
func (s *side) run(t testing.TB, name string, l exec.Launch) error {
	k, ok := s.prog.Kernel(name)
	if !ok {
		return errors.New("there is no such kernel")
	}
	l.Kernel = k
	res, err := s.machine.Run(t.Context(), l, exec.Options{MaxInsts: s.issued + mostInsts})
	s.issued += res.WarpInsts
	return err
}

var entryPattern = regexp.MustCompile(`(?m)^\s*(?:\.visible |\.weak )*\.entry ([\w$]+)`)

// bodies are the texts of a module's kernels by name.
func bodies(text []byte) map[string]string {
	list := map[string]string{}
	all := entryPattern.FindAllSubmatchIndex(text, -1)
	for i, m := range all {
		end := len(text)
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		list[string(text[m[2]:m[3]])] = string(text[m[0]:end])
	}
	return list
}

// What PTX leaves to the compiler: mul, add and sub without a rounding mode may become fma, and
// div.approx is a product with rcp.approx.
var (
	arithmetic = regexp.MustCompile(`^(\{?)(mul|add|sub)((?:\.ftz)?)\.(f32|f64|f16x2|f16|bf16x2|bf16)\s+(%\w+),\s*([^,\s]+),\s*([^;\s]+);$`)
	quotient   = regexp.MustCompile(`^div\.approx((?:\.ftz)?)\.f32\s+(%\w+),\s*([^,\s]+),\s*([^;\s]+);$`)
	register   = regexp.MustCompile(`%\w+`)
)

// writeOut returns PTX in which kernels do what a compiler makes of these instructions: a product
// that one sum uses, and nothing else, is part of it.
func writeOut(text []byte) []byte {
	var out []byte
	from := 0
	for _, m := range append(entryPattern.FindAllIndex(text, -1), []int{len(text), len(text)}) {
		if part := string(text[from:m[0]]); from > 0 {
			out = append(out, writeOutKernel(part)...)
		} else {
			out = append(out, part...)
		}
		from = m[0]
	}
	return out
}

func writeOutKernel(text string) string {
	uses := map[string]int{}
	for _, r := range register.FindAllString(text, -1) {
		uses[r]++
	}
	products := map[string][]string{} // by their registers: flush, type and factors
	var lines []string
	extra := 0
	temporary := func(format string, args ...any) string {
		r := fmt.Sprintf("%%free%d", extra)
		extra++
		lines = append(lines, fmt.Sprintf(format, append([]any{r}, args...)...))
		return r
	}
	for line := range strings.SplitSeq(text, "\n") {
		if m := quotient.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			line = fmt.Sprintf("mul.rn%s.f32 %s, %s, %s;", m[1], m[2], temporary("rcp.approx"+m[1]+".f32 %s, %s;", m[4]), m[3])
		}
		m := arithmetic.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			lines = append(lines, line)
			continue
		}
		brace, op, kind, to := m[1], m[2], m[3:5], m[5]
		if op == "mul" {
			products[to] = append(slices.Clone(kind), m[6:8]...)
		}
		for i, x := range m[6:8] {
			p := products[x]
			if op == "mul" || p == nil || uses[x] != 2 || !slices.Equal(p[:2], kind) || op == "sub" && kind[1] != "f32" {
				continue
			}
			a, c := p[2], m[7-i]
			switch {
			case op == "sub" && i == 0:
				c = temporary("neg"+kind[0]+".f32 %s, %s;", c)
			case op == "sub":
				a = temporary("neg"+kind[0]+".f32 %s, %s;", a)
			}
			line = fmt.Sprintf("%sfma.rn%s.%s %s, %s, %s, %s;", brace, kind[0], kind[1], to, a, p[3], c)
			break
		}
		lines = append(lines, line)
	}
	text = strings.Join(lines, "\n")
	if extra > 0 {
		text = strings.Replace(text, ".reg ", fmt.Sprintf(".reg .f32 %%free<%d>;\n.reg ", extra), 1)
	}
	return text
}

// Outcome is what the launches of one kernel showed.
type Outcome struct {
	Equal        int      // launches that wrote the same bits
	Free         int      // launches that do with the compiler's freedoms written out: contraction and div.approx
	Trapped      int      // launches that the program aborts, with the same bits in memory
	Different    []string // what differed, by launch
	Incomparable []string // why launches show nothing
}

// Agree launches a kernel once for each draw.
func (p *Pair) Agree(t testing.TB, k exec.Kernel, draws []Draw) (o Outcome) {
	t.Helper()
	body := p.bodies[k.Name()]
	types, err := parameterTypes(k.Name())
	if err != nil || len(types) != len(k.Params()) {
		o.Incomparable = append(o.Incomparable, fmt.Sprintf("its name has %d parameters of %d: %v", len(types), len(k.Params()), err))
		return o
	}
	h := fnv.New64a()
	h.Write([]byte(k.Name()))
	for n, d := range draws {
		l := exec.Launch{Grid: d.Grid, Block: p.block(k, body), Shared: dynamic, Params: make([]byte, k.ParamBytes())}
		before := p.arguments(k, types, &l, d, rand.New(rand.NewPCG(h.Sum64(), uint64(n))))
		run := func(s *side) error {
			s.fill(before)
			return s.run(t, k.Name(), l)
		}
		perr, cerr := run(p.ptx), run(p.code)
		free := perr == nil && cerr == nil && !p.ptx.same(p.code) && run(p.free()) == nil && p.free().same(p.code)
		var refused *exec.LaunchError
		switch {
		case errors.As(perr, &refused) || errors.As(cerr, &refused) || (perr == nil) != (cerr == nil):
			o.Different = append(o.Different, fmt.Sprintf("%s: PTX: %v, machine code: %v", d.Name, reason(perr), reason(cerr)))
		case trapped(perr) && trapped(cerr) && p.ptx.same(p.code):
			o.Trapped++
		case perr != nil:
			o.Incomparable = append(o.Incomparable, fmt.Sprintf("%s: %s", d.Name, reason(perr)))
		case free:
			o.Free++
		default:
			p.compare(&o, d.Name, before)
		}
	}
	return o
}

// trapped reports whether a program aborted itself.
func trapped(err error) bool {
	var f *exec.Fault
	return errors.As(err, &f) && f.Kind == exec.Trap
}

// fill gives the buffers their values; those that a kernel has no pointer to are zero.
func (s *side) fill(before []buffer) {
	for i, b := range s.buffers {
		if clear(b); i < len(before) {
			copy(b, before[i].bytes)
		}
	}
}

// same reports whether the buffers of two sides are equal.
func (s *side) same(other *side) bool {
	return slices.EqualFunc(s.buffers, other.buffers, bytes.Equal)
}

// buffer is what a buffer holds before a launch.
type buffer struct {
	element
	bytes []byte
}

// arguments fills a launch's parameters.
func (p *Pair) arguments(k exec.Kernel, types []string, l *exec.Launch, d Draw, r *rand.Rand) (list []buffer) {
	for i, a := range k.Params() {
		to := l.Params[a.Offset : a.Offset+a.Size]
		set, isSet := d.Set[i]
		draw := func() uint64 {
			if isSet {
				return set
			}
			return d.Ints[r.IntN(len(d.Ints))]
		}
		switch typ := types[i]; {
		case isSet && strings.HasSuffix(typ, "*"):
		case strings.HasSuffix(typ, "*"):
			n, e := len(list), elementOf(typ)
			binary.LittleEndian.PutUint64(to, p.at[n]+pointAt)
			list = append(list, buffer{e, e.fill(p.at[(n+1)%len(p.at)]+pointAt, r)})
			if slices.Contains(d.Distinct, i) {
				for k := range (bufferBytes - pointAt) / 4 {
					binary.LittleEndian.PutUint32(list[n].bytes[pointAt+4*k:], uint32(k))
				}
			}
		case typ == "uint3":
			copy(to, fastDivisor(draw()))
		case typ == "float":
			binary.LittleEndian.PutUint32(to, math.Float32bits(r.Float32()))
		case typ == "double":
			binary.LittleEndian.PutUint64(to, math.Float64bits(r.Float64()))
		default:
			copy(to, binary.LittleEndian.AppendUint64(nil, draw()))
		}
	}
	return list
}

// compare compares the buffers after a launch.
func (p *Pair) compare(o *Outcome, name string, before []buffer) {
	wrote, where := false, ""
	for i, x := range p.ptx.buffers {
		wrote = wrote || i < len(before) && !bytes.Equal(before[i].bytes, x)
		if y := p.code.buffers[i]; !bytes.Equal(x, y) {
			where += fmt.Sprintf(" buffer %d: %s", i, difference(x, y))
		}
	}
	switch {
	case where != "":
		o.Different = append(o.Different, name+":"+where)
	case wrote:
		o.Equal++
	default:
		o.Incomparable = append(o.Incomparable, name+": it writes nothing")
	}
}

// difference describes where two buffers differ.
func difference(x, y []byte) string {
	count, list := 0, ""
	for i := 0; i < len(x); i += 4 {
		a, b := binary.LittleEndian.Uint32(x[i:]), binary.LittleEndian.Uint32(y[i:])
		if a == b {
			continue
		}
		if count++; count <= 3 {
			list += fmt.Sprintf(" at %d: %#08x, %#08x;", i-pointAt, a, b)
		}
	}
	return fmt.Sprintf("%d words:%s", count, list)
}

// reason says why a launch ended, without the place.
func reason(err error) string {
	var f *exec.Fault
	if errors.As(err, &f) {
		return f.What
	}
	return fmt.Sprint(err)
}

// block is a block that a kernel is made for: all threads that it allows, in rows of a warp if it
// asks for a row.
func (p *Pair) block(k exec.Kernel, body string) exec.Dim3 {
	n := uint32(k.MaxThreads())
	if n == 0 {
		n = p.Threads
	}
	if strings.Contains(body, "%tid.y") && n%32 == 0 {
		return exec.Dim3{X: 32, Y: n / 32, Z: 1}
	}
	return exec.Dim3{X: n, Y: 1, Z: 1}
}
