package unset

import (
	"maps"
	"slices"

	"github.com/heddle-sim/heddle/internal/check"
)

// This file: memory that has no address of its own and is mapped at some (cuMemMap). What is unset
// of it goes along when it is mapped elsewhere. Where it is mapped twice, what is written at one
// address is read at the other, so that all of it counts as set from then on, and a store to it is a
// use.

// mapped is such memory.
type mapped struct {
	bytes uint64
	at    []uint64 // where it is mapped
	begun bool     // it has been mapped
	twice bool     // it has been mapped at two addresses at a time
	// What is unset of it while it is mapped nowhere, as in Checker.memory and kept.at, as if it were
	// mapped at 0.
	pages shadow
	words map[uint64]uint32
}

// set makes bytes set. They may be gone.
func (c *Checker) set(addr, n uint64) {
	c.memory.mark(addr, n, false)
	c.kept.ends(addr, n)
}

// twice reports whether some of a range is memory that has been mapped twice.
func (c *Checker) twice(addr, n uint64) bool {
	for _, m := range c.blocks {
		if m.twice && slices.ContainsFunc(m.at, func(at uint64) bool { return at < addr+n && addr < at+m.bytes }) {
			return true
		}
	}
	return false
}

// mapTo notes a mapping.
func (c *Checker) mapTo(e *check.HostEvent) {
	m := c.blocks[e.Block]
	m.at = append(m.at, e.Addr)
	switch m.twice = m.twice || len(m.at) > 1; {
	case m.twice:
		for _, at := range m.at {
			c.set(at, m.bytes)
		}
		return
	case !m.begun:
		c.memory.mark(e.Addr, m.bytes, true)
	}
	m.begun = true
	c.kept.begins(e.Addr, m.bytes, true)
	for key, p := range m.pages {
		c.memory[e.Addr/pageBytes+key] = p
	}
	for w, number := range m.words {
		c.kept.at[e.Addr/4+w] = number
	}
	m.pages, m.words = nil, nil
}

// unmap notes the end of a mapping. Mappings have whole pages.
func (c *Checker) unmap(e *check.HostEvent) {
	m := c.blocks[e.Block]
	if m == nil { // it was gone before
		c.set(e.Addr, e.Bytes)
		return
	}
	m.at = slices.DeleteFunc(m.at, func(at uint64) bool { return at == e.Addr })
	if !m.twice {
		m.pages, m.words = shadow{}, map[uint64]uint32{}
		for key := range m.bytes / pageBytes {
			if p := c.memory[e.Addr/pageBytes+key]; p != nil {
				m.pages[key] = p
			}
		}
		for _, w := range c.kept.words(e.Addr, m.bytes) {
			m.words[w-e.Addr/4] = c.kept.at[w]
		}
	}
	c.set(e.Addr, m.bytes)
}

// reset notes that a device was reset. Its memory is gone where it was mapped at addresses of
// others, too.
func (c *Checker) reset(e *check.HostEvent) {
	maps.DeleteFunc(c.blocks, func(block int64, m *mapped) bool {
		m.at = slices.DeleteFunc(m.at, func(at uint64) bool { return at-e.Addr < e.Bytes })
		return check.SameDevice(block, e.Stream)
	})
}
