package sass

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

var le = binary.LittleEndian

const instBytes = sass.InstBytes

// stackBytes is the least size of a thread's call stack beyond what its kernel declares (CUDA's
// default is 1 KiB).
const stackBytes = 1024

// Constant bank 0 before its parameters (measured on cubins of sm_70 to sm_90).
const (
	constBlockDim  = 0x00
	constGridDim   = 0x0c
	constShared    = 0x18
	constLocal     = 0x20
	constStack     = 0x28
	bankBytes      = 64 << 10
	constSpaceHigh = 0x8c // %envreg1 and %envreg2: address of a cooperative launch's workspace
	constSpaceLow  = 0x90

	// From sm_100 on (cubins of sm_120 and the PTX of the same kernels).
	firstNewLayout = 100
	newBlockDim    = 0x360
	newGridDim     = 0x370
	newStack       = 0x37c
	newLocal       = 0x2f8
	newSpaceHigh   = 0x254 // less 0xa0 times SR_CgaSize
	newSpaceLow    = 0x258
	clusterBytes   = 0xa0
)

// Program is the kernels of a file.
type Program struct {
	file      string
	arch      sass.Arch
	text      *sass.File
	kernels   []*Kernel
	unknown   []string // functions that nobody defines
	undefined []string // variables that nobody defines
	// pointers are the functions that kernels call through a register, in the order of their
	// addresses.
	pointers []string
	// places are the numbers of the addresses in the code or the constants of each kernel, and, by
	// the empty name, of those in what all kernels share that are not supported.
	places map[string][]int
	shared map[string]bool // functions whose addresses are in what all kernels share
	refs   []reference
}

// reference is a word of a kernel's constant bank 0 that gets the handle of a texture or surface
// reference.
type reference struct {
	name, kernel string
	offset       uint64
	surface      bool
}

func (r *reference) kind() texture.Kind {
	if r.surface {
		return texture.IsSurface
	}
	return texture.IsTexture
}

// Kernel is a kernel of a program.
type Kernel struct {
	regs   int // general registers per thread
	params []exec.Param
	bytes  int // of all parameters
	size   int // bytes of code
	prog   *Program
	text   *sass.Kernel

	// Once it is decoded.
	once      sync.Once
	infos     []isa.Inst
	code      []inst   // plus one at the end that marks the end
	rows      int      // of a warp: general and uniform registers
	named     int      // the first rows: up to the highest uniform register that the code names
	watch     [2]watch // its code for launches with probes: without and with the calls of exec.FlowProbe
	consts    []constant
	fixed     [][32]uint32 // rows of constants; those from banks are filled at launch
	bad       []error
	talks     bool     // blocks can communicate through memory
	spins     bool     // blocks also wait for each other in loops
	workspace bool     // it reads the address of a cooperative launch's workspace
	may       uint8    // provided functions that it has the addresses of, a bit each
	entries   []uint64 // of the program's pointers: where the functions begin in the code, 0 if they are not in it
}

// constant is a word of a constant bank that the code names.
type constant struct {
	bank   int
	offset int64
	row    int
}

// UnsupportedError is an instruction that cannot be executed.
type UnsupportedError struct {
	Where exec.Where
	Words [2]uint64
	Why   string
}

func (e *UnsupportedError) Error() string {
	w := &e.Where
	at := fmt.Sprintf("%s:%d:%d", w.File, w.Pos.Line, w.Pos.Col)
	if w.Pos.Line == 0 { // machine code
		at = fmt.Sprintf("%s: kernel %s, address %#x", w.File, w.Kernel, w.PC*instBytes)
	}
	if w.SrcLine > 0 {
		at += fmt.Sprintf(" (source %s:%d)", w.SrcFile, w.SrcLine)
	}
	return fmt.Sprintf("%s: %s (words %016x %016x): %s", at, w.Inst, e.Words[0], e.Words[1], e.Why)
}

