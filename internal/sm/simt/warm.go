package simt

// WarmCode puts a kernel's instructions into the instruction cache, from its
// first to its last: what does not fit pushes out what came before it.
func (c *Core) WarmCode(k *Kernel) {
	if c.l1i == nil {
		return
	}
	line := uint64(c.l1i.Config().Line)
	from := instBase + k.base
	to := from + uint64(len(k.ops))<<k.shift
	for at := from &^ (line - 1); at < to; at += line {
		c.l1i.FillDirect(c.now, at, at, sectorsOf(at, uint32(line)))
	}
}
