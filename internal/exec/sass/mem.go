package sass

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: loads, stores and the addresses of all memory instructions.

func init() {
	put(decodeLoad, sass.OpLD, sass.OpLDG, sass.OpLDS, sass.OpLDL)
	put(decodeStore, sass.OpST, sass.OpSTG, sass.OpSTS, sass.OpSTL)
	put(decodeLDC, sass.OpLDC, sass.OpULDC, sass.OpLDCU)
	put(decodeSTSM, sass.OpSTSM)
	put(decodeLDSM, sass.OpLDSM)
	put(decodeLDGSTS, sass.OpLDGSTS)
	put(decodeQSPC, sass.OpQSPC)
}

// access describes the address and size of a memory access. Its sources are those from number at on to
// data, one word or a pair each: the base, and a uniform register if the address has one.
type access struct {
	at     int
	data   int
	shared bool // it has a uniform register, the same in all lanes
	wide   bool // addresses have 64 bits
	scale  uint // shift of the base
	imm    uint64
	space  isa.Space
	size   int // bytes per lane
	signed bool
	far    bool // a generic address that may be in farWindow
}

// address decodes an address operand. The descriptor of a global address is ignored: it is
// 0 in practice.
func (d *dec) address(o *sass.Operand, space isa.Space) (*access, error) {
	if o == nil || o.Kind != sass.Mem {
		return nil, errForm
	}
	a := &access{at: int(d.o.nsrc), space: space, imm: uint64(o.Imm)}
	global := space == isa.Global || space == isa.Generic
	a.far = space == isa.Generic && d.k.text.Arch >= firstNewLayout
	a.wide = global && (d.in.Has("E") || o.Count == 2 || o.HasD)
	switch o.Suffix {
	case "", "64", "U32":
	case "X4":
		a.scale = 2
	case "X8":
		a.scale = 3
	case "X16":
		a.scale = 4
	default:
		return nil, fmt.Errorf("an address with .%s is not supported", o.Suffix)
	}
	words := 1
	if a.wide {
		words = 2
	}
	if err := d.base(o.Reg, sass.RZ, int(o.Count), words, d.general); err != nil {
		return nil, err
	}
	if a.shared = o.HasU && o.UReg != sass.URZ; a.shared {
		if err := d.base(o.UReg, sass.URZ, words, words, d.uniformRow); err != nil {
			return nil, err
		}
	}
	a.data = int(d.o.nsrc)
	return a, nil
}

// base appends the words of a register that is part of an address, of which the operand names count.
func (d *dec) base(reg, zero uint8, count, words int, row func(int) (ref, error)) error {
	for i := range words {
		r := d.literal(0)
		if reg != zero && i < max(1, count) {
			var err error
			if r, err = row(int(reg) + i); err != nil {
				return err
			}
		}
		if err := d.add(plain(r)); err != nil {
			return err
		}
	}
	return nil
}

// farWindow is the upper word of shared addresses in the generic space from sm_100 on, where
// programs read it from SR_SWINHI and have the place in shared memory as the lower word. (Our
// choice: no memory is there.)
const farWindow = 0x0100_0000

// near is a generic address in the window that all else knows: that of one in farWindow.
func near(v uint64) uint64 {
	if v>>24 == farWindow<<8 {
		return isa.SharedWindow | v&(isa.WindowSize-1)
	}
	return v
}

