package cuda

import (
	"slices"
	"testing"
)

// TestUnretained: the primary context has a handle, and can be made current, before it is retained.
func TestUnretained(t *testing.T) {
	d := drive(t, nil)
	sync := func() Result { return d.Do(func(t *Thread) Error { return t.Synchronize() }) }
	d.is("init", d.Init(0), ResultSuccess)
	p, res := d.Primary(0)
	d.is("primary", res, ResultSuccess)
	if _, active, _ := d.PrimaryState(0); active {
		t.Error("its handle makes it active")
	}
	d.is("set", d.SetContext(p), ResultSuccess)
	d.is("before it is retained", sync(), ResultContextIsDestroyed)
	if h, res := d.RetainPrimary(0); h != p || res != ResultSuccess {
		t.Errorf("retained %#x, %v; want %#x", h, res, p)
	}
	d.is("after", sync(), ResultSuccess)
	_, res = d.Primary(1)
	d.is("another device", res, ResultInvalidDevice)
}

// TestLocals: contexts keep values, and whoever keeps one hears of the end of its context.
func TestLocals(t *testing.T) {
	d := drive(t, nil)
	var heard []string
	hears := func(name string) func() { return func() { heard = append(heard, name) } }
	value := func(what string, c, key, want uint64, err Result) {
		t.Helper()
		if v, res := d.Local(c, key); v != want || res != err {
			t.Errorf("%s: %d, %v; want %d, %v", what, v, res, want, err)
		}
	}
	value("before init", 0, 1, 0, ResultNotInitialized)
	d.is("init", d.Init(0), ResultSuccess)
	value("without a context", 0, 1, 0, ResultInvalidContext)
	a, _ := d.CreateContext(0, 0)
	b, _ := d.CreateContext(0, 0)
	value("nothing kept", 0, 1, 0, ResultInvalidHandle)
	d.is("of the current one", d.SetLocal(0, 1, 11, hears("b1")), ResultSuccess)
	d.is("of another", d.SetLocal(a, 1, 12, hears("a1")), ResultSuccess)
	value("current", 0, 1, 11, ResultSuccess)
	value("by handle", b, 1, 11, ResultSuccess)
	value("another", a, 1, 12, ResultSuccess)
	d.is("again", d.SetLocal(a, 1, 13, hears("a1 again")), ResultSuccess)
	d.is("without a function", d.SetLocal(a, 2, 14, nil), ResultSuccess)
	d.is("a third", d.SetLocal(a, 3, 15, hears("a3")), ResultSuccess)
	d.is("a fourth", d.SetLocal(a, 4, 16, hears("a4")), ResultSuccess)
	d.is("delete", d.DeleteLocal(a, 4), ResultSuccess)
	d.is("delete again", d.DeleteLocal(a, 4), ResultInvalidHandle)
	d.is("garbage", d.SetLocal(12345, 1, 1, nil), ResultInvalidContext)
	d.is("destroy", d.DestroyContext(a), ResultSuccess)
	value("of a destroyed context", a, 1, 0, ResultInvalidContext)
	p, _ := d.RetainPrimary(0)
	d.is("primary", d.SetLocal(p, 9, 1, hears("p9")), ResultSuccess)
	d.is("reset", d.ResetPrimary(0), ResultSuccess)
	value("after the reset", p, 9, 0, ResultInvalidHandle)
	d.is("release", d.ReleasePrimary(0), ResultSuccess)
	if want := []string{"a1 again", "a3", "p9"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}