// Load makes a program of a file. An instruction that is not supported makes its kernel
// unusable, see Kernel.Unusable.
func Load(f *sass.File) *Program {
	p := &Program{file: f.Name, arch: f.Arch, text: f, places: map[string][]int{}, shared: map[string]bool{}}
	pointers := map[string]bool{}
	for n := range f.Addresses { // numbers them before any machine is made
		a := &f.Addresses[n]
		if surface, ok := a.Reference(); ok {
			p.refs = append(p.refs, reference{a.Function, a.Owner, a.Offset, surface})
			continue
		}
		if of := a.Kernel + a.Owner; of != "" || a.Type != 0 {
			p.places[of] = append(p.places[of], n)
		} else if a.To == sass.OfFunction {
			p.shared[a.Function] = true
		}
		switch {
		case a.Undefined:
			if !slices.Contains(p.undefined, a.Function) {
				p.undefined = append(p.undefined, a.Function)
			}
		case a.Type != 0:
		case a.To == sass.OfFunction:
			p.function(a.Function)
		case a.To == sass.OfPointer && !pointers[a.Function]:
			pointers[a.Function], p.pointers = true, append(p.pointers, a.Function)
		}
	}
	for _, k := range f.Kernels {
		p.kernels = append(p.kernels, p.kernel(k))
	}
	return p
}

// Kernels returns the kernels in the order of the text.
func (p *Program) Kernels() []*Kernel { return p.kernels }

// Kernel finds a kernel by name.
func (p *Program) Kernel(name string) (*Kernel, bool) {
	for _, k := range p.kernels {
		if k.Name() == name {
			return k, true
		}
	}
	return nil, false
}

// References returns the names of the texture and surface references.
func (p *Program) References() []string {
	var list []string
	for i := range p.refs {
		list = append(list, p.refs[i].name)
	}
	return list
}

// Arch returns the program's architecture.
func (p *Program) Arch() sass.Arch { return p.arch }

// Undefined returns the functions that neither the program nor the machine defines, and the other
// names without definition.
func (p *Program) Undefined() []string { return slices.Concat(p.unknown, p.undefined) }

// File returns the name of the program's text.
func (p *Program) File() string { return p.file }

// Unusable explains why the kernel cannot run; nil if it can.
func (k *Kernel) Unusable() []error {
	k.once.Do(k.decode)
	return k.bad
}

// Text returns the kernel as parsed by isa/sass.
func (k *Kernel) Text() *sass.Kernel { return k.text }

// Name returns the kernel's name.
func (k *Kernel) Name() string { return k.text.Name }

// Params returns the parameters with their places in the parameter block.
func (k *Kernel) Params() []exec.Param { return k.params }

// ParamBytes is the size of the parameter block, from the first parameter to the end of
// the last one.
func (k *Kernel) ParamBytes() int { return k.bytes }

// AddressBytes is the size of an address.
func (k *Kernel) AddressBytes() int { return 8 }

// MaxThreads is the most threads of a block, 0 if the kernel sets no limit.
func (k *Kernel) MaxThreads() int {
	t := k.text.MaxThreads
	if t[0] == 0 {
		t = k.text.Block
	}
	n := uint64(1)
	for _, x := range t { // which a damaged file may give any values
		n = min(n*uint64(x), isa.MaxThreads)
	}
	return int(n)
}

// StaticShared returns the bytes of shared memory that the kernel declares.
func (k *Kernel) StaticShared() int { return k.text.Shared - k.text.Reserved }

// LocalBytes returns the bytes of local memory of a thread.
func (k *Kernel) LocalBytes() int { return k.text.Local }

// Registers returns the general registers of a thread.
func (k *Kernel) Registers() int { return k.regs }

// RegistersEstimated returns false: Registers is exact.
func (k *Kernel) RegistersEstimated() bool { return false }

// source returns the source location of an instruction.
func (k *Kernel) source(in *inst) exec.Where {
	i := int(in.info.PC)
	w := exec.Where{Kernel: k.Name(), PC: i, Inst: k.line(i), File: k.prog.file, Pos: in.info.Pos}
	if k.text.Source != nil {
		w.SrcFile, w.SrcLine = k.text.Source(i)
	}
	return w
}

// place returns the source location of instruction i.
func (k *Kernel) place(i int) exec.Where { return k.source(&k.code[i]) }

// list returns the descriptions of the instructions.
func (k *Kernel) list() []*isa.Inst {
	code := make([]*isa.Inst, len(k.infos))
	for i := range k.infos {
		code[i] = &k.infos[i]
	}
	return code
}

