package ptx

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: textures, samplers and surfaces, how the host binds them, and how
// instructions name them. sample.go reads textures, surface.go reads and writes
// surfaces.

// ptxModes are the address modes of initialisers.
var ptxModes = map[string]texture.Mode{"wrap": texture.Wrap, "mirror": texture.Mirror, "clamp_ogl": texture.ClampOGL, "clamp_to_edge": texture.Clamp, "clamp_to_border": texture.Border}

// textures are what the handles of a machine's programs stand for.
type textures struct {
	texture.Table
	byVar map[*ptx.Var]uint64 // handles of references
}

// UseObjects makes the machine's kernels use these texture objects instead of the
// machine's own.
func (m *Machine) UseObjects(o *texture.Objects) { m.tex.Objects = o }

func isTexVar(v *ptx.Var) bool { return v.Type.Opaque() || v.Space == ptx.SpaceTex }

// References returns the names of the texture, sampler and surface references.
func (p *Program) References() []string {
	var list []string
	for _, m := range p.mods {
		for _, v := range m.Vars {
			if isTexVar(v) {
				list = append(list, v.Name)
			}
		}
	}
	return list
}

// initTextures makes a slot for every reference of the program. External
// declarations share the slot of the definition. A bad initialiser makes only
// its reference unusable.
func (m *Machine) initTextures() {
	t := &m.tex
	t.byVar, t.Objects = map[*ptx.Var]uint64{}, &texture.Objects{}
	add := func(v *ptx.Var) uint64 {
		kind := texture.IsTexture
		switch v.Type {
		case "samplerref":
			kind = texture.IsSampler
		case "surfref":
			kind = texture.IsSurface
		}
		t.byVar[v] = t.Add(texture.Reference(v.Name, kind))
		return t.byVar[v]
	}
	exported := map[string]uint64{}
	for _, mod := range m.prog.mods {
		local := map[string]uint64{}
		for _, v := range mod.Vars {
			if !isTexVar(v) || v.Linkage == ptx.Extern {
				continue
			}
			h, again := local[v.Name]
			if weak, dup := exported[v.Name]; !again && dup && v.Linkage != ptx.NoLinkage {
				h, again = weak, true
			}
			if again {
				t.byVar[v] = h
			} else {
				h = add(v)
			}
			local[v.Name] = h
			if v.Linkage != ptx.NoLinkage {
				exported[v.Name] = h
			}
			if s := t.Find(h); v.Init != nil {
				if err := initialise(s, v.Init); err != nil {
					s.Refuse(fmt.Errorf("%s:%w", mod.File, err))
				}
			}
		}
	}
	for _, mod := range m.prog.mods {
		for _, v := range mod.Vars {
			if !isTexVar(v) || v.Linkage != ptx.Extern {
				continue
			}
			if h, ok := exported[v.Name]; ok {
				t.byVar[v] = h
			} else {
				exported[v.Name] = add(v)
			}
		}
	}
	for _, k := range m.prog.kernels {
		for _, v := range k.ast.Params {
			if isTexVar(v) {
				add(v)
			}
		}
	}
}

// initialise applies the program's initialiser of a reference.
func initialise(s *texture.Slot, in *ptx.Init) error {
	list := in.List
	if list == nil {
		list = []*ptx.Init{in}
	}
	for _, e := range list {
		if e.Expr == nil || e.Expr.Entry == nil {
			return fmt.Errorf("%d:%d: initialiser of %s: want fields such as filter_mode = linear", e.Pos.Line, e.Pos.Col, s.Name())
		}
		f, p := e.Expr.Entry, e.Expr.Pos
		bad := func(want string) error {
			return fmt.Errorf("%d:%d: initialiser of %s: invalid %s = %s; want %s", p.Line, p.Col, s.Name(), f.Name, f.Value, want)
		}
		switch f.Name {
		case "filter_mode":
			if f.Value != "linear" && f.Value != "nearest" {
				return bad("nearest or linear")
			}
			s.SetLinear(f.Value == "linear")
		case "normalized_coords", "force_unnormalized_coords":
			if f.Value != "0" && f.Value != "1" {
				return bad("0 or 1")
			}
			s.SetNormalized((f.Value == "1") == (f.Name == "normalized_coords"))
		case "addr_mode_0", "addr_mode_1", "addr_mode_2":
			mode, ok := ptxModes[f.Value]
			if !ok {
				return bad("wrap, mirror, clamp_ogl, clamp_to_edge or clamp_to_border")
			}
			s.SetMode(int(f.Name[len(f.Name)-1]-'0'), mode)
		case "width", "height", "depth", "channel_data_type", "channel_order", "array_size", "memory_layout", "num_mipmap_levels", "num_samples":
			// These come from what the host binds.
		default:
			return fmt.Errorf("%d:%d: initialiser of %s: unknown field %s", p.Line, p.Col, s.Name(), f.Name)
		}
	}
	return nil
}

