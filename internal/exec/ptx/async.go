package ptx

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: barriers in shared memory (mbarrier) and the copies that report to them
// or to groups (cp.async, cp.async.bulk, cp.reduce.async.bulk, st.async, st.bulk).
//
// A copy completes when it issues: a program may not look at its target before it has
// waited, so it cannot tell the difference. Groups are therefore always complete, and
// waiting for them costs nothing; a program that forgets to wait is not detected here.

func init() {
	families["mbarrier"] = decodeMbarrier
	families["cp"] = decodeCp
}

// The 64-bit object of an mbarrier. PTX leaves its layout open; ours is, from bit 0
// up: pending arrivals (20 bits), expected arrivals (20), the transaction count of the
// phase in two's complement (21), the parity of the phase (1), and a bit that marks
// the object as initialised.
const (
	mbarCount   = 1<<20 - 1 // most arrivals and most bytes of a phase (PTX manual, mbarrier)
	mbarTxShift = 40
	mbarTxMask  = 1<<21 - 1
	mbarPhase   = 1 << 61
	mbarValid   = 1 << 62
)

// mbar is an unpacked mbarrier object.
type mbar struct {
	pending  int64
	expected int64
	tx       int64 // bytes still expected
	phase    uint64
}

func unpackMbar(v uint64) mbar {
	return mbar{
		pending:  int64(v & mbarCount),
		expected: int64(v >> 20 & mbarCount),
		tx:       int64(v>>mbarTxShift&mbarTxMask) << 43 >> 43,
		phase:    v >> 61 & 1,
	}
}

func (b mbar) pack() uint64 {
	return uint64(b.pending) | uint64(b.expected)<<20 | uint64(b.tx)&mbarTxMask<<mbarTxShift | b.phase<<61 | mbarValid
}

// advance begins the next phase if nothing of this one is outstanding.
func (b *mbar) advance() {
	if b.pending == 0 && b.tx == 0 {
		b.phase ^= 1
		b.pending = b.expected
	}
}

// mbarAt returns lane i's mbarrier at w.addr, unpacked, and its bytes; nil after a
// fault.
func (w *warp) mbarAt(in *inst, i int) (b mbar, p []byte) {
	if w.addr[i]&7 != 0 {
		w.misaligned(1<<i, 8, "mbarrier operation")
		return b, nil
	}
	if p = w.mbarBytes(in, i); p == nil {
		return b, nil
	}
	v := le.Uint64(p)
	if v&mbarValid == 0 {
		w.failAs(exec.BadBarrier, 1<<i, "the mbarrier at shared address %#x is not initialised", w.addr[i])
		return b, nil
	}
	return unpackMbar(v), p
}

// mbarBytes returns the bytes of lane i's mbarrier; in.mode is Shared, or Generic for
// an address that must lie in the shared window.
func (w *warp) mbarBytes(in *inst, i int) []byte {
	if isa.Space(in.mode) == isa.Generic && w.addr[i]&^(isa.WindowSize-1) != isa.SharedWindow {
		w.failAs(exec.BadAddress, 1<<i, "mbarrier operation at generic address %#x, which is not in shared memory", w.addr[i])
		return nil
	}
	return w.lane(isa.Shared, i, 8, true)
}

// arriveMbar subtracts n arrivals from an mbarrier's phase.
func (w *warp) arriveMbar(b *mbar, i int, n int64) bool {
	if n > b.pending {
		w.failAs(exec.BadBarrier, 1<<i, "%d arrivals at the mbarrier at shared address %#x, which waits for %d more in this phase", n, w.addr[i], b.pending)
		return false
	}
	b.pending -= n
	b.advance()
	return true
}

// addTx changes the transaction count of an mbarrier by n bytes.
func (w *warp) addTx(b *mbar, i int, n int64) bool {
	t := b.tx + n
	if t > mbarCount || t < -mbarCount {
		w.failAs(exec.BadBarrier, 1<<i, "transaction count of the mbarrier at shared address %#x becomes %d, beyond ±%d", w.addr[i], t, mbarCount)
		return false
	}
	b.tx = t
	return true
}

// completeTx subtracts the n bytes per lane of a completed copy from the mbarrier at
// the address at. It reports whether there was no fault. The instruction's own
// addresses stay in w.addr.
func (w *warp) completeTx(at *inst, m uint32, n int64) bool {
	if w.blk.postpones {
		w.done = 0
		for ; m != 0; m &= m - 1 {
			w.signalAt(at, bits.TrailingZeros32(m), -1, n)
		}
		return true
	}
	own := w.addr
	w.eachMbar(at, m, func(b *mbar, i int) bool { return w.completeBytes(b, i, n) })
	w.addr = own
	return w.fault == nil
}