// addresses computes the addresses of lanes m into w.addr and returns the bitwise or of
// all, for alignment checks.
func (w *warp) addresses(a *access, p *pending, m uint32) (or uint64) {
	off, lo, addr := a.imm, p.s[a.at], &w.addr
	switch {
	case a.shared && a.wide:
		off += uint64(p.s[a.data-2][0]) | uint64(p.s[a.data-1][0])<<32
	case a.shared:
		off += uint64(p.s[a.data-1][0])
	}
	switch {
	case !a.wide:
		for _, i := range w.lanes(m) {
			i &= 31
			v := uint64(lo[i]<<(a.scale&31) + uint32(off))
			addr[i] = v
			or |= v
		}
	case m == full && !a.far:
		hi := p.s[a.at+1]
		for i := range lo {
			v := uint64(lo[i]) | uint64(hi[i])<<32
			v += off
			addr[i] = v
			or |= v
		}
	default:
		hi := p.s[a.at+1]
		for _, i := range w.lanes(m) {
			i &= 31
			v := uint64(lo[i]) | uint64(hi[i])<<32
			if v += off; a.far {
				v = near(v)
			}
			addr[i] = v
			or |= v
		}
	}
	return or
}

// contiguous reports whether the addresses of all 32 lanes are those of words one after another.
func (w *warp) contiguous() bool {
	first := w.addr[0]
	if w.addr[31] != first+31*4 {
		return false
	}
	for i, a := range &w.addr {
		if a != first+4*uint64(i) {
			return false
		}
	}
	return true
}

// check computes the addresses of an access and records a fault for the first misaligned
// lane.
func (w *warp) check(in *inst, a *access, p *pending, m uint32, what string) bool {
	mask := uint64(a.size - 1)
	if w.addresses(a, p, m)&mask == 0 {
		return true
	}
	for _, i := range w.lanes(m) {
		i &= 31
		if w.addr[i]&mask != 0 {
			w.failAs(exec.Misaligned, in, 1<<i, "misaligned %s of %d bytes at %#x: the address must be a multiple of %d", what, a.size, w.addr[i], a.size)
			return false
		}
	}
	return true
}

// bytes returns the bytes of lane i's access, nil after a fault.
func (w *warp) bytes(in *inst, space isa.Space, i, size int, write bool) []byte {
	a := w.addr[i]
	if space == isa.Generic {
		space, a = isa.Resolve(a)
	}
	var mem []byte
	switch space {
	case isa.Shared:
		mem = w.blk.Shared
	case isa.Local:
		mem = w.stack(i)
	default:
		var b []byte
		if write {
			b = w.blk.View.WriteSpan(w.addr[i], size)
		} else {
			b = w.blk.View.ReadSpan(w.addr[i], size)
		}
		if b == nil {
			b = w.stray(in, i, size, write)
		}
		return b
	}
	if n := uint64(len(mem)); a >= n || a+uint64(size) > n {
		what := "read"
		if write {
			what = "write"
		}
		owner := "the block"
		if space == isa.Local {
			owner = "a thread"
		}
		w.failAs(exec.BadAddress, in, 1<<i, "out-of-bounds %s of %d bytes at %s address %#x: %s has %d bytes", what, size, space, a, owner, n)
		w.accused(&device.Fault{Addr: a, Size: uint64(size), Write: write, Space: space})
		return nil
	}
	return mem[a : a+uint64(size)]
}

// stray returns the bytes of lane i's access to global memory that is not wholly inside one
// allocation, nil after a fault.
func (w *warp) stray(in *inst, i, size int, write bool) []byte {
	b := w.blk.Stray(&w.blk.im.m.Warner, in.info, w.addr[i], size, write, func() exec.Where { return w.where(i, in) })
	if b == nil {
		f := w.blk.View.Fault(w.addr[i], size, write)
		w.failAs(exec.BadAddress, in, 1<<i, "%v", f)
		w.accused(f)
	}
	return b
}

// signedData reports whether loads extend numbers by their sign.
func (d *dec) signedData() bool { return d.in.Has("S8") || d.in.Has("S16") }

// hints are the modifiers of memory instructions that do not affect values: cache
// operators, scopes and orders. Memory here is coherent.
var hints = []string{"E", "EF", "EL", "LU", "EU", "NA", "LTC64B", "LTC128B", "LTC256B", "CONSTANT", "CTA", "SM", "GPU", "SYS", "STRONG", "MMIO", "PRIVATE", "U",
	"U8", "S8", "U16", "S16", "64", "128", "ENL2", "256"}

