package part

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/plug"
)

// This file: address mappings that a program registers.

// Mapping finds the places of addresses. An address must always have the same
// place. The mapping of a chip is called by several goroutines concurrently.
type Mapping interface {
	// Find returns the place of an address. The slice determines its channel.
	Find(addr uint64) Place
	// Local returns the address within its slice, which selects the set of the L2.
	// It must differ for two addresses of a slice that are not in the same line.
	Local(addr uint64) uint64
}

// Space describes what addresses are mapped to.
type Space struct {
	Channels int // of the chip
	Slices   int // L2 slices of a channel
	Banks    int // of a channel
}

// Mappings are the constructors of mappings by name; they may refuse a space.
var Mappings = plug.New[func(Space) (Mapping, error)]("address mapping", indexingNames[:]...)

// ask finds a place with the registered mapping.
func (m *AddrMap) ask(addr uint64) Place {
	p := m.plugged.Find(addr)
	if p.Sub < 0 || p.Sub >= m.channels*m.subs || p.Bank < 0 || p.Bank >= m.banks {
		panic(fmt.Sprintf("heddle: the address mapping puts %#x into slice %d, bank %d: want slices below %d, banks below %d", addr, p.Sub, p.Bank, m.channels*m.subs, m.banks))
	}
	p.Chan = p.Sub / m.subs
	return p
}