// textureHandle is the handle of a reference at module scope.
func (im *image) textureHandle(v *ptx.Var) uint64 {
	if im.m == nil {
		return 0
	}
	return im.m.tex.byVar[v]
}

// Textures are what handles stand for.
func (m *Machine) Textures() *texture.Table { return &m.tex.Table }

// Handle is that of the reference of a name at the scope of a module, 0 if there is none.
func (m *Machine) Handle(mod *ptx.Module, name string) uint64 {
	for _, v := range mod.Vars {
		if v.Name == name {
			return m.tex.byVar[v]
		}
	}
	return 0
}

// HasTexture reports whether the program has a texture or surface reference of that
// name.
func (m *Machine) HasTexture(name string, surface bool) bool {
	kind := texture.IsTexture
	if surface {
		kind = texture.IsSurface
	}
	return m.tex.Has(name, kind)
}

// BindTexture binds the texture, surface or sampler references of the name, and the
// kernel parameters of these types with that name. A sampler takes only filtering and
// address modes. Zero values of filtering, address modes and normalised coordinates in
// t are replaced by those of the program's initialiser of the reference.
func (m *Machine) BindTexture(name string, t texture.Texture) error {
	return m.tex.Bind(m.mem, name, t)
}

// BindTextureOf is BindTexture for the reference of that name in one of the linked
// modules, numbered from 0: other modules may have their own reference of that name.
func (m *Machine) BindTextureOf(module int, name string, t texture.Texture) error {
	if module >= 0 && module < len(m.prog.mods) {
		if h := m.Handle(m.prog.mods[module], name); h != 0 {
			return m.tex.Find(h).Bind(m.mem, t)
		}
	}
	return m.BindTexture(name, t)
}

// TextureObject makes a texture object, as Objects.Add does.
func (m *Machine) TextureObject(t texture.Texture) (uint64, error) {
	return m.tex.Objects.Add(m.mem, t)
}

// texSource is how an instruction names a texture, sampler or surface.
type texSource struct {
	handle uint64 // of a reference at module scope, or a parameter's fallback
	r      ref    // register with the handle, none for a reference
	wide   bool
	param  int // offset of a kernel parameter with the handle, -1 if none
	want   texture.Kind
	query  bool // if want is a sampler, a texture is also accepted
}

// texSource decodes the part of an operand that names a texture, sampler or
// surface.
func (d *dec) texSource(a *ptx.Operand, want texture.Kind) (texSource, error) {
	s := texSource{r: none, param: -1, want: want}
	if a.Kind == ptx.OpAddr {
		if a.Offset != 0 || len(a.List) == 0 {
			return s, errors.New("has an offset to a texture or surface")
		}
		a = &a.List[0]
	}
	switch a.Kind {
	case ptx.OpTexAddr:
		return d.texSource(&a.List[0], want)
	case ptx.OpReg:
		r, c, t, err := d.reg(a, false)
		if err == nil && c != c64 && c != c32 {
			err = fmt.Errorf("has a texture or surface in %s, which has type .%s", a.Name, t)
		}
		s.r, s.wide = r, c == c64
		return s, err
	case ptx.OpSym:
		v := a.Var
		if v == nil || !isTexVar(v) {
			return s, fmt.Errorf("needs a texture, sampler or surface instead of %s", a.Name)
		}
		if v.Space == ptx.SpaceParam {
			if !d.ast.Entry || !isParam(d.ast, v) {
				return s, fmt.Errorf("names %s, but only kernels have parameters of type .%s", v.Name, v.Type)
			}
			for _, p := range d.im.kernel.params {
				if p.Name == v.Name {
					s.param = p.Offset
				}
			}
		}
		s.handle = d.im.textureHandle(v)
		return s, nil
	}
	return s, fmt.Errorf("needs a texture, sampler or surface instead of %q", a.Name)
}

// uniform reports whether the lanes of m all name the same thing.
func (s *texSource) uniform(w *warp, m uint32) bool {
	if s.r == none {
		return true
	}
	first := bits.TrailingZeros32(m) & 31
	if s.wide {
		h := w.u64(s.r)
		for k := m; k != 0; k &= k - 1 {
			if h[bits.TrailingZeros32(k)&31] != h[first] {
				return false
			}
		}
		return true
	}
	h := w.u32(s.r)
	for k := m; k != 0; k &= k - 1 {
		if h[bits.TrailingZeros32(k)&31] != h[first] {
			return false
		}
	}
	return true
}

