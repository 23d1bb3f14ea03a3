package text

import (
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// maxCode bounds the static instructions of a launch (our choice, as is
// maxOperands). The largest known kernels have some 100,000.
const (
	maxCode     = 1 << 20
	maxOperands = 32
	maxOpcode   = 128
)

// code is the static part of a launch: its instructions, and the forms of the lines
// that contain them, so that a line is recognised by comparing bytes.
type code struct {
	version int
	static  []trace.Static
	traits  []traits
	index   map[string]int32 // by everything that distinguishes an instruction
	forms   []form
	heads   []int32 // by hash of the pc, 1 + the first form
	// sealed is set after the scan: nothing is added after that.
	sealed bool
}

// traits are the properties of opcodes that the scan needs.
type traits struct {
	global bool // accesses global memory, so no address is 0; an LDGSTS may have that of its destination
	exit   bool // may end a warp
	async  bool // LDGSTS, for which raw files have two records
}

// form is the text of an instruction in a line: head precedes the addresses and
// follows the mask, tail follows the addresses. Without addresses all of it is
// head.
type form struct {
	pc     uint32
	at     int32 // of its instruction
	line   int32
	next   int32 // 1 + the next form with this hash
	follow int32 // the form of the line that followed last time
	mem    bool
	head   string
	tail   string
}

// maxChain bounds the forms that are compared with a line. Lines with further forms
// are read token by token.
const maxChain = 32

func newCode(version int) *code {
	return &code{version: version, index: map[string]int32{}, heads: make([]int32, 1<<10)}
}

func (c *code) hash(pc uint32) int { return int(pc*0x9e3779b1>>8) & (len(c.heads) - 1) }

// add adds a form, unless there are already many for its pc.
func (c *code) add(f form) int32 {
	if len(c.forms) > len(c.heads) {
		c.heads = make([]int32, 4*len(c.heads))
		for i := range c.forms {
			h := c.hash(c.forms[i].pc)
			c.forms[i].next, c.heads[h] = c.heads[h], int32(i+1)
		}
	}
	h := c.hash(f.pc)
	n := 0
	for i := c.heads[h]; i != 0; i = c.forms[i-1].next {
		if n++; n == maxChain {
			return -1
		}
	}
	f.next = c.heads[h]
	c.forms = append(c.forms, f)
	c.heads[h] = int32(len(c.forms))
	return int32(len(c.forms) - 1)
}

// find returns the index of an instruction, and adds it if it is new. The second
// result is false if there is no room, or if the code is sealed.
func (c *code) find(st *trace.Static, key []byte) (int32, bool) {
	if i, ok := c.index[string(key)]; ok {
		return i, true
	}
	if c.sealed || len(c.static) == maxCode {
		return 0, false
	}
	i := int32(len(c.static))
	kept := *st
	kept.Op = strings.Clone(st.Op)
	kept.Dsts, kept.Srcs, kept.Imms = slices.Clone(st.Dsts), slices.Clone(st.Srcs), slices.Clone(st.Imms)
	c.static = append(c.static, kept)
	c.traits = append(c.traits, traitsOf(kept.Op))
	c.index[string(key)] = i
	return i, true
}

// seal sorts the instructions by pc and returns the new index of each.
func (c *code) seal() []int32 {
	c.sealed = true
	order := make([]int32, len(c.static))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(int64(c.static[a].PC) - int64(c.static[b].PC)) })
	to := make([]int32, len(order))
	static, traits := make([]trace.Static, len(order)), make([]traits, len(order))
	for i, from := range order {
		to[from] = int32(i)
		static[i], traits[i] = c.static[from], c.traits[from]
	}
	c.static, c.traits = static, traits
	for i := range c.forms {
		c.forms[i].at = to[c.forms[i].at]
	}
	for k, v := range c.index {
		c.index[k] = to[v]
	}
	return to
}

// base returns an opcode without modifiers.
func base(op string) string {
	if i := strings.IndexByte(op, '.'); i >= 0 {
		return op[:i]
	}
	return op
}

func traitsOf(op string) (t traits) {
	switch base(op) {
	case "LDG", "STG", "LD", "ST", "ATOM", "ATOMG", "RED", "REDG":
		t.global = true
	case "EXIT", "KILL", "BPT":
		t.exit = true
	}
	t.async = base(op) == "LDGSTS"
	return t
}

// appendKey writes everything that distinguishes an instruction from others.
func appendKey(b []byte, st *trace.Static) []byte {
	b = strconv.AppendUint(b, uint64(st.PC), 16)
	b = strconv.AppendInt(append(b, ' '), int64(st.Line), 10)
	b = append(append(append(b, ' '), st.Op...), ' ')
	b = strconv.AppendUint(b, uint64(st.Width), 10)
	for _, r := range st.Dsts {
		b = append(b, 'd', byte(r.File), byte(r.N))
	}
	for _, r := range st.Srcs {
		b = append(b, 's', byte(r.File), byte(r.N))
	}
	for _, i := range st.Imms {
		b = strconv.AppendInt(append(b, 'i'), i, 10)
	}
	return b
}

// register parses the name of a register: R0 to R255, UR0 to UR255, P0 to P7, UP0
// to UP7.
func register(b []byte) (trace.Reg, bool) {
	r := trace.Reg{File: isa.RegGPR}
	uniform := len(b) > 0 && b[0] == 'U'
	if uniform {
		r.File = isa.RegUGPR
		b = b[1:]
	}
	if len(b) < 2 {
		return r, false
	}
	most := uint64(255)
	switch {
	case b[0] == 'R':
	case b[0] == 'P' && uniform:
		r.File, most = isa.RegUPred, 7
	case b[0] == 'P':
		r.File, most = isa.RegPred, 7
	default:
		return r, false
	}
	n, k := decimal(b[1:])
	if k == 0 || k != len(b)-1 || n > most {
		return r, false
	}
	r.N = uint16(n)
	return r, true
}
