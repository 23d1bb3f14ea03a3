package texture

import "fmt"

// This file: what programs can ask about textures.

// Enumerants of channel_order and channel_data_type: those of OpenCL, which
// the PTX manual refers to.
var (
	channelOrders = map[int]uint32{1: 0x10B0, 2: 0x10B2, 4: 0x10B5} // R, RG, RGBA
	channelTypes  = [...]uint32{
		fmtU8: 0x10DA, fmtS8: 0x10D7, fmtU16: 0x10DB, fmtS16: 0x10D8, fmtU32: 0x10DC, fmtS32: 0x10D9,
		fmtF16: 0x10DD, fmtF32: 0x10DE,
		fmtU8Norm: 0x10D2, fmtS8Norm: 0x10D0, fmtU16Norm: 0x10D3, fmtS16Norm: 0x10D1,
	}
)

// Query is an attribute that can be queried. Those of the sampling state also apply to a
// sampler reference; the others need a texture or surface.
type Query struct {
	Sampling bool
	get      func(s *Slot, lv *level) uint32
}

// Queries are the attributes by PTX's names.
var Queries = map[string]Query{
	"width":  {get: func(_ *Slot, lv *level) uint32 { return uint32(lv.w) }},
	"height": {get: func(s *Slot, lv *level) uint32 { return present(s.tex.h, lv.h) }},
	"depth":  {get: func(s *Slot, lv *level) uint32 { return present(s.tex.d, lv.d) }},
	"channel_data_type": {get: func(s *Slot, _ *level) uint32 {
		return channelTypes[s.tex.format]
	}},
	"channel_order":     {get: func(s *Slot, _ *level) uint32 { return channelOrders[s.tex.channels] }},
	"normalized_coords": {get: func(s *Slot, _ *level) uint32 { return flag(s.tex.smp.normalized) }},
	"num_mipmap_levels": {get: func(s *Slot, _ *level) uint32 { return uint32(len(s.tex.levels)) }},
	"num_samples":       {get: func(s *Slot, _ *level) uint32 { return uint32(s.tex.samples) }},
	"array_size": {get: func(s *Slot, _ *level) uint32 {
		if !s.tex.layered {
			return 0
		}
		if s.tex.cube {
			return uint32(s.tex.layers / 6)
		}
		return uint32(s.tex.layers)
	}},
	"memory_layout":             {get: func(*Slot, *level) uint32 { return 1 }}, // linear, as all of ours are
	"force_unnormalized_coords": {Sampling: true, get: func(s *Slot, _ *level) uint32 { return flag(!s.sampling().normalized) }},
	"filter_mode":               {Sampling: true, get: func(s *Slot, _ *level) uint32 { return flag(s.sampling().linear) }},
	"addr_mode_0":               {Sampling: true, get: func(s *Slot, _ *level) uint32 { return uint32(s.sampling().mode[0]) }},
	"addr_mode_1":               {Sampling: true, get: func(s *Slot, _ *level) uint32 { return uint32(s.sampling().mode[1]) }},
	"addr_mode_2":               {Sampling: true, get: func(s *Slot, _ *level) uint32 { return uint32(s.sampling().mode[2]) }},
}

// sampling is the sampling state of a sampler reference or of a texture.
func (s *Slot) sampling() *Sampler {
	if s.kind == IsSampler {
		return &s.smp
	}
	return &s.tex.smp
}

// present is the size of a level, 0 for a dimension that the texture lacks.
func present(given, size int) uint32 {
	if given == 0 {
		return 0
	}
	return uint32(size)
}

// Of returns the attribute of a level; samplers have none, and the level does not matter. It fails
// if the texture has no such level.
func (q *Query) Of(s *Slot, n uint32) (uint32, error) {
	var lv *level
	if len(s.tex.levels) > 0 {
		if n >= uint32(len(s.tex.levels)) {
			return 0, fmt.Errorf("level %d of %s, which has %d", n, s.name, len(s.tex.levels))
		}
		lv = &s.tex.levels[n]
	}
	return q.get(s, lv), nil
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