// line is instruction i as text.
func (k *Kernel) line(i int) string {
	if i < len(k.text.Code) {
		return k.text.Code[i].Text()
	}
	return "(end of the code)"
}

// Launch, Options and Result are those of every executor.
type (
	Launch  = exec.Launch
	Options = exec.Options
	Result  = exec.Result
)

// Machine runs a program's kernels on device memory.
type Machine struct {
	exec.Warner
	crew   exec.Crew[worker]
	places []*place
	spaces exec.Workspaces
	tex    *texture.Table
}

// NewMachine returns a machine with the given memory, for programs that keep nothing in it.
func NewMachine(mem *device.Memory) *Machine {
	return &Machine{tex: &texture.Table{Objects: &texture.Objects{}}, crew: exec.Crew[worker]{Mem: mem, New: func() *worker { return new(worker) }}}
}

// relocated is the number of a constant bank of our own, for addresses in instructions: a word
// for each of the program's addresses.
const relocated = sass.ConstBanks

// image is a kernel prepared for one launch.
type image struct {
	m      *Machine
	kernel *Kernel
	local  int // bytes of local memory per thread
	work   *work
	code   []inst     // the kernel's, or that which calls the probe
	probe  exec.Probe // nil: nothing looks at the launch
	// Once the launch has begun: constants.
	begun bool
	rows  [][32]uint32
	banks [relocated + 1][]byte
}

// prepare checks a launch.
func (m *Machine) prepare(l *Launch) (*image, error) {
	k, err := exec.Check[*Kernel](l)
	if err != nil {
		return nil, err
	}
	if l.ClusterSize().Count() > 1 {
		return nil, l.Refuse("machine code in clusters of more than one block is not supported; PTX is")
	}
	if err := l.Require(exec.Dim3{X: k.text.Block[0], Y: k.text.Block[1], Z: k.text.Block[2]}); err != nil {
		return nil, err
	}
	if k.text.Local > isa.MaxLocal-stackBytes {
		return nil, l.Refuse("%d bytes of local memory per thread exceed the limit of %d", k.text.Local, isa.MaxLocal-stackBytes)
	}
	if l.Cooperative && k.workspace {
		if err := m.spaces.Prepare(m.crew.Mem); err != nil {
			return nil, l.Refuse("%v", err)
		}
	}
	local := min(k.text.Local+max(l.Stack, stackBytes), isa.MaxLocal)
	return &image{m: m, kernel: k, local: (local + 15) &^ 15, code: k.code}, nil
}

// Numbers are those of the launches so far; grids have none here.
func (m *Machine) Numbers() exec.Numbers { return exec.Numbers{Workspaces: m.spaces.Used()} }

// Renumber sets the numbers of the launches so far.
func (m *Machine) Renumber(n exec.Numbers) { m.spaces.Reuse(n.Workspaces) }

// begin fills the constants when the first block of a launch begins: what comes before it in
// its stream may write them.
func (im *image) begin(l *Launch) {
	if im.begun {
		return
	}
	im.begun = true
	if im.probe != nil {
		im.probe.Begin(l, im.kernel.list(), im.kernel.place, im.kernel.line)
	}
	im.fillBanks(l)
	im.rows = append([][32]uint32(nil), im.kernel.fixed...)
	for _, c := range im.kernel.consts {
		v := uint32(im.constant(uint64(c.bank), uint64(c.offset), 4))
		for i := range im.rows[c.row] {
			im.rows[c.row][i] = v
		}
	}
}

// spaceWords are the places of a workspace's address in constant bank 0.
func spaceWords(a sass.Arch) (high, low int64) {
	if a >= firstNewLayout {
		return newSpaceHigh - clusterBytes*clusterSize, newSpaceLow - clusterBytes*clusterSize
	}
	return constSpaceHigh, constSpaceLow
}

