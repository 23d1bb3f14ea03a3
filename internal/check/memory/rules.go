package memory

import "github.com/heddle-sim/heddle/internal/check"

const (
	boundsMend = "Compare the index with the number of elements before the access, most often by a guard such as if (i < n), or allocate as much as is accessed."
	freeMend   = "Free each allocation once, with the pointer that the allocation returned, and set the pointer to null after that."
)

// The rules.
var (
	OOBGlobal = &check.Rule{ID: "oob-global", Checker: Name, Level: check.Error, Tags: []string{"memory"},
		Short: "A kernel accesses global memory outside of every allocation.",
		Full:  "The bytes are not all inside of one allocation. A GPU may stop the program there, or read and change memory of something else without a word.",
		Mend:  boundsMend}
	OOBShared = &check.Rule{ID: "oob-shared", Checker: Name, Level: check.Error, Tags: []string{"memory"},
		Short: "A kernel accesses shared memory beyond what its block has.",
		Full:  "The block has its static variables and as much dynamic shared memory as the launch gives it; the access is beyond both.",
		Mend:  "Give the launch as much dynamic shared memory as the kernel uses (the third value in <<<>>>), or compare the index with the size of the variable."}
	OOBLocal = &check.Rule{ID: "oob-local", Checker: Name, Level: check.Error, Tags: []string{"memory"},
		Short: "A thread accesses its local memory beyond its end.",
		Full:  "Arrays of a thread and its stack are in local memory. The access is outside of all of them.",
		Mend:  boundsMend}
	OOBConstant = &check.Rule{ID: "oob-constant", Checker: Name, Level: check.Error, Tags: []string{"memory"},
		Short: "A kernel accesses constant memory outside of its variables.",
		Full:  "The access is outside of every __constant__ variable, or writes to one.",
		Mend:  boundsMend}
	Misaligned = &check.Rule{ID: "misaligned", Checker: Name, Level: check.Error, Tags: []string{"memory"},
		Short: "The address of an access is not a multiple of its size.",
		Full:  "A GPU stops the program at such an access. It comes from a cast of a pointer to a type of a larger alignment, such as from float to float4.",
		Mend:  "Use pointers of the type with which the memory was made, or let offsets be multiples of the larger type's size."}
	UseAfterFree = &check.Rule{ID: "use-after-free", Checker: Name, Level: check.Error, Tags: []string{"memory"},
		Short: "Memory is accessed after it was freed.",
		Full:  "The address lies in an allocation that a call has freed before. Another allocation may have the same place by now.",
		Mend:  "Free the memory after the last kernel and the last copy that use it."}
	OOBMemcpy = &check.Rule{ID: "oob-memcpy", Checker: Name, Level: check.Error, Tags: []string{"memory"},
		Short: "A copy or a fill by the host leaves its allocation.",
		Full:  "One side of the copy is not wholly inside of one allocation of the device. The call returns an error and copies nothing; programs that do not look at it go on with old data.",
		Mend:  "Copy as many bytes as the smaller of the two allocations has. A count of elements needs to be multiplied by sizeof."}
	DoubleFree = &check.Rule{ID: "double-free", Checker: Name, Level: check.Error, Tags: []string{"memory"},
		Short: "Memory is freed a second time.",
		Full:  "The address is that of an allocation that was freed before. If another allocation has got the same place meanwhile, its memory is freed in its stead.",
		Mend:  freeMend}
	InvalidFree = &check.Rule{ID: "invalid-free", Checker: Name, Level: check.Error, Tags: []string{"memory"},
		Short: "An address is freed at which no allocation begins.",
		Full:  "The address was not returned by the allocation that the call belongs to: it points into an allocation, or is one of the host, or never was allocated.",
		Mend:  freeMend}
	BadCall = &check.Rule{ID: "bad-call", Checker: Name, Level: check.Error, Tags: []string{"memory"},
		Short: "A function is called through a pointer that points to none.",
		Full:  "The address is null, was overwritten, is that of a function of the host, or of a function with other parameters. A GPU jumps there and stops the program, or executes whatever lies there.",
		Mend:  "Set the pointer in code of the device (a function's address that the host takes is the host's), and test it before the call. Objects with virtual functions must be made by the device that calls these."}
	StackOverflow = &check.Rule{ID: "stack-overflow", Checker: Name, Level: check.Error, Tags: []string{"memory"},
		Short: "Calls are nested deeper than a thread's stack allows.",
		Full:  "A recursion does not end, or is deeper than the stack of a thread. A GPU stops the program, or writes to memory of other threads.",
		Mend:  "End the recursion, or use a loop with a stack of its own. cudaDeviceSetLimit(cudaLimitStackSize, …) makes the stack of a GPU larger."}

	rules = []*check.Rule{OOBGlobal, OOBShared, OOBLocal, OOBConstant, Misaligned, UseAfterFree, OOBMemcpy, DoubleFree, InvalidFree, BadCall, StackOverflow}
)