// memory decodes what loads and stores share: the address in a role, and the
// size.
func (d *dec) memory(role sass.Role) (err error) {
	if err = d.only(hints...); err != nil {
		return err
	}
	d.o.mem, err = d.address(d.in.Find(role), d.o.info.Space)
	if err == nil {
		d.o.mem.size, d.o.mem.signed = d.in.Bytes(), d.signedData()
	}
	return err
}

func decodeLoad(d *dec) error {
	if err := d.memory(sass.Addr); err != nil {
		return err
	}
	a := d.o.mem
	if err := d.result(min(max(1, a.size/4), 4)); err != nil {
		return err
	}
	if a.size == 32 { // the other half has its own registers
		for i := range d.in.Operands {
			if o := &d.in.Operands[i]; o.Dst && o.Role == sass.Extra {
				if err := d.resultAt(o, 4); err != nil {
					return err
				}
			}
		}
	}
	// If the predicate operand does not hold, nothing is read and the result is zero
	// (assumed).
	for i := range d.in.Operands {
		if o := &d.in.Operands[i]; o.Kind == sass.Pred {
			if o.Dst {
				return errForm
			}
			d.o.ps[0] = predicate{o.Reg, o.Not}
		}
	}
	d.o.run, d.o.direct = opLoad, true
	return nil
}

func opLoad(w *warp, in *inst, p *pending, m uint32) {
	a := in.mem
	if off := m &^ p.ps[0]; off != 0 {
		for t := off; t != 0; t &= t - 1 {
			for _, d := range p.d[:in.ndst] {
				d[bits.TrailingZeros32(t)&31] = 0
			}
		}
		m &= p.ps[0]
		if p.at = m; m == 0 {
			return
		}
	}
	if !w.check(in, a, p, m, "read") {
		return
	}
	switch {
	case a.space == isa.Global:
		w.loadGlobal(in, p, m)
	case (a.space == isa.Shared || a.space == isa.Local) && a.size >= 4:
		w.loadWords(in, p, m)
	default:
		for _, i := range w.lanes(m) {
			i &= 31
			b := w.bytes(in, a.space, i, a.size, false)
			if b == nil {
				return
			}
			a.give(p, i, b)
		}
	}
}

// give puts the bytes that lane i loads into its registers.
func (a *access) give(p *pending, i int, b []byte) {
	switch a.size {
	case 1:
		v := uint32(b[0])
		if a.signed {
			v = uint32(int8(b[0]))
		}
		p.d[0][i] = v
	case 2:
		v := uint32(le.Uint16(b))
		if a.signed {
			v = uint32(int16(v))
		}
		p.d[0][i] = v
	default:
		for k := range a.size / 4 {
			p.d[k][i] = le.Uint32(b[4*k:])
		}
	}
}

// place is the memory of the block or, one after another, of the lanes, and the bytes of each; of the block
// step is 0.
func (w *warp) place(space isa.Space) (mem []byte, bytes, step uint64) {
	if space == isa.Shared {
		return w.blk.Shared, uint64(len(w.blk.Shared)), 0
	}
	n := uint64(len(w.stack(0)))
	return w.local, n, n
}

// loadWords is the load of words from shared or local memory.
func (w *warp) loadWords(in *inst, p *pending, m uint32) {
	size := uint64(in.mem.size)
	mem, n, step := w.place(in.mem.space)
	d := p.d[0]
	for _, i := range w.lanes(m) {
		i &= 31
		a := w.addr[i]
		if a >= n || a+size > n {
			w.bytes(in, in.mem.space, i, in.mem.size, false) // a fault
			return
		}
		b := mem[a+step*uint64(i):]
		d[i] = le.Uint32(b)
		if size == 4 {
			continue
		}
		p.d[1][i] = le.Uint32(b[4:])
		if size == 16 {
			p.d[2][i] = le.Uint32(b[8:])
			p.d[3][i] = le.Uint32(b[12:])
		}
	}
}

