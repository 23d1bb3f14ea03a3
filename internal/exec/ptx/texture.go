package ptx

import (
	"errors"

	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// Texture describes a texture or surface: texels in device memory and how they
// are read.
type Texture struct {
	Addr                 uint64
	Format               string // element type: u8 s8 u16 s16 f16 u32 s32 f32
	Channels             int    // 1, 2 or 4
	Width, Height, Depth int    // in texels; 0 where the dimension is absent
	Pitch                int    // bytes per row; 0: rows lie tight
	Linear               bool   // linear filtering, else the nearest texel
	Address              [3]string
	Normalized           bool // coordinates in [0, 1)
	ReadNormalized       bool // integer texels are read as [0, 1] or [-1, 1]
}

type textures struct{}

func (m *Machine) initTextures()                  {}
func (im *image) textureHandle(v *ptx.Var) uint64 { return 0 }

// BindTexture binds a texture reference.
func (m *Machine) BindTexture(name string, t Texture) error { return errors.ErrUnsupported }

// TextureObject makes a texture object and returns its handle.
func (m *Machine) TextureObject(t Texture) (uint64, error) { return 0, errors.ErrUnsupported }
