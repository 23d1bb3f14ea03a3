package sass

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: predicates, votes, shuffles and other operations across lanes.

func init() {
	put(decodePLOP3, sass.OpPLOP3, sass.OpUPLOP3)
	put(decodeP2R, sass.OpP2R, sass.OpUP2UR)
	put(decodeR2P, sass.OpR2P, sass.OpUR2UP)
	put(decodeVOTE, sass.OpVOTE, sass.OpVOTEU)
	put(decodeMATCH, sass.OpMATCH)
	put(decodeREDUX, sass.OpREDUX)
	put(decodeSHFL, sass.OpSHFL)
	put(decodeR2UR, sass.OpR2UR)
	put(decodeELECT, sass.OpELECT)
}

// decodePLOP3: two functions of three predicates, by the tables of LOP3.
func decodePLOP3(d *dec) error {
	v := d.values()
	if len(v) != 2 {
		return errForm
	}
	d.o.lut, d.o.arg = uint8(v[0].Imm), uint8(v[1].Imm)
	d.predResult(0, sass.Pu)
	d.predResult(1, sass.Pv)
	for i, r := range []sass.Role{sass.Pp, sass.Pq, sass.Pr} {
		d.predSource(i, r, true)
	}
	d.o.uniform = d.in.Op == sass.OpUPLOP3
	d.o.run = opPLOP3
	return nil
}

func lop3(a, b, c uint32, lut uint8) (r uint32) {
	for k := range 8 {
		if lut>>k&1 == 0 {
			continue
		}
		x, y, z := a, b, c
		if k&4 == 0 {
			x = ^x
		}
		if k&2 == 0 {
			y = ^y
		}
		if k&1 == 0 {
			z = ^z
		}
		r |= x & y & z
	}
	return r
}

func opPLOP3(_ *warp, in *inst, p *pending, _ uint32) {
	a, b, c := p.ps[0], p.ps[1], p.ps[2]
	p.pout = [2]uint32{lop3(a, b, c, in.lut), lop3(a, b, c, in.arg)}
}

// byteOf is the byte selected by .B1 to .B3.
func (d *dec) byteOf() (uint8, error) {
	n := uint8(0)
	for _, m := range d.in.Mods {
		switch m {
		case "B0":
		case "B1":
			n = 8
		case "B2":
			n = 16
		case "B3":
			n = 24
		default:
			return 0, d.only("B0", "B1", "B2", "B3")
		}
	}
	return n, nil
}

// decodeP2R: replaces a byte of a by the predicates P0 to P6 selected by a mask (that the
// other bits of the byte stay is assumed).
func decodeP2R(d *dec) error {
	n, err := d.byteOf()
	if err != nil {
		return err
	}
	if w := d.in.Find(sass.Extra); w != nil && w.Kind == sass.Word && w.Suffix != "PR" && w.Suffix != "UPR" {
		return errForm
	}
	v := d.values()
	if len(v) != 2 {
		return errForm
	}
	d.o.count = int(n)
	d.o.run = opP2R
	if d.in.Op == sass.OpUP2UR {
		d.o.arg = uniformPred
	}
	if err := d.result(1); err != nil {
		return err
	}
	d.once()
	return d.sources(2)
}

func opP2R(w *warp, in *inst, p *pending, _ uint32) {
	a, b := p.s[0], p.s[1]
	for i := range p.d[0] {
		v := uint32(0)
		for k := range uint8(predTrue) {
			v |= w.pr[in.arg+k] >> i & 1 << k
		}
		mask := b[i] & 0x7f
		p.d[0][i] = a[i]&^(mask<<in.count) | v&mask<<in.count
	}
}

// decodeR2P: predicates from a byte of a, as selected by a mask.
func decodeR2P(d *dec) error {
	n, err := d.byteOf()
	if err != nil {
		return err
	}
	for _, o := range d.values() {
		if o.Suffix != "" {
			s, ok := shift(o)
			if !ok {
				return errForm
			}
			n = s
		}
	}
	v := d.values()
	if len(v) == 0 {
		return errForm
	}
	d.o.count = int(n)
	d.o.run = opR2P
	if d.in.Op == sass.OpUR2UP {
		d.o.arg, d.o.uniform, d.o.toUP = uniformPred, true, true
	}
	d.o.commit = (*warp).commitR2P
	if len(v) == 1 { // without a mask: all
		if err := d.sources(1); err != nil {
			return err
		}
		return d.add(plain(d.literal(0xff)))
	}
	return d.sources(2)
}

// opR2P puts the mask into the first result row and the bits into the second.
func opR2P(_ *warp, in *inst, p *pending, _ uint32) {
	for i := range p.d[0] {
		p.d[0][i] = p.s[1][i] & 0x7f
		p.d[1][i] = p.s[0][i] >> in.count
	}
}