// storeWords is the store of words to shared or local memory.
func (w *warp) storeWords(in *inst, data []*[32]uint32, m uint32) {
	size := uint64(in.mem.size)
	mem, n, step := w.place(in.mem.space)
	for _, i := range w.lanes(m) {
		i &= 31
		a := w.addr[i]
		if a >= n || a+size > n {
			w.bytes(in, in.mem.space, i, in.mem.size, true) // a fault
			return
		}
		b := mem[a+step*uint64(i):]
		for k := range in.mem.size / 4 {
			le.PutUint32(b[4*k:], data[k][i])
		}
	}
}

// isWord reports whether word can do an instruction: it loads or stores words of the block's own shared memory at
// unmodified addresses of 32 bits, and nothing else.
func (o *inst) isWord(op sass.Op) bool {
	a := o.mem
	if op != sass.OpSTS && (op != sass.OpLDS || slices.Min(o.dst[:max(1, o.ndst)]) < 0) {
		return false
	}
	return a.size >= 4 && !a.wide && !a.shared && !o.uniform && !o.toUR && !o.changed && o.nps == 0 && !o.sets && o.commit == nil
}

// word loads or stores a word of shared memory in each of some lanes, as addresses, check, loadWords and storeWords do
// together. It returns false if a lane must not, so that those find the fault; lanes before it may have stored by then.
func (w *warp) word(in *inst, m uint32) bool {
	a, mem := in.mem, w.blk.Shared
	at, shift, off := w.row(in.rows[a.at]), a.scale&31, uint32(a.imm)
	if a.size > 4 {
		return w.severalWords(in, at, m)
	}
	if in.ndst == 0 {
		from := w.row(in.rows[a.data])
		for _, i := range w.lanes(m) {
			i &= 31
			v := int(at[i]<<shift + off)
			if v&3 != 0 || v > len(mem)-4 {
				return false
			}
			le.PutUint32(mem[v:], from[i])
		}
		return true
	}
	d := &w.rows[in.dst[0]]
	if d == at {
		w.tmp[0] = *at
		at = &w.tmp[0]
	}
	for _, i := range w.lanes(m) {
		i &= 31
		v := int(at[i]<<shift + off)
		if v&3 != 0 || v > len(mem)-4 {
			if at == &w.tmp[0] {
				*d = *at
			}
			return false
		}
		d[i] = le.Uint32(mem[v:])
	}
	return true
}

// severalWords is word for two or four words a lane.
func (w *warp) severalWords(in *inst, from *[32]uint32, m uint32) bool {
	a, mem := in.mem, w.blk.Shared
	at, shift, off, size := &w.tmp[0], a.scale&31, uint32(a.imm), a.size
	for _, i := range w.lanes(m) {
		i &= 31
		at[i] = from[i]<<shift + off
		if at[i]&uint32(size-1) != 0 || int(at[i]) > len(mem)-size {
			return false
		}
	}
	var r [4]*[32]uint32
	for k := range size / 4 {
		if in.ndst == 0 {
			r[k] = w.row(in.rows[a.data+k])
		} else {
			r[k] = &w.rows[in.dst[k]]
		}
	}
	r0, r1, r2, r3 := r[0], r[1], r[2], r[3]
	switch load := in.ndst > 0; {
	case load && size == 8:
		for _, i := range w.lanes(m) {
			i &= 31
			b := mem[at[i]:][:8]
			r0[i], r1[i] = le.Uint32(b), le.Uint32(b[4:])
		}
	case load:
		for _, i := range w.lanes(m) {
			i &= 31
			b := mem[at[i]:][:16]
			r0[i], r1[i], r2[i], r3[i] = le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
		}
	case size == 8:
		for _, i := range w.lanes(m) {
			i &= 31
			b := mem[at[i]:][:8]
			le.PutUint32(b, r0[i])
			le.PutUint32(b[4:], r1[i])
		}
	default:
		for _, i := range w.lanes(m) {
			i &= 31
			b := mem[at[i]:][:16]
			le.PutUint32(b, r0[i])
			le.PutUint32(b[4:], r1[i])
			le.PutUint32(b[8:], r2[i])
			le.PutUint32(b[12:], r3[i])
		}
	}
	return true
}

