package container

// This file: which instructions a warp executed. Warps tend to follow paths that
// others took before them, or another iteration of a loop. So the next instruction
// is predicted to be the one that followed the same two instructions at an earlier
// place; as long as that holds, the prediction continues from that place.

const (
	pathWindow = 1 << 17 // instructions that are remembered
	pathTable  = 1 << 14 // places that are found again by two instructions
	nowhere    = -1
)

// path predicts instructions. Symbols are indices of static code; code, their
// number, marks the end of a warp.
type path struct {
	code   int32
	window []int32
	table  []int32
	other  []int32 // by instruction: what else has followed it
	n      int32   // symbols so far
	follow int32   // the place that predictions follow
	start  int32   // where the last warp began
	a, b   int32   // the last two symbols
	run    hits
}

func (p *path) reset(code int) {
	if p.window == nil {
		p.window, p.table = make([]int32, pathWindow), make([]int32, pathTable)
	}
	for i := range p.table {
		p.table[i] = nowhere
	}
	if cap(p.other) < code+1 {
		p.other = make([]int32, code+1)
	}
	p.other = p.other[:code+1]
	for i := range p.other {
		p.other[i] = nowhere
	}
	p.code, p.n, p.run = int32(code), 0, hits{}
	p.follow, p.start = nowhere, nowhere
}

// begin starts a warp, which is likely to follow the path of the previous one.
func (p *path) begin() {
	p.follow, p.start = p.start, p.n
	p.a, p.b = p.code, p.code
}

// predict returns the likely next symbol; without history, the next instruction of
// the code.
func (p *path) predict() int32 {
	if p.follow >= 0 {
		return p.window[p.follow&(pathWindow-1)]
	}
	if p.b == p.code {
		return 0
	}
	return p.b + 1
}

func place(a, b int32) uint32 {
	return (uint32(a)*0x9e3779b1 ^ uint32(b)*0x85ebca6b) * 0xc2b2ae35 >> 18
}

// push records the actual next symbol.
func (p *path) push(s int32, hit bool) {
	p.table[place(p.a, p.b)] = p.n
	p.window[p.n&(pathWindow-1)] = s
	p.n = (p.n + 1) & (1<<30 - 1)
	p.a, p.b = p.b, s
	if hit && p.follow >= 0 {
		p.follow++
		return
	}
	p.follow = p.table[place(p.a, p.b)]
}

// put writes a symbol.
func (p *path) put(c *[columns][]byte, s int32) {
	guess := p.predict()
	if s == guess {
		p.run.n++
		p.push(s, true)
		return
	}
	c[colPathRun] = p.run.miss(c[colPathRun])
	last := p.b
	if o := p.other[last]; o == s {
		c[colPathNew] = append(c[colPathNew], 0)
	} else {
		c[colPathNew] = uvarint(c[colPathNew], 1+zigzag(int64(s)-int64(last)))
	}
	p.other[last] = guess
	p.push(s, false)
}

// get reads a symbol.
func (p *path) get(c *[columns]reader) int32 {
	guess := p.predict()
	if p.run.next(&c[colPathRun]) {
		if uint32(guess) > uint32(p.code) {
			c[colPathRun].bad = true
			guess = p.code
		}
		p.push(guess, true)
		return guess
	}
	last := p.b
	var s int64
	if v := c[colPathNew].uvarint(); v == 0 {
		s = int64(p.other[last])
	} else {
		s = int64(last) + unzigzag(v-1)
	}
	if s < 0 || s > int64(p.code) {
		c[colPathNew].bad = true
		s = int64(p.code)
	}
	p.other[last] = guess
	p.push(int32(s), false)
	return int32(s)
}
