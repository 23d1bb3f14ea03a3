package isa

// Order is the strength of an access or a fence under the memory model of PTX (PTX manual,
// memory consistency model).
type Order uint8

// The orders. Everything but Weak is strong.
const (
	Weak    Order = iota
	Relaxed       // .volatile and .mmio are relaxed in the scope of the system
	Acquire
	Release
	AcqRel
	SeqCst
)

var orderNames = [...]string{"weak", "relaxed", "acquire", "release", "acq_rel", "sc"}

func (o Order) String() string { return orderNames[o] }

// Acquires reports whether the order takes part in an acquire pattern by itself.
func (o Order) Acquires() bool { return o == Acquire || o == AcqRel || o == SeqCst }

// Releases reports whether it takes part in a release pattern by itself.
func (o Order) Releases() bool { return o >= Release }

// Scope is the set of threads for which a strong operation is strong.
type Scope uint8

// The scopes, each contained in the next.
const (
	ScopeNone Scope = iota
	ScopeCTA
	ScopeCluster
	ScopeGPU
	ScopeSystem
)

var scopeNames = [...]string{"none", "cta", "cluster", "gpu", "sys"}

func (s Scope) String() string { return scopeNames[s] }
