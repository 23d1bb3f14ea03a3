package cubin

import "fmt"

// An Attribute is a record of .nv.info.
type Attribute struct {
	ID    AttributeID
	Value uint16 // of the formats with a byte or a half word
	Data  []byte // of the format with a size
	At    int    // offset in the section
}

// AttributeID is the number of an attribute.
type AttributeID uint8

// The attributes that are read, or whose offsets are of use (their numbers: measured).
const (
	attrMaxThreads   AttributeID = 0x05
	attrParamBank    AttributeID = 0x0a
	attrBlock        AttributeID = 0x10 // (public lists of names)
	attrStackFrame   AttributeID = 0x11
	attrStackLeast   AttributeID = 0x12
	attrParam        AttributeID = 0x17
	attrParamBytes   AttributeID = 0x19
	attrExits        AttributeID = 0x1c
	attrRegisters    AttributeID = 0x2f
	attrParamV2      AttributeID = 0x45
	attrBarriers     AttributeID = 0x4c
	attrShuffles     AttributeID = 0x28
	attrSyscalls     AttributeID = 0x46
	attrBranchTables AttributeID = 0x34
)

// attributeNames are the names that tools print.
var attributeNames = map[AttributeID]string{
	0x04: "CTAIDZ_USED", attrMaxThreads: "MAX_THREADS", attrParamBank: "PARAM_CBANK", 0x0f: "EXTERNS", attrBlock: "REQNTID",
	attrStackFrame: "FRAME_SIZE", attrStackLeast: "MIN_STACK_SIZE", attrParam: "KPARAM_INFO", attrParamBytes: "CBANK_PARAM_SIZE",
	0x1b: "MAXREG_COUNT", attrExits: "EXIT_INSTR_OFFSETS", 0x1d: "S2RCTAID_INSTR_OFFSETS", 0x1e: "CRS_STACK_SIZE", 0x23: "MAX_STACK_SIZE",
	attrShuffles: "COOP_GROUP_INSTR_OFFSETS", 0x29: "COOP_GROUP_MASK_REGIDS", 0x2a: "SW1850030_WAR", 0x2b: "WMMA_USED",
	attrRegisters: "REGCOUNT", 0x30: "SW2393858_WAR", 0x31: "INT_WARP_WIDE_INSTR_OFFSETS", attrBranchTables: "INDIRECT_BRANCH_TARGETS",
	0x35: "SW2861232_WAR", 0x36: "SW_WAR", 0x37: "CUDA_API_VERSION", 0x38: "NUM_MBARRIERS", 0x39: "MBARRIER_INSTR_OFFSETS",
	attrParamV2: "KPARAM_INFO_V2", attrSyscalls: "SYSCALL_OFFSETS", attrBarriers: "NUM_BARRIERS",
	0x50: "SPARSE_MMA_MASK",
}

func (a AttributeID) String() string {
	if n := attributeNames[a]; n != "" {
		return n
	}
	return fmt.Sprintf("0x%02x", uint8(a))
}

// Offsets are the places in the code that an attribute lists, nil if it is absent.
func (f *Function) Offsets(id AttributeID) []uint32 {
	for _, a := range f.Attributes {
		if a.ID == id {
			list := make([]uint32, len(a.Data)/4)
			for i := range list {
				list[i] = le.Uint32(a.Data[4*i:])
			}
			return list
		}
	}
	return nil
}

// Exits is the attribute that lists a kernel's exits, by offsets of 32 bits.
func Exits(offsets []byte) Attribute { return Attribute{ID: attrExits, Data: offsets} }

// The formats of a record: what comes after its number.
const (
	formatNone  = 1
	formatByte  = 2
	formatHalf  = 3
	formatSized = 4
)

// parseAttributes reads the records of a section.
func (r *reader) parseAttributes(section string, b []byte) []Attribute {
	var list []Attribute
	for at := 0; at < len(b); {
		if len(b)-at < 4 {
			r.fail(section, at, "%d bytes are left, which are no attribute; want at least 4", len(b)-at)
			break
		}
		a := Attribute{ID: AttributeID(b[at+1]), Value: le.Uint16(b[at+2:]), At: at}
		format := b[at]
		at += 4
		switch format {
		case formatNone:
			a.Value = 0
		case formatByte:
			a.Value &= 0xff
		case formatHalf:
		case formatSized:
			n := int(a.Value)
			if n > len(b)-at {
				r.fail(section, at-4, "attribute %v has %d bytes, but only %d are left", a.ID, n, len(b)-at)
				return list
			}
			a.Value, a.Data = 0, b[at:at+n]
			at += n
		default:
			r.fail(section, at-4, "attribute %v has format %d, which is unknown; want 1 to 4", a.ID, format)
			return list
		}
		list = append(list, a)
	}
	return list
}
