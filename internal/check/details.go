package check

// Names of details that several checkers give. Text in the words of compute-sanitizer, and
// readers of JSON, look for them.
const (
	Address         = "address"            // 0x7f00..., in its space
	Bytes           = "bytes"              // of the access
	Space           = "space"              // global, shared, local, constant
	Access          = "access"             // read, write or atomic: what the first step does
	Thread          = "thread"             // (x,y,z)
	Block           = "block"              // (x,y,z)
	OtherAccess     = "other access"       // of the second step
	OtherThread     = "other thread"       //
	OtherBlock      = "other block"        //
	AllocationAt    = "allocation address" // the allocation, or the nearest one
	AllocationBytes = "allocation bytes"   //
	Distance        = "distance"           // bytes between the access and that allocation: "16 bytes after"
	Leaked          = "leaked bytes"       // of all allocations of the finding
)