// mbarOp is a decoded mbarrier instruction, kept in extra.any.
type mbarOp struct {
	drop       bool
	noComplete bool
	parity     bool
	try        bool // try_wait
	count      ref  // arrivals, 32 bits; none means one
	tx         ref  // bytes, 32 bits; none means none
	state      ref  // token (64 bits), or phase parity (32 bits)
}

// mbarrierOperands is how many operands each operation has at least.
var mbarrierOperands = map[string]int{
	"init": 2, "inval": 1, "expect_tx": 2, "complete_tx": 2, "arrive": 2, "arrive_drop": 2, "test_wait": 3, "try_wait": 3, "pending_count": 2,
}

// decodeMbarrier decodes the mbarrier instructions.
func decodeMbarrier(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Mods) == 0 {
		return errors.New("needs an operation")
	}
	verb, args := in.Mods[0], in.Args
	n, ok := mbarrierOperands[verb]
	if !ok {
		return errUnsupported
	}
	if len(args) < n {
		return fmt.Errorf("needs at least %d operands", n)
	}
	op := &mbarOp{count: none, tx: none, state: none}
	o.kind, o.x, o.mode, o.d = kMem, &extra{any: op}, uint8(isa.Shared), none
	switch verb {
	case "init":
		o.run = mbarInit
		if err := d.mbarAddress(in, &args[0], o); err != nil {
			return err
		}
		return d.optional32(args[1:], &op.count)
	case "inval":
		o.run = mbarInval
		return d.mbarAddress(in, &args[0], o)
	case "expect_tx", "complete_tx":
		o.run = mbarTx
		if verb == "complete_tx" {
			o.run = mbarTxDone
		}
		if err := d.mbarAddress(in, &args[0], o); err != nil {
			return err
		}
		return d.optional32(args[1:], &op.tx)
	case "arrive", "arrive_drop":
		return d.mbarArrival(in, o, op)
	case "test_wait", "try_wait":
		return d.mbarWaiting(in, o, op)
	}
	o.kind, o.run = kRun, mbarPending
	var err error
	if o.d, err = d.dst32(&args[0]); err == nil {
		o.a, err = d.src64(&args[1], "b64")
	}
	return err
}

// mbarAddress decodes the address of an mbarrier.
func (d *dec) mbarAddress(in *ptx.Inst, arg *ptx.Operand, o *inst) error {
	d.describe(isa.Shared, 8, true, true)
	space, err := d.memAddress(arg, o, spaceOf(in))
	if err == nil && space != isa.Shared && space != isa.Generic {
		err = fmt.Errorf("needs an address in shared memory, not in .%s", space)
	}
	o.mode = uint8(space)
	if d.im.pairs && o.a != none && in.Has("shared::cluster") {
		o.flags |= fPair
	}
	d.info.Atomic = true
	return err
}

// optional32 decodes the first of args, if there is one, as a 32-bit number.
func (d *dec) optional32(args []ptx.Operand, r *ref) (err error) {
	if len(args) > 0 {
		*r, err = d.src32(&args[0], "u32")
	}
	return err
}

// mbarArrival decodes mbarrier.arrive and its like.
func (d *dec) mbarArrival(in *ptx.Inst, o *inst, op *mbarOp) error {
	args := in.Args
	op.drop = in.Mods[0] == "arrive_drop"
	op.noComplete = in.Has("noComplete")
	o.run = mbarArrive
	if args[0].Kind != ptx.OpSink {
		var err error
		if o.d, err = d.dst64(&args[0]); err != nil {
			return err
		}
	}
	if err := d.mbarAddress(in, &args[1], o); err != nil {
		return err
	}
	if in.Has("expect_tx") {
		return d.optional32(args[2:], &op.tx)
	}
	return d.optional32(args[2:], &op.count)
}

// mbarWaiting decodes mbarrier.test_wait and try_wait.
func (d *dec) mbarWaiting(in *ptx.Inst, o *inst, op *mbarOp) error {
	args := in.Args
	op.parity = in.Has("parity")
	o.run, o.kind = mbarWait, kYield
	op.try = in.Has("try_wait")
	var err error
	if o.d, err = d.dstPred(&args[0]); err != nil {
		return err
	}
	if err = d.mbarAddress(in, &args[1], o); err != nil {
		return err
	}
	d.info.Store, d.info.Atomic = false, false
	if op.parity {
		err = d.optional32(args[2:], &op.state)
	} else {
		op.state, err = d.src64(&args[2], "b64")
	}
	if err == nil {
		var hint ref // a time limit, which is ignored
		err = d.optional32(args[3:], &hint)
	}
	return err
}

