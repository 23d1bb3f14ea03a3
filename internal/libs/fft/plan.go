package fft

import (
	"fmt"
	"math"
	"sync"

	"github.com/heddle-sim/heddle/internal/libs"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// Version is the release of cuFFT whose functions are here.
const Version = 11401

// Shape is what a plan transforms.
type Shape struct {
	Type  Type
	N     []int64 // the last is that of elements that lie side by side
	Batch int64
	// Layouts of what is read and written. Without them, elements lie densely; transforms
	// in place of real numbers then have room for the complex ones in each line.
	Layouts *[2]Layout
}

// Layout is an advanced layout: elements from one to the next in the last dimension, from
// one transform of the batch to the next, and the extents of memory.
type Layout struct {
	Embed        []int64
	Stride, Dist int64
}

// Limits. The kernels' indices of a line have 31 bits; the sum of all elements is bounded so
// that no number of bytes overflows, our choice.
const (
	maxLength = math.MaxInt32
	maxTotal  = 1 << 48
)

// fits reports whether all elements of a layout lie within maxTotal of the first.
func (s *Shape) fits(l *Layout) bool {
	room := int64(maxTotal)
	take := func(n, stride int64) bool {
		if n > 1 && stride > room/(n-1) {
			return false
		}
		room -= (n - 1) * stride
		return true
	}
	stride := l.Stride
	for d := len(s.N) - 1; d > 0; d-- {
		if !take(s.N[d], stride) || stride > maxTotal/l.Embed[d] {
			return false
		}
		stride *= l.Embed[d]
	}
	return take(s.N[0], stride) && take(s.Batch, l.Dist)
}

// check reports whether a shape makes sense.
func (s *Shape) check(t *cuda.Thread) Result {
	if _, ok := types[s.Type]; !ok {
		return InvalidType
	}
	if len(s.N) < 1 || len(s.N) > 3 {
		return InvalidValue
	}
	if s.Batch < 1 || s.Batch > math.MaxInt32 {
		return InvalidSize
	}
	total := s.Batch
	for _, n := range s.N {
		if n < 1 || n > maxLength || total > maxTotal/n {
			return InvalidSize
		}
		total *= n
	}
	if s.Layouts != nil {
		for _, l := range s.Layouts {
			if l.Stride < 1 || l.Dist < 0 || l.Stride > maxTotal || l.Dist > maxTotal || len(l.Embed) != len(s.N) {
				return InvalidValue
			}
			for _, e := range l.Embed[1:] {
				if e < 1 || e > maxLength {
					return InvalidValue
				}
			}
			if !s.fits(&l) {
				return InvalidSize
			}
		}
	}
	for _, n := range s.N {
		if !smooth(n) && padded(n) > maxPadded {
			return Missing(t, fmt.Sprintf("a transform of length %d, which has a prime factor above 7 and is above %d,", n, maxPadded/2))
		}
	}
	return Success
}

// Plan is what a cufftHandle stands for.
type Plan struct {
	shape  *Shape // nil: not made yet
	stream uint64
	manual bool   // the program provides the work area
	need   uint64 // bytes of it
	area   uint64 // where it is; 0: nowhere
	owned  bool   // it is the plan's own
	tables tables
	memory libs.Memory
}

// plans are those that exist.
var plans = struct {
	sync.Mutex
	next int32
	of   map[int32]*Plan
}{of: map[int32]*Plan{}}

// Create makes an empty plan.
func Create(t *cuda.Thread) (handle int32, r Result) {
	if t.Answer(cuda.Success) != cuda.Success {
		return 0, SetupFailed
	}
	plans.Lock()
	defer plans.Unlock()
	plans.next++
	plans.of[plans.next] = &Plan{memory: libs.NewMemory(t)}
	return plans.next, Success
}

// Destroy ends a plan, and frees its memory when the device no longer uses it. A plan whose
// memory cannot be freed now, such as during a capture, stays.
func Destroy(t *cuda.Thread, handle int32) Result {
	plans.Lock()
	p := plans.of[handle]
	delete(plans.of, handle)
	plans.Unlock()
	if p == nil || p.memory.Lost(t) {
		return InvalidPlan
	}
	r := resultOf(p.memory.FreeAll(t), ExecFailed)
	if r != Success {
		plans.Lock()
		defer plans.Unlock()
		plans.of[handle] = p
	}
	return r
}

// Call is a call of a thread with a plan.
type Call struct {
	*Plan
	t *cuda.Thread
}

// Of begins a call.
func Of(t *cuda.Thread, handle int32) (Call, Result) {
	plans.Lock()
	defer plans.Unlock()
	p := plans.of[handle]
	if p == nil || p.memory.Lost(t) {
		return Call{}, InvalidPlan
	}
	return Call{p, t}, Success
}

// leastArea is the smallest size of a work area that is stated, also for transforms that need
// none: BART 0.8 allocates what is stated, and cannot free a block of no bytes. The number is
// assumed.
const leastArea = 512

// Make gives a plan its shape and its memory, and returns the bytes of its work area.
func (c Call) Make(s Shape) (bytes uint64, r Result) {
	if c.shape != nil {
		return 0, InvalidPlan
	}
	if c.memory.Elsewhere(c.t) {
		return 0, InvalidDevice
	}
	if bytes, r = need(c.t, &s); r != Success {
		return 0, r
	}
	tables, r := makeTables(c.t, &s)
	if r != Success {
		return 0, r
	}
	c.memory.Hold(tables.at)
	if !c.manual && bytes > 0 {
		at, err := c.t.Malloc(bytes)
		if r = resultOf(err, SetupFailed); r != Success {
			c.memory.FreeAll(c.t)
			return 0, r
		}
		c.memory.Hold(at)
		c.area, c.owned = at, true
	}
	c.tables, c.need, c.shape = tables, bytes, &s
	return max(bytes, leastArea), Success
}

// Need is the number of bytes of a shape's work area as plans state it.
func Need(t *cuda.Thread, s *Shape) (bytes uint64, r Result) {
	if bytes, r = need(t, s); r != Success {
		return 0, r
	}
	return max(bytes, leastArea), Success
}

// need is the number of bytes of a shape's work area; it may be 0.
func need(t *cuda.Thread, s *Shape) (bytes uint64, r Result) {
	if r = s.check(t); r != Success {
		return 0, r
	}
	elements := int64(0)
	for _, inPlace := range []bool{false, true} {
		_, n := s.passes(inPlace, Forward)
		elements = max(elements, n)
	}
	return uint64(elements * s.size(complexForm)), Success
}

// Size is the number of bytes of the work area of a plan that was made.
func (c Call) Size() (uint64, Result) {
	if c.shape == nil {
		return 0, InvalidPlan
	}
	return max(c.need, leastArea), Success
}

// SetStream sets the stream of all further executions.
func (c Call) SetStream(stream uint64) Result {
	c.stream = stream
	return Success
}

// SetAutomatic says whether the plan allocates its work area; it has an effect before the
// plan is made.
func (c Call) SetAutomatic(on bool) Result {
	c.manual = !on
	return Success
}

// Policies of work areas (cufftXtWorkAreaPolicy).
const (
	policyMinimal     = 0
	policyUser        = 1 // the program provides it
	policyPerformance = 2
)

// SetPolicy says who allocates the work area.
func (c Call) SetPolicy(policy int32) Result {
	if policy < policyMinimal || policy > policyPerformance {
		return InvalidValue
	}
	return c.SetAutomatic(policy != policyUser)
}

// SetArea sets the work area, which the program allocated.
func (c Call) SetArea(at uint64) Result {
	if c.owned {
		if r := resultOf(c.memory.Free(c.t, c.area), ExecFailed); r != Success {
			return r
		}
	}
	c.area, c.owned = at, false
	return Success
}

// Execute transforms what lies at from, and writes the result to to. The type must be that
// of the plan; those of real numbers have one direction.
func (c Call) Execute(of Type, from, to uint64, d Direction) Result {
	if c.shape == nil {
		return InvalidPlan
	}
	if of != c.shape.Type {
		return InvalidType
	}
	switch of {
	case R2C, D2Z:
		d = Forward
	case C2R, Z2D:
		d = Inverse
	}
	if from == 0 || to == 0 || d != Forward && d != Inverse {
		return InvalidValue
	}
	if c.need > 0 && c.area == 0 {
		return NoWorkspace
	}
	if c.memory.Elsewhere(c.t) {
		return InvalidDevice
	}
	passes, _ := c.shape.passes(from == to, d)
	for _, p := range passes {
		if r := c.launch(p, from, to); r != Success {
			return r
		}
	}
	return Success
}

// Type is that of a plan that was made.
func (c Call) Type() (Type, Result) {
	if c.shape == nil {
		return 0, InvalidPlan
	}
	return c.shape.Type, Success
}