// slot finds the target that lane i of an instruction names, nil after a fault. An
// unbound reference is a fault.
func (w *warp) slot(s *texSource, i int) *texture.Slot {
	h := s.handle
	switch {
	case s.r != none && s.wide:
		h = w.u64(s.r)[i&31]
	case s.r != none:
		h = uint64(w.u32(s.r)[i&31])
	case s.param >= 0 && s.param+8 <= len(w.blk.params):
		if p := le.Uint64(w.blk.params[s.param:]); p != 0 {
			h = p
		}
	}
	t, err := w.blk.im.m.tex.Get(h, s.want, s.query)
	if err != nil {
		w.failf(1<<i, "%v", err)
	}
	return t
}

// texGeometry is the shape of an access.
type texGeometry struct {
	name          string
	dims          int // that locate a texel within a layer; 3 for cubes, a direction
	layer, sample int // place in the coordinates, -1 if none
	first         int // place of the first of dims
	cube          bool
}

var texGeometries = []texGeometry{
	{name: "1d", dims: 1, layer: -1, sample: -1},
	{name: "2d", dims: 2, layer: -1, sample: -1},
	{name: "3d", dims: 3, layer: -1, sample: -1},
	{name: "a1d", dims: 1, layer: 0, sample: -1, first: 1},
	{name: "a2d", dims: 2, layer: 0, sample: -1, first: 1},
	{name: "cube", dims: 3, layer: -1, sample: -1, cube: true},
	{name: "acube", dims: 3, layer: 0, sample: -1, first: 1, cube: true},
	{name: "2dms", dims: 2, layer: -1, sample: 0, first: 1},
	{name: "a2dms", dims: 2, layer: 0, sample: 1, first: 2},
}

// geometryOf finds the geometry among an instruction's modifiers.
func geometryOf(in *ptx.Inst) (texGeometry, error) {
	for _, g := range texGeometries {
		if slices.Contains(in.Mods, g.name) {
			return g, nil
		}
	}
	return texGeometry{}, errors.New("needs a geometry such as .2d")
}

// texCoords describes the coordinates of an access.
type texCoords struct {
	texGeometry
	r      [3]ref
	layerR ref
	sampR  ref
}

// coords decodes the coordinates of an access, which are of type t.
func (d *dec) coords(in *ptx.Inst, a *ptx.Operand, t ptx.Type) (texCoords, error) {
	var c texCoords
	var err error
	if c.texGeometry, err = geometryOf(in); err != nil {
		return c, err
	}
	list, err := d.texVector(a, c.first+c.dims)
	if err != nil {
		return c, err
	}
	c.layerR, c.sampR, c.r = none, none, [3]ref{none, none, none}
	for k := range c.dims {
		if c.r[k], err = d.src32(&list[c.first+k], t); err != nil {
			return c, err
		}
	}
	if c.layer >= 0 {
		if c.layerR, err = d.src32(&list[c.layer], "u32"); err != nil {
			return c, err
		}
	}
	if c.sample >= 0 {
		c.sampR, err = d.src32(&list[c.sample], "u32")
	}
	return c, err
}

// texVector lists the elements of an operand that is a vector in braces, a
// vector register or a scalar, at least n of them.
func (d *dec) texVector(a *ptx.Operand, n int) ([]ptx.Operand, error) {
	list := []ptx.Operand{*a}
	switch {
	case a.Kind == ptx.OpVec:
		list = a.List
	case a.Kind == ptx.OpReg && a.Var != nil && a.Var.Vec > 1 && a.Elem == "":
		list = nil
		for k := range min(a.Var.Vec, 4) {
			e := *a
			e.Elem = "xyzw"[k : k+1]
			list = append(list, e)
		}
	}
	if len(list) < n {
		return nil, fmt.Errorf("needs %d elements, not %d", n, len(list))
	}
	return list, nil
}

// texParts splits the operand [texture, {coordinates}] or [texture, sampler,
// {coordinates}].
func texParts(a *ptx.Operand) (tex, smp, coords *ptx.Operand, err error) {
	if a.Kind == ptx.OpTexAddr {
		switch l := a.List; len(l) {
		case 2:
			return &l[0], nil, &l[1], nil
		case 3:
			return &l[0], &l[1], &l[2], nil
		}
	}
	return nil, nil, nil, errors.New("needs an operand of the form [texture, {coordinates}]")
}