func mbarInit(w *warp, in *inst, m uint32) {
	op, all := in.x.any.(*mbarOp), m
	w.addresses(in, m)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		n := w.u32(op.count)[i&31]
		if n == 0 || n > mbarCount {
			w.failAs(exec.BadBarrier, 1<<i, "mbarrier initialised with a count of %d; want 1 to %d", n, mbarCount)
			return
		}
		if w.addr[i]&7 != 0 {
			w.misaligned(1<<i, 8, "mbarrier operation")
			return
		}
		p := w.mbarBytes(in, i)
		if p == nil {
			return
		}
		le.PutUint64(p, mbar{pending: int64(n), expected: int64(n)}.pack())
	}
	w.signal(exec.SignalInit, all)
}

func mbarInval(w *warp, in *inst, m uint32) {
	w.addresses(in, m)
	for k := m; k != 0; k &= k - 1 {
		_, p := w.mbarAt(in, bits.TrailingZeros32(k))
		if p == nil {
			return
		}
		le.PutUint64(p, 0)
	}
	w.signal(exec.SignalInval, m)
}

// eachMbar lets change update the mbarrier of every lane of m, until it reports a
// fault.
func (w *warp) eachMbar(in *inst, m uint32, change func(b *mbar, i int) bool) {
	w.addresses(in, m)
	w.pairAddress(in, m)
	w.done = 0
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		b, p := w.mbarAt(in, i)
		phase := b.phase
		if p == nil || !change(&b, i) {
			return
		}
		if b.phase != phase {
			w.done |= 1 << i
		}
		le.PutUint64(p, b.pack())
	}
}

// mbarTx is expect_tx: more bytes must arrive before the phase can end.
func mbarTx(w *warp, in *inst, m uint32) {
	tx := w.u32(in.x.any.(*mbarOp).tx)
	w.eachMbar(in, w.here(in, m, 1), func(b *mbar, i int) bool { return w.addTx(b, i, int64(tx[i&31])) })
	w.signal(exec.SignalExpect, m)
}

// mbarTxDone is complete_tx: it counts bytes as arrived.
func mbarTxDone(w *warp, in *inst, m uint32) {
	tx := w.u32(in.x.any.(*mbarOp).tx)
	w.eachMbar(in, w.here(in, m, -1), func(b *mbar, i int) bool { return w.completeBytes(b, i, int64(tx[i&31])) })
	w.signal(exec.SignalBytes, m)
}

// here notes the changes of transaction counts, of a sign, that are signals still to come, and returns the
// other lanes.
func (w *warp) here(in *inst, m uint32, sign int64) uint32 {
	if !w.blk.postpones {
		return m
	}
	tx := w.u32(in.x.any.(*mbarOp).tx)
	w.addresses(in, m)
	w.pairAddress(in, m)
	own := m
	for ; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m); w.postponed(i, exec.Notice{Tx: sign * int64(tx[i&31])}) {
			own &^= 1 << i
		}
	}
	return own
}

// completeBytes subtracts arrived bytes from an mbarrier's phase.
func (w *warp) completeBytes(b *mbar, i int, n int64) bool {
	ok := w.addTx(b, i, -n)
	b.advance()
	return ok
}

// mbarArrive is arrive and arrive_drop. The token that it returns is the previous
// state of the object.
func mbarArrive(w *warp, in *inst, m uint32) {
	op, all := in.x.any.(*mbarOp), m
	w.addresses(in, m)
	w.pairAddress(in, m)
	w.done = 0
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		b, p := w.mbarAt(in, i)
		if p == nil {
			return
		}
		token := le.Uint64(p)
		n := int64(1)
		if op.count != none {
			n = int64(w.u32(op.count)[i&31])
			if n < 1 || n > mbarCount {
				w.failAs(exec.BadBarrier, 1<<i, "%d arrivals at an mbarrier at once; want 1 to %d", n, mbarCount)
				return
			}
		}
		if in.d == none {
			s := exec.Notice{Arrivals: n, Drop: op.drop}
			if op.tx != none {
				s.Tx = int64(w.u32(op.tx)[i&31])
			}
			if w.postponed(i, s) {
				continue
			}
		}
		if op.tx != none && !w.addTx(&b, i, int64(w.u32(op.tx)[i&31])) {
			return
		}
		if op.drop {
			if n > b.expected {
				w.failAs(exec.BadBarrier, 1<<i, "arrive_drop takes %d arrivals off the mbarrier at shared address %#x, which expects %d", n, w.addr[i], b.expected)
				return
			}
			b.expected -= n
		}
		if op.noComplete && n == b.pending && b.tx == 0 {
			w.failAs(exec.BadBarrier, 1<<i, "arrive.noComplete completes the phase of the mbarrier at shared address %#x", w.addr[i])
			return
		}
		if !w.arriveMbar(&b, i, n) {
			return
		}
		if b.phase != token>>61&1 {
			w.done |= 1 << i
		}
		if _, at := isa.Resolve(w.addr[i&31]); in.d != none && !w.blk.owns(at) {
			w.failAs(exec.BadBarrier, 1<<i, "the state of the mbarrier at shared address %#x of another block of the cluster cannot be returned: the destination must be _", w.addr[i&31])
			return
		}
		le.PutUint64(p, b.pack())
		if in.d != none {
			w.r64[in.d][i&31] = token
		}
	}
	w.signal(exec.SignalArrive, all)
}

