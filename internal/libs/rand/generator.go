package rand

import (
	"embed"
	"encoding/binary"
	"math"
	"sync"

	"github.com/heddle-sim/heddle/internal/libs"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

//go:embed kernels/*.fatbin.zst
var files embed.FS

// kernels are the compiled kernels, by source file.
var kernels = libs.Kernels("curand", files)

// Version is the release of cuRAND whose functions are here.
const Version = 10310

// Generator is what a curandGenerator_t stands for.
type Generator struct {
	kind   Kind
	host   bool // the numbers go to the host
	seed   uint64
	offset uint64 // what the program set
	stream uint64
	dims   uint32 // of quasirandom points

	seeded    bool
	memory    libs.Memory
	positions uint64 // on the device: the number, the stream's turn, or the point that comes next
	tables    uint64 // on the device: states of streams or of MT19937, direction vectors
}

// generators are those that exist.
var generators = struct {
	sync.Mutex
	next uint64
	of   map[uint64]*Generator
}{next: firstHandle, of: map[uint64]*Generator{}}

// firstHandle makes handles look like pointers, which no program dereferences.
const firstHandle = 0x5300_0000_0000

// Create makes a generator, for numbers on the device or on the host.
func Create(t *cuda.Thread, k Kind, host bool) (handle uint64, s Status) {
	switch k {
	case Default:
		k = XORWOW
	case QuasiDefault:
		k = Sobol32
	}
	of, ok := kinds[k]
	if !ok {
		return 0, TypeError
	}
	if err := t.Answer(cuda.Success); err != cuda.Success {
		return 0, InitializationFault
	}
	if of.name == "" {
		return 0, Missing(t, "CURAND_RNG_"+map[bool]string{false: "PSEUDO_", true: "QUASI_"}[k.quasi()]+of.title)
	}
	g := &Generator{kind: k, host: host, dims: 1, memory: libs.NewMemory(t)}
	if k == MRG32k3a {
		g.seed = 12345 // as documented; that of the others is 0
	}
	generators.Lock()
	defer generators.Unlock()
	generators.next += 64
	generators.of[generators.next] = g
	return generators.next, Success
}

// Destroy ends a generator. One whose memory cannot be freed now, such as during a capture,
// stays.
func Destroy(t *cuda.Thread, handle uint64) Status {
	generators.Lock()
	g := generators.of[handle]
	delete(generators.of, handle)
	generators.Unlock()
	if g == nil || g.memory.Lost(t) {
		return NotInitialized
	}
	s := Call{g, t}.restart()
	if s != Success {
		generators.Lock()
		defer generators.Unlock()
		generators.of[handle] = g
	}
	return s
}

// Call is a call of a thread with a generator.
type Call struct {
	*Generator
	t *cuda.Thread
}

// Of begins a call.
func Of(t *cuda.Thread, handle uint64) (Call, Status) {
	generators.Lock()
	defer generators.Unlock()
	g := generators.of[handle]
	if g == nil || g.memory.Lost(t) {
		return Call{}, NotInitialized
	}
	return Call{g, t}, Success
}

// restart makes the next call begin the sequence again.
func (c Call) restart() Status {
	s := statusOf(c.memory.FreeAll(c.t))
	c.seeded = c.seeded && s != Success
	return s
}

// SetStream sets the stream of all further kernels.
func (c Call) SetStream(stream uint64) Status {
	c.stream = stream
	return Success
}

// SetSeed sets the seed of a pseudorandom generator.
func (c Call) SetSeed(seed uint64) Status {
	if c.kind.quasi() {
		return TypeError
	}
	s := c.restart()
	if s == Success {
		c.seed = seed
	}
	return s
}

// SetOffset sets the number with which the sequence begins.
func (c Call) SetOffset(offset uint64) Status {
	if c.kind == MT19937 {
		return TypeError
	}
	s := c.restart()
	if s == Success {
		c.offset = offset
	}
	return s
}

// SetOrdering accepts the orderings of a generator's kind.
func (c Call) SetOrdering(ordering int32) Status {
	if c.kind.quasi() && ordering != quasiOrdering || !c.kind.quasi() && (ordering < firstOrdering || ordering > lastOrdering) {
		return OutOfRange
	}
	return c.restart()
}

// SetDimensions sets the dimensions of quasirandom points. cuRAND allows 20,000; here are
// direction vectors for a few.
func (c Call) SetDimensions(n uint32) Status {
	if !c.kind.quasi() {
		return TypeError
	}
	if n < 1 || n > 20000 {
		return OutOfRange
	}
	if int(n) > len(joeKuo)+1 {
		return Missing(c.t, "a quasirandom generator with more than 37 dimensions")
	}
	s := c.restart()
	if s == Success {
		c.dims = n
	}
	return s
}

// Seed makes the states or tables of a generator.
func (c Call) Seed() Status {
	if c.seeded {
		return Success
	}
	var contents []byte
	for range c.blocks() {
		contents = binary.LittleEndian.AppendUint64(contents, c.offset)
	}
	positions := uint64(len(contents))
	switch c.kind {
	case XORWOW:
		contents = append(contents, xorwowStates(c.seed, c.offset)...)
	case MRG32k3a:
		contents = append(contents, mrgStates(c.seed, c.offset)...)
	case MT19937:
		contents = append(contents, mtState(c.seed)...)
	case Sobol32:
		contents = append(contents, directions(c.dims, 32)...)
	case Sobol64:
		contents = append(contents, directions(c.dims, 64)...)
	}
	// The stream may be capturing, which would not survive an ordinary allocation.
	mode, err := c.t.ExchangeCaptureMode(cuda.CaptureRelaxed)
	if err != cuda.Success {
		return statusOf(err)
	}
	defer c.t.ExchangeCaptureMode(mode)
	at, err := c.t.Place("the states of a generator of cuRAND", contents)
	if err != cuda.Success {
		return statusOf(err)
	}
	c.memory.Hold(at)
	c.positions, c.tables, c.seeded = at, at+positions, true
	return Success
}

// Distribution is what numbers follow.
type Distribution struct {
	kernel string
	size   uint64 // of a number in bytes
	pairs  bool   // pseudorandom numbers come in pairs
	A, B   float64
}

// Bits are integers of 32 bits.
func Bits() Distribution { return Distribution{kernel: "bits_u32", size: 4} }

// LongBits are integers of 64 bits.
func LongBits() Distribution { return Distribution{kernel: "bits_u64", size: 8} }

// Uniform numbers are above 0 and at most 1.
func Uniform() Distribution { return Distribution{kernel: "uniform_f32", size: 4} }

// UniformDouble is Uniform in double.
func UniformDouble() Distribution { return Distribution{kernel: "uniform_f64", size: 8} }

// Normal numbers have a mean and a deviation.
func Normal(mean, deviation float64) Distribution {
	return Distribution{kernel: "normal_f32", size: 4, pairs: true, A: mean, B: deviation}
}

// NormalDouble is Normal in double.
func NormalDouble(mean, deviation float64) Distribution {
	return Distribution{kernel: "normal_f64", size: 8, pairs: true, A: mean, B: deviation}
}

// LogNormal numbers are the exponentials of normal ones.
func LogNormal(mean, deviation float64) Distribution {
	return Distribution{kernel: "lognormal_f32", size: 4, pairs: true, A: mean, B: deviation}
}

// LogNormalDouble is LogNormal in double.
func LogNormalDouble(mean, deviation float64) Distribution {
	return Distribution{kernel: "lognormal_f64", size: 8, pairs: true, A: mean, B: deviation}
}

// Poisson numbers are counts of events, of which lambda are expected.
func Poisson(lambda float64) Distribution {
	return Distribution{kernel: "poisson_u32", size: 4, A: lambda}
}

// Limits of arguments: the largest expected number (cuRAND documents 400,000), and the
// largest array, our choice.
const (
	maxLambda = 400000
	maxCount  = 1 << 40
)

// task is the kernels' struct task.
type task struct {
	To    uint64
	Count int64
	A, B  float64
}

// Generate fills an array with n numbers.
func (c Call) Generate(d Distribution, to, n uint64) Status {
	quasi := c.kind.quasi()
	switch {
	case d.kernel == "bits_u64" && c.kind != Sobol64, d.kernel == "bits_u32" && c.kind == Sobol64:
		return TypeError
	case quasi && n%uint64(c.dims) != 0, !quasi && d.pairs && n%2 != 0:
		return LengthNotMultiple
	case d.kernel == "poisson_u32" && !(d.A > 0 && d.A <= maxLambda), math.IsNaN(d.A + d.B):
		return OutOfRange
	case d.kernel == "poisson_u32" && (quasi || c.kind == MT19937):
		return Missing(c.t, "the Poisson distribution of the generator "+kinds[c.kind].title)
	case n == 0:
		return Success
	case to == 0 || n > maxCount:
		return OutOfRange
	}
	if s := c.Seed(); s != Success {
		return s
	}
	if !c.host {
		return c.generate(d, to, n)
	}
	// Numbers for the host come from the device, so that they are the same.
	at, err := c.t.Malloc(n * d.size)
	if err != cuda.Success {
		return statusOf(err)
	}
	s := c.generate(d, at, n)
	if s == Success {
		s = statusOf(c.t.Copy(to, at, n*d.size, cuda.DeviceToHost, c.stream, false))
	}
	if err := c.t.Free(at); s == Success {
		s = statusOf(err)
	}
	return s
}

// threads is the size of a block.
const threads = 256

// blocks is how many each call has.
func (c Call) blocks() uint32 {
	switch c.kind {
	case XORWOW, MRG32k3a:
		return streams / threads
	case MT19937:
		return 1
	}
	return 256 // our choice: at least one for each SM of all GPUs
}

// generate launches a kernel, which moves the generator on.
func (c Call) generate(d Distribution, to, n uint64) Status {
	call := cuda.Call{Grid: cuda.Dim3{X: c.blocks(), Y: 1, Z: 1}, Block: cuda.Dim3{X: threads, Y: 1, Z: 1}, Stream: c.stream}
	of := kinds[c.kind]
	args, file := []any{task{to, int64(n), d.A, d.B}, c.positions}, of.name
	switch {
	case c.kind == Philox:
		args = append(args, c.seed)
	case c.kind.quasi():
		file = "sobol"
		args = append(args, c.tables, int64(n/uint64(c.dims)))
	default:
		args = append(args, c.tables)
	}
	return statusOf(c.t.LaunchOwn(kernels[file], of.name+"_"+d.kernel, call, args...))
}