// loadGlobal is the load from global memory; adjacent lanes take their words from one contiguous
// piece.
func (w *warp) loadGlobal(in *inst, p *pending, m uint32) {
	v, a, size := w.blk.View, in.mem, in.mem.size
	if size == 4 && m == full && w.contiguous() {
		if b := v.ReadSpan(w.addr[0], 128); b != nil {
			b = b[:128]
			for i := range p.d[0] {
				p.d[0][i] = le.Uint32(b[4*i:])
			}
			return
		}
	}
	var base uint64
	var span []byte
	for _, i := range w.lanes(m) {
		i &= 31
		off := w.addr[i] - base
		if off >= uint64(len(span)) || off+uint64(size) > uint64(len(span)) {
			if span = v.ReadSpan(w.addr[i], size); span == nil {
				if span = w.stray(in, i, size, false); span == nil {
					return
				}
			}
			base, off = w.addr[i], 0
		}
		if size == 4 {
			p.d[0][i] = le.Uint32(span[off:])
		} else {
			a.give(p, i, span[off:])
		}
	}
}

func decodeStore(d *dec) error {
	if err := d.memory(sass.Addr); err != nil {
		return err
	}
	v := d.values()
	n := max(1, d.o.mem.size/16)
	if len(v) != n {
		return errForm
	}
	d.o.run = opStore
	for _, o := range v {
		if err := d.addWords(o, max(1, d.o.mem.size/4/n)); err != nil {
			return err
		}
	}
	return nil
}

func opStore(w *warp, in *inst, p *pending, m uint32) {
	a := in.mem
	if !w.check(in, a, p, m, "write") {
		return
	}
	w.wrote = true
	data := p.s[a.data:]
	if (a.space == isa.Shared || a.space == isa.Local) && a.size >= 4 {
		w.storeWords(in, data, m)
		return
	}
	if a.size == 4 && a.space == isa.Global && m == full && w.contiguous() {
		if b := w.blk.View.WriteSpan(w.addr[0], 128); b != nil {
			b = b[:128]
			for i, x := range data[0] {
				le.PutUint32(b[4*i:], x)
			}
			return
		}
	}
	for _, i := range w.lanes(m) {
		i &= 31
		var b []byte
		if a.space == isa.Global {
			b = w.blk.View.WriteSpan(w.addr[i], a.size)
		}
		if b == nil {
			if b = w.bytes(in, a.space, i, a.size, true); b == nil {
				return
			}
		}
		switch a.size {
		case 1:
			b[0] = byte(data[0][i])
		case 2:
			le.PutUint16(b, uint16(data[0][i]))
		default:
			for k := range a.size / 4 {
				le.PutUint32(b[4*k:], data[k][i])
			}
		}
	}
}