// mbarWait is test_wait and try_wait: it tests whether a phase has ended, and lets
// other warps run. A try_wait that would wait gives up immediately; programs repeat
// it.
func mbarWait(w *warp, in *inst, m uint32) {
	op := in.x.any.(*mbarOp)
	w.addresses(in, m)
	done := uint32(0)
	for k := m; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k)
		if _, at := isa.Resolve(w.addr[i&31]); !w.blk.owns(at) {
			w.failAs(exec.BadBarrier, 1<<i, "wait at the mbarrier at shared address %#x of another block of the cluster: a block can only wait at its own", w.addr[i&31])
			return
		}
		b, p := w.mbarAt(in, i)
		if p == nil {
			return
		}
		if w.phaseOf(op, i) != b.phase {
			done |= 1 << i
		}
	}
	w.setPred(in.d, done, m)
	w.done = done
	w.signal(exec.SignalWait, m)
}

// mbarPending reads the pending arrivals from a token.
func mbarPending(w *warp, in *inst, m uint32) {
	d, a := &w.r32[in.d], w.u64(in.a)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint32(a[i] & mbarCount)
	}
}

// copyOp is a decoded copy, kept in extra.any. The instruction's own address is
// the target.
type copyOp struct {
	src    *inst // address of the source; nil if it is a register or zeros
	to     isa.Space
	from   isa.Space
	size   int // bytes, if it is in the instruction
	bytes  ref // register with the bytes: 32 bits (st.bulk: 64); none if size counts
	srcLen ref // cp.async: bytes to read, the rest is zero-filled; none means all
	ignore ref // cp.async: predicate of the lanes that write zeros; none if absent
	neg    bool
	mbar   *inst // signalled when the copy completes; nil if none
	mask   ref   // .cp_mask or .multicast: 32-bit register; none if absent
	multi  bool  // mask is that of a multicast
	op     rmw   // cp.reduce
	elem   int   // bytes per element of cp.reduce
	flush  bool
	value  *memOp // st.async: what is stored
}

// decodeCp decodes cp.async, cp.async.bulk and cp.reduce.async.bulk.
func decodeCp(d *dec, in *ptx.Inst, o *inst) error {
	switch {
	case in.Has("tensor"):
		return decodeTensor(d, in, o)
	case in.Has("ignore_oob"):
		return errUnsupported
	case in.Has("commit_group"), in.Has("wait_group"), in.Has("wait_all"):
		d.info.Unit = isa.UnitLSU
		a := &d.info.Async
		if a.Done = isa.ByGroup; in.Has("bulk") {
			a.Done = isa.ByBulk
		}
		switch {
		case in.Has("commit_group"):
			a.Does = isa.AsyncCommit
		case in.Has("wait_all"):
			a.Does = isa.AsyncWaitAll
		default:
			a.Does = isa.AsyncWait
			a.Read = in.Has("read")
			if len(in.Args) > 0 {
				a.Leave = int32(min(in.Args[0].Imm.Bits, math.MaxInt32))
			}
		}
		o.run = func(*warp, *inst, uint32) {}
		return nil
	case in.Has("prefetch"):
		if len(in.Args) < 2 {
			return errors.New("takes an address and a size")
		}
		if _, err := d.src32(&in.Args[1], "u32"); err != nil {
			return err
		}
		if err := d.policy(in, in.Args[2:]); err != nil {
			return err
		}
		return decodeHint(d, in, o)
	case in.Has("mbarrier") && in.Has("arrive"):
		return decodeCpArrive(d, in, o)
	case in.Has("bulk"):
		return decodeBulk(d, in, o)
	}
	return decodeCpAsync(d, in, o)
}

