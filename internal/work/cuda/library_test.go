package cuda

import (
	"slices"
	"testing"
)

// A library needs no context and outlives all of them; its variables begin anew with the
// device. It is no module, and a module is no library.
func TestLibrary(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		d := drive(t, mode)
		if _, res, _ := d.LoadLibrary("", []byte(plusText)); res != ResultNotInitialized {
			t.Errorf("before initialisation: %v", res)
		}
		d.is("init", d.Init(0), ResultSuccess)
		lib, res, wrong := d.LoadLibrary("kernels.ptx", []byte(plusText))
		d.is("load", res, ResultSuccess)
		if wrong != nil {
			t.Fatal(wrong)
		}
		plus, res := d.Function(lib, "plus")
		d.is("a kernel", res, ResultSuccess)
		if again, _ := d.Function(lib, "plus"); again != plus {
			t.Error("a kernel has one handle")
		}
		if of, res := d.Library(plus); of != lib || res != ResultSuccess {
			t.Errorf("the library is %#x, %v", of, res)
		}
		if list, res := d.Functions(lib); !slices.Equal(list, []string{"plus", "fetch", "wild"}) || res != ResultSuccess {
			t.Errorf("%v, %v", list, res)
		}
		if _, res := d.Function(lib, "nothing"); res != ResultNotFound {
			t.Errorf("no such kernel: %v", res)
		}
		if _, _, res := d.Managed(lib, "bias"); res != ResultNotFound {
			t.Errorf("a variable that is not managed: %v", res)
		}
		d.is("a launch without a context", d.Launch(plus, one, false, params(uint64(0), uint32(0)), nil), ResultInvalidContext)
		for round := range 2 {
			c, res := d.CreateContext(0, 0)
			d.is("context", res, ResultSuccess)
			if _, res := d.Texture(lib, "nothing", false); res != ResultNotFound {
				t.Errorf("round %d: no such texture: %v", round, res)
			}
			bias, n, res := d.Global(lib, "bias")
			if d.is("variable", res, ResultSuccess); n != 4 {
				t.Errorf("it has %d bytes", n)
			}
			if got := d.read(bias, 1); got[0] != 7 {
				t.Errorf("round %d: the variable begins with %d, want 7", round, got[0])
			}
			d.is("launch", d.Launch(plus, Call{Grid: one.Grid, Block: one.Grid}, false, params(bias, uint32(50)), nil), ResultSuccess)
			if got := d.read(bias, 1); got[0] != 50 {
				t.Errorf("round %d: %d, want 50", round, got[0])
			}
			d.is("destroy", d.DestroyContext(c), ResultSuccess) // resets the device
			if round == 0 {
				continue
			}
			if x, res := d.Texture(lib, "image", false); res != ResultSuccess || x == 0 {
				t.Errorf("a texture reference after a reset: %#x, %v", x, res)
			}
			d.is("a library is no module", d.UnloadModule(lib), ResultInvalidHandle)
			d.is("unload", d.UnloadLibrary(lib), ResultSuccess)
			d.is("unload again", d.UnloadLibrary(lib), ResultInvalidHandle)
			if _, res := d.Library(plus); res != ResultInvalidHandle {
				t.Errorf("its kernel: %v", res)
			}
		}
		d.ready()
		mod := d.module(plusText)
		d.is("a module is no library", d.UnloadLibrary(mod), ResultInvalidHandle)
		if _, res := d.Library(d.function(mod, "plus")); res != ResultInvalidHandle {
			t.Errorf("the library of a module's kernel: %v", res)
		}
		for image, want := range map[string]Result{"\x7fELF": ResultNoBinary, "": ResultInvalidImage, ".version 7.0\n.nonsense": ResultInvalidPTX} {
			if _, res, wrong := d.LoadLibrary("", []byte(image)); res != want || wrong == nil {
				t.Errorf("%q: %v, %v, want %v", image, res, wrong, want)
			}
		}
	})
}