// fillBanks assembles the constant banks of a launch.
func (im *image) fillBanks(l *Launch) {
	k := im.kernel
	base := k.text.Arch.ParamBase()
	b0 := make([]byte, (base+len(l.Params)+3)&^3)
	dims, grid, stack, local := constBlockDim, constGridDim, constStack, constLocal
	if k.text.Arch >= firstNewLayout {
		dims, grid, stack, local = newBlockDim, newGridDim, newStack, newLocal
	} else {
		le.PutUint64(b0[constShared:], isa.SharedWindow)
	}
	for i, v := range []uint32{l.Block.X, l.Block.Y, l.Block.Z} {
		le.PutUint32(b0[dims+4*i:], v)
	}
	for i, v := range []uint32{l.Grid.X, l.Grid.Y, l.Grid.Z} {
		le.PutUint32(b0[grid+4*i:], v)
	}
	le.PutUint64(b0[local:], isa.LocalWindow)
	le.PutUint32(b0[stack:], uint32(im.local))
	if l.Cooperative && k.workspace {
		a := im.m.spaces.Take(im.m.crew.Mem)
		high, low := spaceWords(k.text.Arch)
		le.PutUint32(b0[high:], uint32(a>>32))
		le.PutUint32(b0[low:], uint32(a))
	}
	copy(b0[base:], l.Params)
	b0 = im.m.refer(k, b0)
	for n := range im.banks {
		im.banks[n] = im.m.bank(k, n)
	}
	im.banks[0] = b0
	for _, c := range k.text.Consts {
		b := im.banks[c.Bank]
		if end := min(c.Offset+len(c.Bytes), bankBytes); len(b) < end {
			b = append(b, make([]byte, end-len(b))...)
		}
		copy(b[min(c.Offset, len(b)):], c.Bytes)
		im.banks[c.Bank] = b
	}
}

// constant reads size bytes, at most eight, of a constant bank. Bytes outside the bank are
// 0 (assumed).
func (im *image) constant(bank, offset uint64, size int) uint64 {
	var buf [8]byte
	if bank < uint64(len(im.banks)) {
		if b := im.banks[bank]; offset < uint64(len(b)) {
			copy(buf[:size], b[offset:])
		}
	}
	return le.Uint64(buf[:])
}

// Run executes a launch to its end; see exec.Machine.
func (m *Machine) Run(ctx context.Context, l Launch, o Options) (Result, error) {
	im, err := m.prepare(&l)
	if err != nil {
		return Result{}, err
	}
	k := im.kernel
	if im.probe = exec.OfMachineCode(l.Probe); im.probe != nil {
		im.code = k.watched(exec.Follows(im.probe))
	}
	g := exec.Grid{Kernel: k.Name(), Blocks: l.Grid.Count(), Talks: k.talks || im.probe != nil, Spins: k.spins, Cooperative: l.Cooperative, Resident: l.Resident, Order: l.Order, Warner: &m.Warner}
	im.begin(&l)
	return m.crew.Run(ctx, g, o, func(wk *worker, n uint64, view *device.View) exec.GridBlock { return wk.newBlock(im, &l, n, view) })
}

// work is a launch prepared for a core model.
type work struct {
	*exec.Order
	m   *Machine
	im  *image
	out io.Writer
}

// NewWork prepares a launch for a core model; see exec.Machine.
func (m *Machine) NewWork(l Launch, out io.Writer) (exec.Work, error) {
	im, err := m.prepare(&l)
	if err != nil {
		return nil, err
	}
	k := im.kernel
	if l.Rehearsal {
		out = nil
	}
	w := &work{m: m, im: im, out: out, Order: exec.NewOrder(&l, k.list(), exec.Traits{Arch: int(k.prog.arch), InstBytes: instBytes, Spins: k.spins, CodeBase: k.codeBase(), Source: k.place, Text: k.line})}
	im.work = w
	return w, nil
}

// codeBase returns where the kernel's code begins among all of its program's: kernels are
// laid out in the order of the text.
func (k *Kernel) codeBase() uint64 {
	n := 0
	for _, other := range k.prog.kernels {
		if other == k {
			break
		}
		n += other.size
	}
	return uint64(n)
}

// Block starts block n.
func (w *work) Block(n uint64) exec.Block {
	w.im.begin(w.Launch)
	wk, view := w.m.crew.Borrow()
	b := wk.newBlock(w.im, w.Launch, n, view)
	b.work = w
	return b
}

// File is the name of the kernel's text file.
func (k *Kernel) File() string { return k.prog.file }