// decodeCpArrive is cp.async.mbarrier.arrive: an arrival when the thread's earlier
// copies are complete, which they always are. Without .noinc the arrival is first
// added to the phase's pending count, so nothing changes.
func decodeCpArrive(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) != 1 {
		return errors.New("takes one operand")
	}
	o.kind = kMem
	d.describe(isa.Shared, 8, true, true)
	d.info.Atomic = true
	space, err := d.memAddress(&in.Args[0], o, spaceOf(in))
	if err != nil {
		return err
	}
	if space != isa.Shared && space != isa.Generic {
		return fmt.Errorf("needs an address in shared memory, not in .%s", space)
	}
	o.mode = uint8(space)
	noinc := in.Has("noinc")
	o.run = func(w *warp, in *inst, m uint32) {
		w.eachMbar(in, m, func(b *mbar, i int) bool {
			if !noinc {
				if b.pending++; b.pending > mbarCount {
					w.failf(1<<i, "the mbarrier at shared address %#x waits for more than %d arrivals", w.addr[i], mbarCount)
					return false
				}
			}
			return w.blk.postpones || w.arriveMbar(b, i, 1)
		})
		w.signal(exec.SignalCopies, m)
		if w.blk.postpones && w.fault == nil {
			w.arriveWithCopies(in, m)
		}
	}
	return nil
}

// decodeCpAsync is the copy of 4, 8 or 16 bytes per lane from global to shared
// memory.
func decodeCpAsync(d *dec, in *ptx.Inst, o *inst) error {
	args := in.Args
	if len(args) < 3 || args[2].Kind != ptx.OpImm {
		return errors.New("takes a target, a source and a size")
	}
	c := &copyOp{bytes: none, srcLen: none, ignore: none, mask: none, to: isa.Shared, from: isa.Global}
	switch n := args[2].Imm.Bits; {
	case n == 16, (n == 4 || n == 8) && in.Has("ca"):
		c.size = int(n)
	default:
		return fmt.Errorf("must copy 16 bytes, or with .ca 4, 8 or 16, not %d", n)
	}
	o.kind, o.x, o.mode, o.size = kMem, &extra{any: c}, uint8(isa.Shared), uint8(c.size)
	if _, err := d.memAddress(&args[0], o, isa.Shared); err != nil {
		return err
	}
	var err error
	if c.src, err = d.address2(&args[1], isa.Global); err != nil {
		return err
	}
	rest := args[3:]
	if n := len(rest); in.Has("L2::cache_hint") {
		if n == 0 {
			return errors.New("needs a cache policy")
		}
		if err := d.policy(in, rest[n-1:]); err != nil {
			return err
		}
		rest = rest[:n-1]
	}
	if len(rest) > 1 {
		return errors.New("has too many operands")
	}
	if len(rest) == 1 {
		a := &rest[0]
		if a.Neg || a.Kind == ptx.OpReg && a.Var != nil && a.Var.Type.Predicate() {
			c.ignore, c.neg, err = d.srcPred(a)
		} else {
			c.srcLen, err = d.src32(a, "u32")
		}
		if err != nil {
			return err
		}
	}
	d.describe(isa.Global, c.size, true, true)
	d.info.Async = isa.Async{Does: isa.AsyncStart, Done: isa.ByGroup}
	o.run = cpAsync
	return nil
}

func cpAsync(w *warp, in *inst, m uint32) {
	c := in.x.any.(*copyOp)
	var buf [16]byte
	if w.addresses(c.src, m)&uint64(c.size-1) != 0 {
		w.misaligned(m, c.size, "asynchronous copy")
		return
	}
	from := w.addr
	if w.addresses(in, m)&uint64(c.size-1) != 0 {
		w.misaligned(m, c.size, "asynchronous copy")
		return
	}
	zero := uint32(0)
	if c.ignore != none {
		if zero = w.pr[c.ignore]; c.neg {
			zero = ^zero
		}
	}
	to := w.addr
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		n := c.size
		if c.srcLen != none {
			l := w.u32(c.srcLen)[i&31]
			if l > uint32(n) {
				w.failf(1<<i, "asynchronous copy of %d bytes reads %d", n, l)
				return
			}
			n = int(l)
		}
		if zero>>i&1 != 0 {
			n = 0
		}
		clear(buf[:])
		if n > 0 {
			w.addr[i&31] = from[i&31]
			p := w.lane(isa.Global, i, n, false)
			if p == nil {
				return
			}
			copy(buf[:n], p)
		}
		w.addr[i&31] = to[i&31]
		p := w.lane(isa.Shared, i, c.size, true)
		if p == nil {
			return
		}
		copy(p, buf[:c.size])
	}
	w.addr = from // the addresses reported in Effects
}

