package memory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: allocations out of which an allocator of the program gives parts, and says so
// (heddle/check.h). Once it has, the rest of such an allocation belongs to nobody.

// outsideKey tells findings of kernels apart.
type outsideKey struct {
	kernel string
	site   int
	rule   *check.Rule
}

// part notes that a part is given out or taken back. In memory that was mapped piece by piece, it may
// lie in several pieces.
func (c *checker) part(e *check.HostEvent) {
	for in := *e; e.Bytes > in.Addr-e.Addr; in.Addr += in.Bytes {
		a := c.nearest(in.Addr)
		if a == nil || !a.contains(in.Addr) || a.freedBy != "" {
			return // the runtime has refused it
		}
		in.Bytes = min(e.Addr+e.Bytes, a.addr+a.bytes) - in.Addr
		c.partOf(a, &in)
	}
}

// partOf is part for what lies in one allocation.
func (c *checker) partOf(a *allocation, e *check.HostEvent) {
	i, known := slices.BinarySearchFunc(a.parts, e.Addr, func(p *allocation, addr uint64) int { return cmp.Compare(p.addr, addr) })
	if e.Kind == check.HostFree {
		switch {
		case !known:
			c.add(&check.Finding{Rule: InvalidFree, Launch: -1, Message: fmt.Sprintf("%s of %#x, which has not been given out", e.Call, e.Addr), Details: a.details(e.Addr), Steps: append([]check.Step{hostStep(check.Called, e.Call, e.Host)}, a.steps()...)})
		case a.parts[i].freedBy != "":
			c.add(&check.Finding{Rule: DoubleFree, Launch: -1, Message: fmt.Sprintf("%s of %#x, which has been taken back before", e.Call, e.Addr), Details: a.parts[i].details(e.Addr), Steps: append([]check.Step{hostStep(check.Called, e.Call, e.Host)}, a.parts[i].steps()...)})
		default:
			a.parts[i].freed, a.parts[i].freedBy = e.Host, e.Call
		}
		return
	}
	if a.parts == nil {
		at, _ := slices.BinarySearchFunc(c.pools, a.addr, func(p *allocation, addr uint64) int { return cmp.Compare(p.addr, addr) })
		c.pools = slices.Insert(c.pools, at, a)
	}
	if h := cmp.Or(heap{e.HeapAddr, e.HeapBytes}, heap{a.addr, a.bytes}).within(heap{a.addr, a.bytes}); !slices.Contains(a.heaps, h) {
		a.heaps = append(a.heaps, h)
	}
	// What was there before is no more.
	a.parts = slices.DeleteFunc(a.parts, func(p *allocation) bool { return p.addr < e.Addr+e.Bytes && e.Addr < p.addr+p.bytes })
	i, _ = slices.BinarySearchFunc(a.parts, e.Addr, func(p *allocation, addr uint64) int { return cmp.Compare(p.addr, addr) })
	a.parts = slices.Insert(a.parts, i, &allocation{addr: e.Addr, bytes: e.Bytes, call: e.Call, host: e.Host})
}

// resize notes that a part has another size. In memory that was mapped piece by piece it leaves
// pieces, or gets new ones.
func (c *checker) resize(e *check.HostEvent) {
	end := e.Addr + e.Bytes
	for addr := e.Addr; addr < max(end, e.Addr+e.Old); {
		a := c.nearest(addr)
		if a == nil || !a.contains(addr) || a.freedBy != "" {
			return
		}
		next := a.addr + a.bytes
		i := slices.IndexFunc(a.parts, func(p *allocation) bool { return p.addr == addr })
		switch {
		case addr >= end && i >= 0:
			a.parts = slices.Delete(a.parts, i, i+1)
			if len(a.parts) == 0 {
				c.noPool(a)
			}
		case addr < end && i >= 0:
			a.parts[i].bytes = min(end, next) - addr
		case addr < end && addr > e.Addr:
			in := *e
			in.Kind, in.Addr, in.Bytes = check.HostAlloc, addr, min(end, next)-addr
			c.partOf(a, &in)
		}
		addr = next
	}
}

// whole ends what allocators share out in a range, and pools of which nothing else is.
func (c *checker) whole(e *check.HostEvent) {
	gone := heap{e.Addr, e.Bytes}
	for _, p := range slices.Clone(c.pools) {
		meets := func(addr, bytes uint64) bool { return heap{addr, bytes}.within(gone).bytes > 0 }
		p.heaps = slices.DeleteFunc(p.heaps, func(h heap) bool { return meets(h.addr, h.bytes) })
		p.parts = slices.DeleteFunc(p.parts, func(x *allocation) bool { return meets(x.addr, x.bytes) })
		if len(p.heaps) == 0 || len(p.parts) == 0 {
			c.noPool(p)
		}
	}
}