// decodeLDC: from a constant bank, at an offset plus an optional register.
func decodeLDC(d *dec) error {
	if err := d.only("U8", "S8", "U16", "S16", "64", "128"); err != nil {
		return err
	}
	var c *sass.Operand
	for i := range d.in.Operands {
		if d.in.Operands[i].Kind == sass.Const {
			c = &d.in.Operands[i]
		}
	}
	if c == nil {
		return errForm
	}
	a := &access{imm: uint64(c.Imm), space: isa.Const}
	a.size, a.signed = d.in.Bytes(), d.signedData()
	if err := d.result(max(1, a.size/4)); err != nil {
		return err
	}
	r := d.literal(0)
	var err error
	switch {
	case c.HasU && c.UReg != sass.URZ:
		r, err = d.uniformRow(int(c.UReg))
	case c.Reg != sass.RZ:
		r, err = d.general(int(c.Reg))
	}
	if err != nil {
		return err
	}
	d.o.mem, d.o.arg = a, c.Bank
	high, low := spaceWords(d.k.text.Arch)
	if indexed := c.HasU && c.UReg != sass.URZ || c.Reg != sass.RZ; c.Bank == 0 && (indexed || c.Imm < low+4 && c.Imm+int64(a.size) > high) {
		d.k.workspace = true
	}
	d.o.run, d.o.direct = opLDC, true
	d.once()
	return d.add(plain(r))
}

func opLDC(w *warp, in *inst, p *pending, m uint32) {
	a, im := in.mem, w.blk.im
	var b [16]byte
	last := ^uint64(0) // the offset of the bytes in b; most lanes have the same
	for _, i := range w.lanes(m) {
		i &= 31
		at := uint64(p.s[0][i] + uint32(a.imm))
		w.addr[i] = at
		if at&uint64(a.size-1) != 0 {
			w.failAs(exec.Misaligned, in, 1<<i, "misaligned read of %d bytes at %#x of constant bank %d: the address must be a multiple of %d", a.size, at, in.arg, a.size)
			return
		}
		if at != last {
			last = at
			for k := 0; k < a.size; k += 8 {
				le.PutUint64(b[k:], im.constant(uint64(in.arg), at+uint64(k), min(a.size, 8)))
			}
		}
		a.give(p, i, b[:])
	}
}

// matrices decodes what LDSM and STSM have in common: matrices of 8 × 8 half words, spread over
// the warp. Lanes 8k to 8k+7 give the addresses of the rows of matrix k; lane i has two adjacent
// elements of row i/4. .MT88 transposes.
func (d *dec) matrices() (n int, err error) {
	if err := d.only("16", "M88", "MT88", "2", "4"); err != nil {
		return 0, err
	}
	n = 1
	switch {
	case d.in.Has("2"):
		n = 2
	case d.in.Has("4"):
		n = 4
	}
	d.o.flag, d.o.count = d.in.Has("MT88"), n
	if d.o.mem, err = d.address(d.in.Find(sass.Addr), isa.Shared); err == nil {
		d.o.mem.size = 16
	}
	return n, err
}

func decodeLDSM(d *dec) error {
	n, err := d.matrices()
	if err != nil {
		return err
	}
	d.o.run = opLDSM
	return d.result(n)
}

func opLDSM(w *warp, in *inst, p *pending, m uint32) {
	if !w.all(in, m) {
		return
	}
	rows := full >> (32 - 8*in.count)
	p.at = rows
	if !w.check(in, in.mem, p, rows, "read") {
		return
	}
	for k := range in.count {
		var tile [8][16]byte
		for r := range 8 {
			b := w.bytes(in, isa.Shared, 8*k+r, 16, false)
			if b == nil {
				return
			}
			copy(tile[r][:], b)
		}
		for i := range 32 {
			r, c := i/4, i%4*2
			if in.flag {
				p.d[k][i] = uint32(le.Uint16(tile[c][2*r:])) | uint32(le.Uint16(tile[c+1][2*r:]))<<16
			} else {
				p.d[k][i] = le.Uint32(tile[r][2*c:])
			}
		}
	}
}

// decodeSTSM stores matrices as LDSM loads them (PTX manual, stmatrix).
func decodeSTSM(d *dec) error {
	n, err := d.matrices()
	if err != nil {
		return err
	}
	d.o.run = opSTSM
	v := d.values()
	if len(v) != 1 {
		return errForm
	}
	return d.addWords(v[0], n)
}