// decodeBulk is cp.async.bulk and cp.reduce.async.bulk: any multiple of 16 bytes per
// lane, between global and shared memory or within shared memory.
func decodeBulk(d *dec, in *ptx.Inst, o *inst) error {
	// The first space is the target's, the second the source's.
	var spaces []isa.Space
	for _, m := range in.Mods {
		switch m {
		case "global":
			spaces = append(spaces, isa.Global)
		case "shared::cluster", "shared::cta":
			spaces = append(spaces, isa.Shared)
		}
	}
	args := in.Args
	if len(spaces) != 2 || len(args) < 3 {
		return errors.New("takes a target, a source and a size")
	}
	c := &copyOp{srcLen: none, ignore: none, mask: none, to: spaces[0], from: spaces[1]}
	o.kind, o.x, o.mode = kMem, &extra{any: c}, uint8(c.to)
	got, err := d.memAddress(&args[0], o, c.to)
	if err != nil {
		return err
	}
	if got != c.to {
		return fmt.Errorf("needs a target in .%s memory, not in .%s", c.to, got)
	}
	if c.src, err = d.address2(&args[1], c.from); err != nil {
		return err
	}
	if c.bytes, err = d.src32(&args[2], "u32"); err != nil {
		return err
	}
	if err := d.bulkOptions(in, c, args[3:]); err != nil {
		return err
	}
	o.run = bulkCopy
	if in.Has("reduce") {
		types := in.Types()
		if len(types) != 1 {
			return errors.New("needs one type")
		}
		var ok bool
		if c.op, ok = rmwOf(rmwName(in), types[0]); !ok || c.op == rmwExch || c.op == rmwCAS {
			return errUnsupported
		}
		c.elem, c.flush = types[0].Bytes(), c.op == rmwAddF32 && c.to == isa.Global
		o.run = bulkReduce
		if c.to == isa.Global {
			d.im.ordered = true
		}
	}
	d.describe(isa.Global, 0, true, true)
	if d.info.Atomic = c.elem > 0; !d.info.Atomic {
		d.info.Async = isa.Async{Does: isa.AsyncStart, Done: isa.ByMbarrier}
		if in.Has("bulk_group") {
			d.info.Async.Done = isa.ByBulk
		}
	}
	return nil
}

// bulkOptions decodes what may come after the size of a bulk copy: an mbarrier, a mask, a policy.
func (d *dec) bulkOptions(in *ptx.Inst, c *copyOp, args []ptx.Operand) error {
	if in.Has("mbarrier::complete_tx::bytes") {
		if len(args) == 0 {
			return errors.New("needs the address of an mbarrier")
		}
		var err error
		if c.mbar, err = d.address2(&args[0], isa.Shared); err != nil {
			return err
		}
		args = args[1:]
	}
	// A mask comes before or after the policy, depending on the form.
	c.multi = in.Has("multicast::cluster")
	if masked := c.multi || in.Has("cp_mask"); masked {
		if len(args) == 0 {
			return errors.New("needs a mask")
		}
		at := len(args) - 1
		if c.multi {
			at = 0
		}
		var err error
		if c.mask, err = d.src32(&args[at], "u16"); err != nil {
			return err
		}
		if c.multi {
			args = args[1:]
		} else {
			args = args[:at]
		}
	}
	return d.policy(in, args)
}

// bulkSize returns the bytes of lane i's bulk copy after all checks that do not depend
// on the space; false after a fault.
func (w *warp) bulkSize(c *copyOp, i int, from, to uint64) (int, bool) {
	n := w.u32(c.bytes)[i&31]
	switch {
	case n%16 != 0:
		w.failf(1<<i, "bulk copy of %d bytes: the size must be a multiple of 16", n)
		return 0, false
	case from%16 != 0 || to%16 != 0:
		w.failAs(exec.Misaligned, 1<<i, "misaligned bulk copy from %#x to %#x: both addresses must be multiples of 16", from, to)
		return 0, false
	}
	if c.multi {
		mask, count := w.u32(c.mask)[i&31]&0xffff, w.blk.launch.ClusterSize().Count()
		if mask>>count != 0 {
			w.failf(1<<i, "multicast to the blocks %#x of a cluster that has %d", mask, count)
			return 0, false
		}
	}
	return int(n), true
}