// commitR2P writes the predicates of an R2P.
func (w *warp) commitR2P(in *inst, p *pending) {
	m := p.mask
	if in.toUP {
		m = 1
	}
	for t := m; t != 0; t &= t - 1 {
		i := bits.TrailingZeros32(t) & 31
		lanes := uint32(1) << i
		if in.toUP {
			lanes = full
		}
		for k := range uint8(predTrue) {
			if p.d[0][i]>>k&1 == 0 {
				continue
			}
			r := &w.pr[in.arg+k]
			if p.d[1][i]>>k&1 != 0 {
				*r |= lanes
			} else {
				*r &^= lanes
			}
		}
	}
}

// The modes of VOTE.
const (
	voteAll = iota
	voteAny
	voteEq
)

// decodeVOTE: over the active lanes whose guard holds; the register gets a bit for each of
// them in which the predicate holds.
func decodeVOTE(d *dec) error {
	switch {
	case d.in.Has("ALL"):
		d.o.mode = voteAll
	case d.in.Has("ANY"):
		d.o.mode = voteAny
	case d.in.Has("EQ"):
		d.o.mode = voteEq
	default:
		return errForm
	}
	if d.in.Find(sass.Rd) != nil {
		if err := d.result(1); err != nil {
			return err
		}
	}
	d.predResult(0, sass.Pu)
	d.predSource(0, sass.Pp, true)
	d.o.run = opVOTE
	return nil
}

func opVOTE(_ *warp, in *inst, p *pending, m uint32) {
	b := p.ps[0] & m
	for i := range p.d[0] {
		p.d[0][i] = b
	}
	yes := false
	switch in.mode {
	case voteAll:
		yes = b == m
	case voteAny:
		yes = b != 0
	default:
		yes = b == m || b == 0
	}
	p.pout[0] = 0
	if yes {
		p.pout[0] = full
	}
}

// decodeMATCH: ANY gives each lane the lanes that hold the same value; ALL gives all lanes
// or none, and a predicate that says which.
func decodeMATCH(d *dec) error {
	if err := d.only("ANY", "ALL", "U32", "U64"); err != nil {
		return err
	}
	d.o.flag = d.in.Has("ALL")
	n := 1
	if d.in.Has("U64") {
		n = 2
	}
	if err := d.result(1); err != nil {
		return err
	}
	d.predResult(0, sass.Pu)
	v := d.values()
	if len(v) != 1 {
		return errForm
	}
	d.o.count = n
	d.o.run = opMATCH
	return d.addWords(v[0], n)
}

func opMATCH(_ *warp, in *inst, p *pending, m uint32) {
	same := true
	for t := m; t != 0; t &= t - 1 {
		i := bits.TrailingZeros32(t) & 31
		eq := uint32(0)
		for u := m; u != 0; u &= u - 1 {
			k := bits.TrailingZeros32(u) & 31
			if p.s[0][k] == p.s[0][i] && (in.count == 1 || p.s[1][k] == p.s[1][i]) {
				eq |= 1 << k
			}
		}
		p.d[0][i] = eq
		same = same && eq == m
	}
	p.pout[0] = 0
	if !in.flag {
		return
	}
	v := uint32(0)
	if same {
		v, p.pout[0] = m, full
	}
	for i := range p.d[0] {
		p.d[0][i] = v
	}
}

// The operations of REDUX, in inst.mode.
const (
	reduxAnd = iota
	reduxOr
	reduxXor
	reduxSum
	reduxMin
	reduxMax
)

// decodeREDUX: reduces the values of the active lanes to one.
func decodeREDUX(d *dec) error {
	if err := d.only("AND", "OR", "XOR", "SUM", "MIN", "MAX", "S32", "U32"); err != nil {
		return err
	}
	for _, m := range d.in.Mods {
		switch m {
		case "OR":
			d.o.mode = reduxOr
		case "XOR":
			d.o.mode = reduxXor
		case "SUM":
			d.o.mode = reduxSum
		case "MIN":
			d.o.mode = reduxMin
		case "MAX":
			d.o.mode = reduxMax
		}
	}
	d.o.flag = d.in.Has("S32")
	if err := d.result(1); err != nil {
		return err
	}
	d.o.run = opREDUX
	return d.sources(1)
}

func opREDUX(_ *warp, in *inst, p *pending, m uint32) {
	v := p.s[0]
	r := v[bits.TrailingZeros32(m)&31]
	for t := m & (m - 1); t != 0; t &= t - 1 {
		x := v[bits.TrailingZeros32(t)&31]
		switch in.mode {
		case reduxAnd:
			r &= x
		case reduxOr:
			r |= x
		case reduxXor:
			r ^= x
		case reduxSum:
			r += x
		case reduxMin:
			if in.flag {
				r = uint32(min(int32(r), int32(x)))
			} else {
				r = min(r, x)
			}
		default:
			if in.flag {
				r = uint32(max(int32(r), int32(x)))
			} else {
				r = max(r, x)
			}
		}
	}
	p.d[0][0] = r
}

// The modes of SHFL.
const (
	shflIdx = iota
	shflUp
	shflDown
	shflBfly
)