// noPool makes a pool an allocation like others.
func (c *checker) noPool(a *allocation) {
	a.parts, a.heaps = nil, nil
	c.pools = slices.DeleteFunc(c.pools, func(p *allocation) bool { return p == a })
}

// before returns the last of a list that does not begin after an address, nil if there is none.
func before(list []*allocation, addr uint64) *allocation {
	i, found := slices.BinarySearchFunc(list, addr, func(p *allocation, addr uint64) int { return cmp.Compare(p.addr, addr) })
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	return list[i]
}

// lost reports whether bytes lie in a pool, and not in a part that is given out. It returns the part
// that they belonged to, or that lies before them; nil if there is none.
func (c *checker) lost(addr, bytes uint64) (part *allocation, lost bool) {
	for {
		pool := before(c.pools, addr)
		if pool == nil || !slices.ContainsFunc(pool.heaps, func(h heap) bool { return h.contains(addr) }) {
			return nil, false
		}
		in := before(pool.parts, addr)
		if part == nil {
			part = cmp.Or(in, pool.parts[0])
		}
		if in == nil || in.freedBy != "" || addr >= in.addr+in.bytes {
			return part, true
		}
		end := in.addr + in.bytes
		if addr+bytes <= end || end < pool.addr+pool.bytes {
			return part, addr+bytes > end
		}
		addr, bytes = end, addr+bytes-end // the part goes on in the piece that is mapped next to it
	}
}

// ruleIn is the rule that an access to an address breaks, and how in words.
func (a *allocation) ruleIn(addr uint64, outside *check.Rule) (*check.Rule, string) {
	if a.freedBy != "" && a.contains(addr) {
		return UseAfterFree, "in a part of a pool that has been taken back"
	}
	return outside, fmt.Sprintf("%s a part of a pool, of %d bytes, that was given out", a.position(addr), a.bytes)
}

// Access is as in exec.BlockProbe.
func (b *block) Access(a *exec.Access) {
	if a.Space != isa.Global || len(b.c.pools) == 0 {
		return
	}
	for k := a.Lanes; k != 0; k &= k - 1 {
		i := k.First() & 31
		part, lost := b.c.lost(a.Addr[i], uint64(a.Bytes))
		if !lost {
			continue
		}
		rule, where := part.ruleIn(a.Addr[i], OOBGlobal)
		key := outsideKey{b.kernel, a.Site, rule}
		if f := b.c.outside[key]; f != nil {
			f.Count++
			continue
		}
		access := "read"
		if a.Write {
			access = "write"
		}
		at := b.probed.Where(a.Warp, i)
		f := &check.Finding{Rule: rule, Level: rule.Level, Kernel: b.kernel, Launch: b.launch, Count: 1, Details: part.details(a.Addr[i])}
		f.Message = fmt.Sprintf("%s of %d bytes at %#x, %s", access, a.Bytes, a.Addr[i], where)
		f.Details[check.Bytes], f.Details[check.Access], f.Details[check.Space] = fmt.Sprint(a.Bytes), access, "global"
		first := check.Step{Role: check.First, Text: fmt.Sprintf("%s of %d bytes by thread %s of block %s", access, a.Bytes, at.Thread, at.Block), Place: check.PlaceOf(at)}
		for _, p := range b.probed.Chain(a.Warp) {
			first.Chain = append(first.Chain, check.PlaceOf(p))
		}
		f.Steps = append([]check.Step{first}, part.steps()...)
		b.c.outside[key], b.c.found = f, append(b.c.found, f)
	}
}

// copyInPool tests what the host reads and writes.
func (c *checker) copyInPool(e *check.HostEvent) {
	part, lost := c.lost(e.Addr, e.Bytes)
	if !lost {
		return
	}
	rule, where := part.ruleIn(e.Addr, OOBMemcpy)
	f := &check.Finding{Rule: rule, Launch: -1, Message: fmt.Sprintf("%s of %d bytes at %#x, %s", e.Call, e.Bytes, e.Addr, where), Details: part.details(e.Addr)}
	f.Steps = append([]check.Step{hostStep(check.Called, e.Call, e.Host)}, part.steps()...)
	c.add(f)
}