// multicast calls deliver for each block of the cluster that a copy goes to. In each, the target and
// the mbarrier of lane i have the address that they have in the executing block.
func (w *warp) multicast(c *copyOp, i int, to uint64, deliver func(to uint64, rank int) bool) {
	_, to = isa.Resolve(to)
	for mask := w.u32(c.mask)[i&31] & 0xffff; mask != 0; mask &= mask - 1 {
		rank := bits.TrailingZeros32(mask)
		if !deliver(ofRank(to, uint64(rank)), rank) {
			return
		}
	}
}

// tellMulticast tells the probe of bytes that lane i's multicast has brought to shared memory of the block with a
// rank. Reads tells it of what the copy has read.
func (w *warp) tellMulticast(mbar *inst, i, rank int, to uint64, bytes int, reads func(mbarrier uint64)) {
	own := w.addr
	defer func() { w.addr = own }()
	w.addresses(mbar, 1<<i)
	_, a := isa.Resolve(w.addr[i&31])
	mbarrier := ofRank(a, uint64(rank))
	reads(mbarrier)
	w.tellFlight(i, isa.Shared, to, bytes, false, true, isa.ByMbarrier, mbarrier)
	w.tellArrived(i, mbarrier)
}

// completeIn is completeTx for lane i, on the mbarrier of the block with a rank.
func (w *warp) completeIn(at *inst, i, rank int, n int64) bool {
	if w.blk.postpones {
		w.done = 0
		w.signalAt(at, i, rank, n)
		return true
	}
	own := w.addr
	defer func() { w.addr = own }()
	w.addresses(at, 1<<i)
	_, a := isa.Resolve(w.addr[i&31])
	w.addr[i&31] = ofRank(a, uint64(rank))
	return w.changeMbar(&inst{mode: uint8(isa.Shared)}, i, func(b *mbar) bool { return w.completeBytes(b, i, n) })
}

// changeMbar changes the mbarrier at the address of lane i; w.done tells whether that ends its phase. It is false after a
// fault.
func (w *warp) changeMbar(at *inst, i int, change func(b *mbar) bool) bool {
	b, p := w.mbarAt(at, i)
	phase := b.phase
	if p == nil || !change(&b) {
		return false
	}
	if w.done = 0; b.phase != phase {
		w.done = 1 << (i & 31)
	}
	le.PutUint64(p, b.pack())
	return true
}

// bytesOf returns n bytes of a space at an address of lane i; nil after a fault.
func (w *warp) bytesOf(space isa.Space, i int, addr uint64, n int, write bool) []byte {
	w.addr[i] = addr
	return w.lane(space, i, n, write)
}

// bulkStep is the number of bytes of a bulk copy moved at a time.
const bulkStep = 256

func bulkCopy(w *warp, in *inst, m uint32) {
	c := in.x.any.(*copyOp)
	w.addresses(c.src, m)
	from := w.addr
	w.addresses(in, m)
	to := w.addr
	for k := m; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k)
		total, ok := w.bulkSize(c, i, from[i], to[i])
		if !ok {
			return
		}
		w.bulkNote(c, from[i], to[i], total)
		if c.multi {
			w.multicast(c, i, to[i], func(to uint64, rank int) bool {
				ok := w.bulkMove(c, i, from[i], to, total) && w.completeIn(c.mbar, i, rank, int64(total))
				if ok && w.blk.probe != nil {
					w.tellMulticast(c.mbar, i, rank, to, total, func(mbarrier uint64) {
						w.tellFlight(i, c.from, from[i], total, true, false, isa.ByMbarrier, mbarrier)
					})
				}
				return ok
			})
			continue
		}
		if !w.bulkMove(c, i, from[i], to[i], total) || c.mbar != nil && !w.completeTx(c.mbar, 1<<i, int64(total)) {
			return
		}
	}
	if w.addr = from; c.to == isa.Global {
		w.addr = to
	}
}

// bulkMove copies the bytes of lane i. It reports whether there was no fault.
func (w *warp) bulkMove(c *copyOp, i int, from, to uint64, total int) bool {
	var buf [bulkStep]byte
	mask := uint32(0xffff)
	if c.mask != none && !c.multi {
		mask = w.u32(c.mask)[i&31] & 0xffff
	}
	for at := 0; at < total; {
		n := min(bulkStep, total-at)
		src := w.bytesOf(c.from, i, from+uint64(at), n, false)
		if src == nil {
			return false
		}
		copy(buf[:n], src)
		if mask != 0xffff {
			old := w.bytesOf(c.to, i, to+uint64(at), n, false)
			if old == nil {
				return false
			}
			for b := range n {
				if mask>>(b%16)&1 == 0 {
					buf[b] = old[b]
				}
			}
		}
		dst := w.bytesOf(c.to, i, to+uint64(at), n, true)
		if dst == nil {
			return false
		}
		copy(dst, buf[:n])
		at += n
	}
	return true
}