// decodeSHFL: the value of another lane (PTX manual, shfl: segment mask in bits 12:8 of c,
// clamp in bits 4:0). If that lane is out of range, the reading lane gets its own value. Of one
// that does not take part it gets 0: the manual leaves this open (assumed). With the reader's own
// value NVIDIA's sample reduction, which adds such values, would fail its own check.
func decodeSHFL(d *dec) error {
	switch {
	case d.in.Has("IDX"):
		d.o.mode = shflIdx
	case d.in.Has("UP"):
		d.o.mode = shflUp
	case d.in.Has("DOWN"):
		d.o.mode = shflDown
	case d.in.Has("BFLY"):
		d.o.mode = shflBfly
	default:
		return errForm
	}
	if err := d.result(1); err != nil {
		return err
	}
	d.predResult(0, sass.Pu)
	d.o.run = opSHFL
	if err := d.sources(3); err != nil {
		return err
	}
	v := d.values()
	fixed := true
	for k := 1; k <= 2; k++ {
		fixed = fixed && v[k].Kind == sass.Imm && d.o.src[k] == plain(d.literal(uint32(v[k].Imm)))
	}
	if fixed {
		d.o.shuffle, d.o.run = new(shuffle), opFixedSHFL
		for i := range d.o.shuffle.from {
			j, ok := d.o.partner(uint32(i), uint32(v[1].Imm), uint32(v[2].Imm))
			if !ok {
				j = uint32(i)
			} else {
				d.o.shuffle.within |= 1 << i
			}
			d.o.shuffle.from[i] = uint8(j & 31)
		}
	}
	return nil
}

// shuffle says from which lane each lane of a SHFL reads, itself if that one is not within its segment.
type shuffle struct {
	from   [32]uint8
	within uint32
}

// opFixedSHFL is SHFL with literals for lanes and segments.
func opFixedSHFL(_ *warp, in *inst, p *pending, m uint32) {
	a, d, from := p.s[0], p.d[0], &in.shuffle.from
	p.pout[0] = in.shuffle.within & m
	if m == full {
		for i, j := range from {
			d[i] = a[j&31]
		}
		return
	}
	for t := m; t != 0; t &= t - 1 {
		i := bits.TrailingZeros32(t) & 31
		d[i] = 0
		if j := from[i] & 31; m>>j&1 != 0 {
			d[i] = a[j]
		}
	}
}

func opSHFL(_ *warp, in *inst, p *pending, m uint32) {
	a, b, c := p.s[0], p.s[1], p.s[2]
	in0 := uint32(0)
	for t := m; t != 0; t &= t - 1 {
		i := uint32(bits.TrailingZeros32(t) & 31)
		j, ok := in.partner(i, b[i], c[i])
		if ok {
			in0 |= 1 << i
		}
		switch {
		case !ok:
			p.d[0][i] = a[i]
		case m>>(j&31)&1 != 0:
			p.d[0][i] = a[j&31]
		default:
			p.d[0][i] = 0
		}
	}
	p.pout[0] = in0
}

// partner returns the lane that lane i of a shuffle reads, and whether it is in range.
func (in *inst) partner(i, b, c uint32) (j uint32, ok bool) {
	bv, cv, seg := b&31, c&31, c>>8&31
	last := i&seg | cv&^seg
	switch in.mode {
	case shflUp:
		j = i - bv
		return j, int32(j) >= int32(last)
	case shflDown:
		j = i + bv
	case shflBfly:
		j = i ^ bv
	default:
		j = i&seg | bv&^seg
	}
	return j, j <= last
}

// decodeR2UR: the value of the first active lane. Pu holds in lanes with another value (tests of
// others on an RTX 5090); with .OR it keeps holding where it did (assumed: compilers use it for
// the second word of a pair). .FILL and .BROADCAST tell why a compiler has placed it.
func decodeR2UR(d *dec) error {
	if err := d.only("OR", "FILL", "BROADCAST"); err != nil {
		return err
	}
	if err := d.result(1); err != nil {
		return err
	}
	d.predResult(0, sass.Pu)
	d.o.ps[0] = predicate{predTrue, true}
	if d.in.Has("OR") && d.o.pd[0] != noPredicate {
		d.o.ps[0] = predicate{at: d.o.pd[0]}
	}
	d.o.run = opR2UR
	return d.sources(1)
}

func opR2UR(_ *warp, _ *inst, p *pending, m uint32) {
	v := p.s[0][bits.TrailingZeros32(m)&31]
	p.pout[0] = p.ps[0]
	for t := m; t != 0; t &= t - 1 {
		if i := bits.TrailingZeros32(t) & 31; p.s[0][i] != v {
			p.pout[0] |= 1 << i
		}
	}
	p.d[0][0] = v
}

// decodeELECT: chooses one of the active lanes, the first (our choice; the PTX manual promises
// only that it is the same one as long as the lanes are the same). Pu holds in it, and the
// register gets its number.
func decodeELECT(d *dec) error {
	if p := d.in.Find(sass.Pp); p == nil || p.Reg != sass.PT || p.Not {
		return errForm
	}
	if err := d.result(1); err != nil {
		return err
	}
	d.predResult(0, sass.Pu)
	d.o.run = opELECT
	return nil
}

func opELECT(_ *warp, _ *inst, p *pending, m uint32) {
	p.d[0][0] = uint32(bits.TrailingZeros32(m))
	p.pout[0] = m & -m
}
