package cuda

import (
	"maps"
	"slices"
)

// TexRef are the settings of a texture or surface reference of the driver
// (CUtexref). They take effect with the next launch of a kernel of its module.
type TexRef struct {
	Image      Image // its Channel is for linear memory only
	Sampling   Sampling
	AsIntegers bool // integers are not read as fractions
	Flags      uint32

	module  *module // nil if it belongs to none
	surface bool
}

// Texture returns the handle of a module's texture reference, or surface
// reference.
func (d Driver) Texture(mod uint64, name string, surface bool) (h uint64, res Result) {
	res = d.inModule(mod, func(r *Runtime, m *module) Result {
		if h = m.driver.textures[name]; h != 0 && r.texrefs[h].surface == surface {
			return ResultSuccess
		}
		if !m.machine[r.number].HasTexture(name, surface) {
			return ResultNotFound
		}
		h = r.handle()
		m.driver.textures[name] = h
		r.textures[h] = &reference{module: m, name: name, surface: surface}
		r.texrefs[h] = &TexRef{module: m, surface: surface}
		return ResultSuccess
	})
	return h, res
}

// NewTexture makes a texture reference outside of any module.
func (d Driver) NewTexture() (h uint64, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		if _, res := r.here(t); res != ResultSuccess {
			return res
		}
		h = r.handle()
		r.texrefs[h] = &TexRef{}
		return ResultSuccess
	})
	return h, res
}

// EndTexture destroys a texture reference of NewTexture.
func (d Driver) EndTexture(h uint64) Result {
	return d.SeeTexture(h, false, func(x *TexRef) Result {
		if x.module != nil {
			return ResultInvalidValue
		}
		delete(d.t.r.texrefs, h)
		return ResultSuccess
	})
}

// SeeTexture calls a function with a texture or surface reference and the lock held.
func (d Driver) SeeTexture(h uint64, surface bool, f func(x *TexRef) Result) Result {
	return d.locked(func(r *Runtime, t *Thread) Result {
		if _, res := r.here(t); res != ResultSuccess {
			return res
		}
		x := r.texrefs[h]
		if x == nil || x.surface != surface {
			return ResultInvalidHandle
		}
		return f(x)
	})
}

// EditTexture changes one: no device has it bound as it is then.
func (d Driver) EditTexture(h uint64, surface bool, f func(x *TexRef) Result) Result {
	return d.SeeTexture(h, surface, func(x *TexRef) Result {
		if ref := d.t.r.textures[h]; ref != nil {
			clear(ref.bound[:])
		}
		return f(x)
	})
}

// bindTextures binds the references of a kernel's module that have an image and are not bound
// on the current device.
func (d Driver) bindTextures(fn uint64) Result {
	type binding struct {
		handle uint64
		TexRef
	}
	var list []binding
	d.locked(func(r *Runtime, t *Thread) Result {
		m := r.kernels[fn].module
		if m.driver == nil {
			return ResultSuccess
		}
		for _, h := range slices.Sorted(maps.Values(m.driver.textures)) {
			x, ref := r.texrefs[h], r.textures[h]
			if i := x.Image; !ref.bound[r.number] && (i.Array != 0 || i.Mipmap != 0 || i.Addr != 0) {
				ref.norm = !x.AsIntegers
				list = append(list, binding{h, *x})
			}
		}
		return ResultSuccess
	})
	for _, b := range list {
		err := Success
		if b.surface {
			err = d.t.BindSurface(b.handle, b.Image.Array)
		} else {
			err = d.t.Bind(b.handle, b.Image, b.Sampling)
		}
		if err != Success {
			return err.Result()
		}
	}
	return ResultSuccess
}
