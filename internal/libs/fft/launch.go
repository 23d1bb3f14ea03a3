package fft

import (
	"embed"

	"github.com/heddle-sim/heddle/internal/libs"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

//go:embed kernels/*.fatbin.zst
var files embed.FS

// kernels are the compiled kernels, by source file.
var kernels = libs.Kernels("cufft", files)

// groupBytes is the size of the kernels' struct group, maxGroups the most of a block.
const (
	groupBytes = 32
	maxGroups  = 256
)

// launch starts a pass.
func (c Call) launch(p pass, in, out uint64) Result {
	size := c.shape.size(complexForm)
	for i, s := range []*side{&p.From, &p.To} {
		s.At = [...]uint64{in, out, c.area}[p.places[i]] + uint64(p.firsts[i]*size)
		s.Factors = c.tables.of[p.factors[i]]
	}
	p.Roots = c.tables.of[table{roots, int64(p.Radix)}]
	p.Coarse, p.Fine = c.tables.of[table{coarse, int64(p.N)}], c.tables.of[table{fine, int64(p.N)}]

	// A block fills half of its room, so that an SM has several blocks; with fewer groups
	// while there are not two blocks for each SM. It has four at least if neighbouring
	// groups are read or written together.
	least := int64(1)
	if p.From.Across+p.To.Across > 0 {
		least = 4
	}
	radix, rooms, room := int64(p.Radix), int64(1), c.shape.room()
	for rooms < p.Groups && 2*rooms <= maxGroups && (4*rooms*radix <= room || rooms < least && 2*rooms*radix <= room) {
		rooms *= 2
	}
	for rooms > least && (p.Groups+rooms-1)/rooms < 2*int64(c.t.Properties().SMs) {
		rooms /= 2
	}
	p.Rooms = int32(rooms)
	threads := (rooms*radix + 4*32 - 1) / (4 * 32) * 32 // one for 4 elements
	gap := 128 / size
	shared := rooms*(radix+radix/gap)*size + rooms*groupBytes
	name := "fft_f32"
	if types[c.shape.Type].double {
		name = "fft_f64"
	}
	blocks := (p.Groups + rooms - 1) / rooms
	err := c.t.LaunchOwn(kernels[name], name, cuda.Call{
		Grid: cuda.Dim3{X: uint32(blocks), Y: 1, Z: 1}, Block: cuda.Dim3{X: uint32(threads), Y: 1, Z: 1}, Shared: uint64(shared), Stream: c.stream,
	}, p.params)
	return resultOf(err, ExecFailed)
}