func bulkReduce(w *warp, in *inst, m uint32) {
	c := in.x.any.(*copyOp)
	w.addresses(c.src, m)
	from := w.addr
	w.addresses(in, m)
	to := w.addr
	op := c.op
	if c.flush {
		op = rmwAddF32Flush
	}
	for k := m; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k)
		total, ok := w.bulkSize(c, i, from[i], to[i])
		if !ok {
			return
		}
		w.bulkNote(c, from[i], to[i], total)
		for at := 0; at < total; at += c.elem {
			src := w.bytesOf(c.from, i, from[i]+uint64(at), c.elem, false)
			if src == nil {
				return
			}
			var b uint64
			switch c.elem {
			case 2:
				b = uint64(le.Uint16(src))
			case 4:
				b = uint64(le.Uint32(src))
			case 8:
				b = le.Uint64(src)
			}
			dst := w.bytesOf(c.to, i, to[i]+uint64(at), c.elem, true)
			if dst == nil {
				return
			}
			updateAt(dst, c.elem, op, b, 0)
		}
		if c.mbar != nil && !w.completeTx(c.mbar, 1<<i, int64(total)) {
			return
		}
	}
	if w.addr = from; c.to == isa.Global {
		w.addr = to
	}
}

// decodeStoreAsync is st.async and st.bulk on the block's own shared memory,
// and the st.async that releases to global memory.
func decodeStoreAsync(d *dec, in *ptx.Inst, o *inst) error {
	args := in.Args
	c := &copyOp{bytes: none, srcLen: none, ignore: none, mask: none, to: isa.Shared}
	o.kind, o.x = kMem, &extra{any: c}
	var err error
	if in.Has("bulk") {
		if len(args) != 3 || args[2].Kind != ptx.OpImm {
			return errors.New("takes a target, a size and an initial value")
		}
		if args[2].Imm.Bits != 0 {
			return errors.New("can only store zero")
		}
		space, err := d.memAddress(&args[0], o, spaceOf(in))
		if err != nil {
			return err
		}
		if space != isa.Shared && space != isa.Generic {
			return fmt.Errorf("can only write shared memory, not .%s", space)
		}
		o.mode = uint8(isa.Shared)
		c.bytes, err = d.src64(&args[1], "u64")
		d.describe(isa.Shared, 0, false, true)
		o.run = storeBulk
		return err
	}
	if len(args) < 2 {
		return errors.New("needs an address and a register")
	}
	space := isa.Shared
	if !in.Has("mbarrier::complete_tx::bytes") {
		space = isa.Global
	}
	c.to = space
	o.mode = uint8(space)
	got, err := d.memAddress(&args[0], o, space)
	if err != nil {
		return err
	}
	if got != space {
		return fmt.Errorf("needs an address in .%s memory, not in .%s", space, got)
	}
	op, err := d.memElems(in, &args[1], false)
	if err != nil {
		return err
	}
	if space == isa.Shared {
		if len(args) != 3 {
			return errors.New("needs the address of an mbarrier")
		}
		if c.mbar, err = d.address2(&args[2], isa.Shared); err != nil {
			return err
		}
	} else {
		d.im.ordered = true
	}
	c.value = op
	o.size = uint8(op.total)
	d.describe(space, op.total, false, true)
	store := *o // the plain store that does the work
	store.x = &extra{any: op}
	o.run = func(w *warp, in *inst, m uint32) {
		storeAny(w, &store, m)
		if c.mbar != nil && w.fault == nil {
			w.storeNote(m, op.total)
			w.completeTx(c.mbar, m, int64(op.total))
		}
	}
	return nil
}

// storeBulk fills shared memory with zeros.
func storeBulk(w *warp, in *inst, m uint32) {
	c := in.x.any.(*copyOp)
	w.addresses(in, m)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		n := w.u64(c.bytes)[i&31]
		if n%8 != 0 || n > uint64(len(w.blk.Shared)) {
			w.failf(1<<i, "bulk store of %d bytes: the size must be a multiple of 8 and fit in the block's %d bytes of shared memory", n, len(w.blk.Shared))
			return
		}
		if w.addr[i]%8 != 0 {
			w.misaligned(1<<i, 8, "bulk store")
			return
		}
		if n == 0 {
			continue
		}
		p := w.lane(isa.Shared, i, int(n), true)
		if p == nil {
			return
		}
		clear(p)
	}
}