func opSTSM(w *warp, in *inst, p *pending, m uint32) {
	if !w.all(in, m) {
		return
	}
	rows := full >> (32 - 8*in.count)
	p.at = rows
	if !w.check(in, in.mem, p, rows, "write") {
		return
	}
	w.wrote = true
	data := p.s[in.mem.data:]
	for k := range in.count {
		for r := range 8 {
			b := w.bytes(in, isa.Shared, 8*k+r, 16, true)
			if b == nil {
				return
			}
			for c := range 8 {
				lane, half := 4*r+c/2, c%2
				if in.flag {
					lane, half = 4*c+r/2, r%2
				}
				le.PutUint16(b[2*c:], uint16(data[k][lane]>>(16*half)))
			}
		}
	}
}

// decodeLDGSTS: copies from global to shared memory, bypassing the registers. Global memory
// is read at Access; the bytes reach shared memory at Commit. If the predicate operand does
// not hold, zeros are stored.
func decodeLDGSTS(d *dec) error {
	if err := d.only(append([]string{"BYPASS", "ZFILL"}, hints...)...); err != nil {
		return err
	}
	size := d.in.Bytes()
	if size < 4 {
		return errForm
	}
	to, err := d.address(d.in.Find(sass.Addr), isa.Shared)
	if err != nil {
		return err
	}
	from, err := d.address(d.in.Find(sass.Addr2), isa.Global)
	if err != nil {
		return err
	}
	to.size, from.size = size, size
	d.o.mem, d.o.mem2 = from, to
	d.predSource(0, sass.Pp, true)
	d.o.run, d.o.commit = opLDGSTS, (*warp).commitLDGSTS
	return nil
}

func opLDGSTS(w *warp, in *inst, p *pending, m uint32) {
	if !w.check(in, in.mem2, p, m, "write") {
		return
	}
	size := in.mem.size
	for t := m; t != 0; t &= t - 1 {
		i := bits.TrailingZeros32(t) & 31
		if w.bytes(in, isa.Shared, i, size, true) == nil {
			return
		}
		p.late.to[i] = uint32(w.addr[i])
	}
	for k := range size / 4 {
		*p.d[k] = [32]uint32{}
	}
	m &= p.ps[0]
	if p.at = m; !w.check(in, in.mem, p, m, "read") {
		return
	}
	for t := m; t != 0; t &= t - 1 {
		i := bits.TrailingZeros32(t) & 31
		b := w.bytes(in, isa.Global, i, size, false)
		if b == nil {
			return
		}
		for k := range size / 4 {
			p.d[k][i] = le.Uint32(b[4*k:])
		}
	}
}

func (w *warp) commitLDGSTS(in *inst, p *pending) {
	for m := p.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		for k := range in.mem.size / 4 {
			le.PutUint32(w.blk.Shared[int(p.late.to[i])+4*k:], p.d[k][i])
		}
	}
}

// decodeQSPC: whether a generic address lies in a space; the register gets the answer as a
// number (assumed).
func decodeQSPC(d *dec) error {
	if err := d.only("E", "G", "L", "S"); err != nil {
		return err
	}
	switch {
	case d.in.Has("G"):
		d.o.mode = uint8(isa.Global)
	case d.in.Has("L"):
		d.o.mode = uint8(isa.Local)
	default:
		d.o.mode = uint8(isa.Shared)
	}
	if err := d.result(1); err != nil {
		return err
	}
	d.predResult(0, sass.Pu)
	a, err := d.address(d.in.Find(sass.Addr), isa.Generic)
	d.o.run = func(w *warp, in *inst, p *pending, m uint32) {
		w.addresses(a, p, m)
		for i := range p.d[0] {
			p.d[0][i] = 0
		}
		p.pout[0] = 0
		for _, i := range w.lanes(m) {
			i &= 31
			if s, _ := isa.Resolve(w.addr[i]); uint8(s) == in.mode {
				p.d[0][i] = 1
				p.pout[0] |= 1 << i
			}
		}
	}
	return err
}
