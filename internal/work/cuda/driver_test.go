package cuda

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
)

// plus adds the thread's number and k, and stores the sum to p; more stores twice
// that, by a function in another text.
const (
	plusText = `.version 7.0
.target sm_70
.address_size 64
.global .texref image;
.visible .global .align 4 .u32 bias = 7;
.visible .entry plus(.param .u64 p, .param .u32 k)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd0, [p];
	ld.param.u32 %r1, [k];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd2, %rd0, %rd1;
	add.u32 %r2, %r0, %r1;
	st.global.u32 [%rd2], %r2;
	ret;
}
.visible .entry fetch(.param .u64 p)
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd0, [p];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd2, %rd0, %rd1;
	tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [image, {%r0}];
	st.global.u32 [%rd2], %r1;
	ret;
}
.visible .entry wild()
{
	.reg .b64 %rd<2>;
	mov.u64 %rd0, 64;
	st.global.u32 [%rd0], 1;
	ret;
}
`
	mainText = `.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 out) twice(.param .b32 in);
.visible .entry more(.param .u64 p)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	.param .b32 in;
	.param .b32 out;
	ld.param.u64 %rd0, [p];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.param.b32 [in], %r0;
	call (out), twice, (in);
	ld.param.b32 %r1, [out];
	st.global.u32 [%rd2], %r1;
	ret;
}
`
	helpText = `.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 out) twice(.param .b32 in)
{
	.reg .b32 %r<2>;
	ld.param.b32 %r0, [in];
	add.u32 %r0, %r0, %r0;
	st.param.b32 [out], %r0;
	ret;
}
`
)

// driven is a thread's driver in a test.
type driven struct {
	Driver
	*bench
}

// drive starts a program that uses only the driver API.
func drive(t testing.TB, edit func(*Options)) *driven {
	t.Helper()
	b := start(t, edit)
	return &driven{b.Thread.Driver(), b}
}

func (d *driven) is(what string, got, want Result) {
	d.bench.t.Helper()
	if got != want {
		d.bench.t.Errorf("%s: %v, want %v\n%s", what, got, want, d.log)
	}
}

// ready makes a context current.
func (d *driven) ready() *driven {
	d.bench.t.Helper()
	d.is("init", d.Init(0), ResultSuccess)
	_, res := d.CreateContext(0, 0)
	d.is("context", res, ResultSuccess)
	return d
}

func (d *driven) module(text string) uint64 {
	d.bench.t.Helper()
	h, res, wrong := d.LoadModule("", []byte(text))
	if res != ResultSuccess || wrong != nil {
		d.bench.t.Fatalf("module: %v, %v", res, wrong)
	}
	return h
}

func (d *driven) function(mod uint64, name string) uint64 {
	d.bench.t.Helper()
	h, res := d.Function(mod, name)
	d.is(name, res, ResultSuccess)
	return h
}

// alloc returns device memory.
func (d *driven) alloc(n uint64) (addr uint64) {
	d.bench.t.Helper()
	d.is("alloc", d.Do(func(t *Thread) (err Error) { addr, err = t.Malloc(n); return err }), ResultSuccess)
	return addr
}

func (d *driven) read(addr uint64, n int) []uint32 {
	d.bench.t.Helper()
	d.is("copy", d.Do(func(t *Thread) Error { return t.Copy(stack, addr, uint64(4*n), DeviceToHost, 0, false) }), ResultSuccess)
	return d.words(stack, n)
}

// one is a launch of a block of four threads.
var one = Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: 4, Y: 1, Z: 1}}

// params are arguments in one buffer.
func params(list ...any) []byte {
	var b bytes.Buffer
	for _, x := range list {
		if err := binary.Write(&b, binary.LittleEndian, x); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

// TestContexts: the calls that a thread may make depend on its current context.
func TestContexts(t *testing.T) {
	d := drive(t, nil)
	sync := func() Result { return d.Do(func(t *Thread) Error { return t.Synchronize() }) }
	current := func() uint64 { h, res := d.Context(); d.is("current", res, ResultSuccess); return h }
	if _, res := d.Context(); res != ResultNotInitialized {
		t.Errorf("before Init: %v", res)
	}
	d.is("flags", d.Init(1), ResultInvalidValue)
	d.is("before init", sync(), ResultNotInitialized)
	d.is("init", d.Init(0), ResultSuccess)
	d.is("without a context", sync(), ResultInvalidContext)
	if _, res := d.CreateContext(0, 1); res != ResultInvalidDevice {
		t.Errorf("a second device: %v", res)
	}
	if _, res := d.CreateContext(1<<30, 0); res != ResultInvalidValue {
		t.Errorf("flags: %v", res)
	}
	a, _ := d.CreateContext(4, 0)
	d.is("with a context", sync(), ResultSuccess)
	b, _ := d.CreateContext(0, 0)
	if current() != b || a == b {
		t.Error("a new context is current")
	}
	if id, flags, res := d.ContextInfo(a); id != 1 || flags != 4 || res != ResultSuccess {
		t.Errorf("%d, %d, %v", id, flags, res)
	}
	d.is("push", d.PushContext(a), ResultSuccess)
	if h, res := d.PopContext(); h != a || res != ResultSuccess || current() != b {
		t.Errorf("popped %#x, %v", h, res)
	}
	d.is("set", d.SetContext(a), ResultSuccess)
	if h, _ := d.PopContext(); h != a || current() != a {
		t.Error("b was replaced; a is below it")
	}
	d.is("push of nothing", d.PushContext(0), ResultInvalidContext)
	d.is("set to garbage", d.SetContext(12345), ResultInvalidContext)
	d.is("destroy", d.DestroyContext(b), ResultSuccess)
	d.is("twice", d.DestroyContext(b), ResultInvalidContext)
	d.is("set to a destroyed context", d.SetContext(b), ResultInvalidContext)

	// Another thread has its own stack, and sees that a context has been destroyed.
	other := d.r.Thread(2).Driver()
	d.is("other", other.Do(func(t *Thread) Error { return t.Synchronize() }), ResultInvalidContext)
	d.is("other", other.SetContext(a), ResultSuccess)
	d.is("destroy", d.DestroyContext(a), ResultSuccess)
	d.is("other", other.Do(func(t *Thread) Error { return t.Synchronize() }), ResultContextIsDestroyed)
	d.is("none left", sync(), ResultInvalidContext)

	// The primary context is the runtime's.
	if _, active, res := d.PrimaryState(0); active || res != ResultSuccess {
		t.Errorf("active %v, %v", active, res)
	}
	d.want("a call of the runtime", d.Synchronize(), Success)
	h, res := d.RetainPrimary(0)
	d.is("retain", res, ResultSuccess)
	if current() != h {
		t.Error("the runtime's context is not the primary one")
	}
	d.is("destroy", d.DestroyContext(h), ResultInvalidContext)
	d.is("release", d.ReleasePrimary(0), ResultSuccess)
	d.is("release", d.ReleasePrimary(0), ResultInvalidContext)
	d.is("after its last release", sync(), ResultContextIsDestroyed)
	d.want("the runtime makes it again", d.Synchronize(), Success)
	d.is("and then it is there", sync(), ResultSuccess)

	h, res = d.AttachContext()
	d.is("detach of the primary", d.DetachContext(h), ResultInvalidContext)
	d.is("attach", res, ResultSuccess)
	c, _ := d.CreateContext(0, 0)
	_, res = d.AttachContext()
	d.is("attach", res, ResultSuccess)
	d.is("detach", d.DetachContext(c), ResultSuccess)
	if current() != c {
		t.Error("one user is left")
	}
	d.is("detach", d.DetachContext(c), ResultSuccess)
	if current() == c {
		t.Error("no user is left")
	}
}

// TestOwned: objects that are made in a context end with it.
func TestOwned(t *testing.T) {
	d := drive(t, nil)
	d.is("init", d.Init(0), ResultSuccess)
	keep, _ := d.CreateContext(0, 0)
	kept := d.alloc(64)
	d.Own(OwnedMemory, kept)
	c, _ := d.CreateContext(0, 0)
	gone := d.alloc(64)
	d.Own(OwnedMemory, gone)
	mod := d.module(plusText)
	var stream uint64
	d.is("stream", d.Do(func(t *Thread) (err Error) { stream, err = t.StreamCreate(0, 0); return err }), ResultSuccess)
	d.Own(OwnedStream, stream)
	if h, res := d.StreamContext(stream); h != c || res != ResultSuccess {
		t.Errorf("the stream is of %#x, %v", h, res)
	}
	if h, res := d.OwnerOf(kept); h != keep || res != ResultSuccess {
		t.Errorf("the memory is of %#x, %v", h, res)
	}
	d.is("destroy", d.DestroyContext(c), ResultSuccess)
	if _, res := d.Place(gone); res != ResultNotFound {
		t.Errorf("its memory: %v", res)
	}
	if p, res := d.Place(kept + 5); p.Base != kept || p.Size != 64 || p.Mapped != kept || p.Length != 64 || p.Access != 3 || res != ResultSuccess {
		t.Errorf("that of the other: %+v, %v", p, res)
	}
	if _, res := d.Function(mod, "plus"); res != ResultInvalidHandle {
		t.Errorf("its module: %v", res)
	}
	if _, res := d.StreamContext(stream); res != ResultInvalidHandle {
		t.Errorf("its stream: %v", res)
	}

	// A fault persists until the last context is destroyed; the driver's errors are
	// not the runtime's.
	wild := d.function(d.module(plusText), "wild")
	d.is("a wild store", d.Launch(wild, one, false, nil, nil), ResultSuccess)
	d.is("what follows", d.Do(func(t *Thread) Error { return t.Synchronize() }), IllegalAddress.Result())
	d.is("destroy", d.DestroyContext(keep), ResultSuccess)
	d.ready()
	d.is("a new one", d.Do(func(t *Thread) Error { return t.Synchronize() }), ResultSuccess)
	d.is("its kernel", d.Launch(wild, one, false, nil, nil), ResultInvalidHandle)
	d.want("the runtime knows of nothing", d.LastError(), Success)
}

// TestModules: kernels and variables by name, launches with arguments in both
// forms.
func TestModules(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		saved := map[string]string{}
		d := drive(t, func(o *Options) {
			if mode != nil {
				mode(o)
			}
			o.Save = func(name string, text []byte) error { saved[name] = string(text); return nil }
		}).ready()
		p := d.alloc(16)
		mod := d.module(plusText)
		f := d.function(mod, "plus")
		if again := d.function(mod, "plus"); again != f {
			t.Error("a kernel has one handle")
		}
		if _, res := d.Function(mod, "nothing"); res != ResultNotFound {
			t.Errorf("no such kernel: %v", res)
		}
		if name, m, res := d.FunctionOf(f); name != "plus" || m != mod || res != ResultSuccess {
			t.Errorf("%s of %#x, %v", name, m, res)
		}
		if list, _ := d.Functions(mod); !slices.Equal(list, []string{"plus", "fetch", "wild"}) {
			t.Errorf("%v", list)
		}
		if why, res := d.Unusable(mod); why != "" || res != ResultSuccess {
			t.Errorf("%q, %v", why, res)
		}
		if o, n, res := d.Parameter(f, 1); o != 8 || n != 4 || res != ResultSuccess {
			t.Errorf("%d, %d, %v", o, n, res)
		}
		if _, _, res := d.Parameter(f, 2); res != ResultInvalidValue {
			t.Errorf("%v", res)
		}
		d.is("a buffer", d.Launch(f, one, false, params(p, uint32(10)), nil), ResultSuccess)
		if got := d.read(p, 4); !slices.Equal(got, []uint32{10, 11, 12, 13}) {
			t.Errorf("%d", got)
		}
		values := [][]byte{params(p), params(uint32(20))}
		d.is("one by one", d.Launch(f, one, false, nil, func(n int, to []byte) { copy(to, values[n]) }), ResultSuccess)
		if got := d.read(p, 4); !slices.Equal(got, []uint32{20, 21, 22, 23}) {
			t.Errorf("%d", got)
		}
		d.is("a short buffer", d.Launch(f, one, false, params(p), nil), ResultInvalidValue)
		if !strings.Contains(d.log.String(), "plus has 12 bytes of parameters, but the launch passes 8") {
			t.Errorf("%s", d.log)
		}
		d.is("no arguments", d.Launch(f, one, false, nil, nil), ResultInvalidValue)
		d.is("a launch too large", d.Launch(f, Call{Grid: one.Grid, Block: Dim3{X: 4096, Y: 1, Z: 1}}, false, params(p, uint32(0)), nil), ResultInvalidValue)
		d.is("no kernel", d.Launch(99, one, false, nil, nil), ResultInvalidHandle)

		// The old style.
		d.is("shape", d.Shape(f, one.Block), ResultSuccess)
		d.is("shared", d.SharedSize(f, 16), ResultSuccess)
		d.is("size", d.SetParameter(f, 12, nil), ResultSuccess)
		d.is("first", d.SetParameter(f, 0, params(p)), ResultSuccess)
		d.is("second", d.SetParameter(f, 8, params(uint32(30))), ResultSuccess)
		d.is("far", d.SetParameter(f, 1<<40, params(uint32(30))), ResultInvalidValue)
		d.is("launch", d.LaunchShaped(f, one.Grid, 0), ResultSuccess)
		if got := d.read(p, 4); !slices.Equal(got, []uint32{30, 31, 32, 33}) {
			t.Errorf("%d", got)
		}

		addr, n, res := d.Global(mod, "bias")
		if d.is("global", res, ResultSuccess); n != 4 || d.read(addr, 1)[0] != 7 {
			t.Errorf("%d bytes of %d", n, d.read(addr, 1))
		}
		if _, _, res := d.Global(mod, "plus"); res != ResultNotFound {
			t.Errorf("a kernel is not a variable: %v", res)
		}
		d.is("a variable is not freed", d.Do(func(t *Thread) Error { return t.Free(addr) }), ResultInvalidValue)

		// The runtime accepts the driver's kernel, and memory is common to both.
		d.want("runtime", d.Thread.Launch(f, one, false, func(n, _ int, to []byte) { copy(to, values[n]) }), Success)
		d.is("unload", d.UnloadModule(mod), ResultSuccess)
		d.is("twice", d.UnloadModule(mod), ResultInvalidHandle)
		d.is("its kernel", d.Launch(f, one, false, params(p, uint32(0)), nil), ResultInvalidHandle)
		if _, res := d.Place(addr); res != ResultNotFound {
			t.Errorf("its variable: %v", res)
		}
		if !slices.Equal(slices.Sorted(maps.Keys(saved)), []string{"app.2.ptx"}) || saved["app.2.ptx"] != plusText {
			t.Errorf("saved: %v", saved)
		}
	})
}

// TestManyModules: a program may load and unload any number of modules.
func TestManyModules(t *testing.T) {
	d := drive(t, nil).ready()
	_, before, _ := d.MemInfo()
	for range 300 {
		mod := d.module(plusText)
		d.function(mod, "plus")
		d.is("unload", d.UnloadModule(mod), ResultSuccess)
	}
	if _, after, _ := d.MemInfo(); after != before || len(d.r.loaded) != 0 || len(d.r.kernels) != len(kernelNames) {
		t.Errorf("%d bytes of %d are left, %d modules, %d kernels", after, before, len(d.r.loaded), len(d.r.kernels))
	}
}

// TestBadModules: the message for an invalid module names the reason, and nothing
// else is affected.
func TestBadModules(t *testing.T) {
	d := drive(t, nil).ready()
	pack := func(e fatbin.Entry) []byte { return fatbin.Append(nil, e) }
	good := pack(fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(plusText)})
	for _, c := range []struct {
		what  string
		image []byte
		want  Result
		says  string
	}{
		{"nothing", nil, ResultInvalidImage, "empty"},
		{"a word", []byte("hello"), ResultInvalidPTX, ":1:1: "},
		{"a wrong line", []byte(strings.Replace(plusText, "mov.u32 %r0, %tid.x;", "mov.u32 %r0 %tid.x;", 1)), ResultInvalidPTX, ":12:14: "},
		{"an ELF file of something else", []byte("\x7fELF\x02\x01\x01abcdefghijklmnop"), ResultNoBinary, "no ELF file of device code"},
		{"a fat binary of machine code", pack(fatbin.Entry{Kind: fatbin.Cubin, SM: 75, Data: []byte{1}}), ResultNoBinary, "no PTX"},
		{"a later GPU's", []byte(strings.Replace(plusText, "sm_70", "sm_90", 1)), ResultInvalidPTX, "sm_90"},
		{"a truncated fat binary", good[:len(good)-40], ResultInvalidImage, "truncated"},
		{"a truncated link", []byte(linkedMagic + "\x20\x00\x00\x00\x00\x00\x00\x00\x05"), ResultInvalidImage, "truncated"},
		{"a name beyond the end of a link", []byte(linkedMagic + "\x18\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00"), ResultInvalidImage, "truncated"},
		{"an empty link", []byte(linkedMagic + "\x10\x00\x00\x00\x00\x00\x00\x00"), ResultInvalidImage, "empty"},
	} {
		h, res, wrong := d.LoadModule("", c.image)
		if res != c.want || wrong == nil || !strings.Contains(wrong.Error(), c.says) || h != 0 {
			t.Errorf("%s: %v, %v; want %v and %q", c.what, res, wrong, c.want, c.says)
		}
	}
	for n := range len(good) { // any truncation of a fat binary
		if _, res, _ := d.LoadModule("", good[:n]); res == ResultSuccess {
			t.Errorf("%d of %d bytes load", n, len(good))
		}
	}
	half := d.module(strings.Replace(plusText, "st.global.u32 [%rd0], 1;", "tcgen05.shift.cta_group::1.down [0];", 1))
	if why, res := d.Unusable(half); !strings.HasPrefix(why, "kernel wild: app") || !strings.Contains(why, ".ptx:35: ") || res != ResultSuccess {
		t.Errorf("one kernel is unusable: %q, %v", why, res)
	}
	d.is("the others run", d.Launch(d.function(half, "plus"), one, false, params(d.alloc(16), uint32(0)), nil), ResultSuccess)
	d.is("that does not", d.Launch(d.function(half, "wild"), one, false, nil, nil), ResultNotSupported)
	d.log.Reset()
	h, res, wrong := d.LoadModule("dir/kernels64.fatbin", good)
	if res != ResultSuccess || wrong != nil {
		t.Fatal(res, wrong)
	}
	if m, _ := d.r.handled(h); m.name != "kernels64.ptx" {
		t.Errorf("its name is %s", m.name)
	}
	if d.log.Len() > 0 { // the load reports it
		t.Errorf("log: %s", d.log)
	}
}

// TestLinks: texts become one module and define each other's external functions.
func TestLinks(t *testing.T) {
	d := drive(t, nil).ready()
	link := func(texts ...string) uint64 {
		h, res := d.NewLink()
		d.is("link", res, ResultSuccess)
		for _, text := range texts {
			res, wrong := d.AddToLink(h, InputPTX, "part.ptx", append([]byte(text), 0))
			if d.is("part", res, ResultSuccess); wrong != nil {
				t.Error(wrong)
			}
		}
		return h
	}
	h := link(mainText)
	if _, res, wrong := d.CompleteLink(h); res != ResultInvalidPTX || wrong == nil || !strings.Contains(wrong.Error(), "twice") {
		t.Errorf("a part is missing: %v, %v", res, wrong)
	}
	d.is("end", d.EndLink(h), ResultSuccess)
	d.is("end", d.EndLink(h), ResultInvalidHandle)

	h = link(mainText)
	if res, _ := d.AddToLink(h, InputFatBinary, "", fatbin.Append(nil, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(helpText)})); res != ResultSuccess {
		t.Error(res)
	}
	for _, c := range []struct {
		kind Input
		data string
		want Result
	}{
		{InputPTX, "hello", ResultInvalidPTX}, {InputCubin, "\x7fELF1234", ResultNoBinary}, {InputLibrary, "!<arch>", ResultNoBinary},
		{InputPTX, "\x7fELF1234", ResultNoBinary}, {InputFatBinary, "", ResultInvalidImage}, {9, "", ResultInvalidValue},
	} {
		if res, _ := d.AddToLink(h, c.kind, "bad", []byte(c.data)); res != c.want {
			t.Errorf("%q as %d: %v, want %v", c.data, c.kind, res, c.want)
		}
	}
	image, res, wrong := d.CompleteLink(h)
	if res != ResultSuccess || wrong != nil {
		t.Fatal(res, wrong)
	}
	if n, err := ImageBytes(func(offset, n uint64) []byte { return image[offset : offset+n] }); n != len(image) || err != nil {
		t.Errorf("%d bytes of %d, %v", n, len(image), err)
	}
	d.is("end", d.EndLink(h), ResultSuccess)
	mod, res, wrong := d.LoadModule("", image)
	if res != ResultSuccess {
		t.Fatal(res, wrong)
	}
	p := d.alloc(16)
	d.is("launch", d.Launch(d.function(mod, "more"), one, false, params(p), nil), ResultSuccess)
	if got := d.read(p, 4); !slices.Equal(got, []uint32{0, 2, 4, 6}) {
		t.Errorf("%d", got)
	}
	for n := range len(image) {
		if _, res, _ := d.LoadModule("", image[:n]); res == ResultSuccess {
			t.Errorf("%d of %d bytes load", n, len(image))
		}
	}
}

// TestTexRefs: settings of a texture reference take effect at the next launch.
func TestTexRefs(t *testing.T) {
	d := drive(t, nil).ready()
	mod := d.module(plusText)
	if _, res := d.Texture(mod, "bias", false); res != ResultNotFound {
		t.Errorf("a variable is not a texture: %v", res)
	}
	if _, res := d.Texture(mod, "image", true); res != ResultNotFound {
		t.Errorf("a texture is not a surface: %v", res)
	}
	ref, res := d.Texture(mod, "image", false)
	d.is("texture", res, ResultSuccess)
	if again, _ := d.Texture(mod, "image", false); again != ref {
		t.Error("a texture has one handle")
	}
	f, p := d.function(mod, "fetch"), d.alloc(16)
	for _, fill := range []uint32{0x01020304, 0x05060708} {
		texels := d.alloc(16)
		d.is("fill", d.Do(func(t *Thread) Error {
			return t.FillWith(texels, params(fill), Rows{Width: 16, Height: 1, Depth: 1}, 0)
		}), ResultSuccess)
		d.is("edit", d.EditTexture(ref, false, func(x *TexRef) Result {
			x.Image = Image{Addr: texels, Bytes: 16, Channel: Channel{Bits: [4]int32{32}, Kind: 1}}
			x.AsIntegers = true
			return ResultSuccess
		}), ResultSuccess)
		d.is("launch", d.Launch(f, one, false, params(p), nil), ResultSuccess)
		if got := d.read(p, 4); !slices.Equal(got, []uint32{fill, fill, fill, fill}) {
			t.Errorf("%x", got)
		}
	}
	d.is("no texture", d.EditTexture(77, false, nil), ResultInvalidHandle)
	d.is("another kind", d.EditTexture(ref, true, nil), ResultInvalidHandle)
	d.is("a module's", d.EndTexture(ref), ResultInvalidValue)
	own, _ := d.NewTexture()
	d.is("its own", d.EndTexture(own), ResultSuccess)
	d.is("twice", d.EndTexture(own), ResultInvalidHandle)
	d.is("unload", d.UnloadModule(mod), ResultSuccess)
	d.is("after it", d.EditTexture(ref, false, nil), ResultInvalidHandle)
}

// TestTexRefDevices: a texture reference of a library is bound on every device on which a
// kernel is launched, and again after a reset, as it is set then.
func TestTexRefDevices(t *testing.T) {
	d := drive(t, func(o *Options) { o.Devices = 2 }).ready()
	lib, res, _ := d.LoadLibrary("kernels.ptx", []byte(plusText))
	d.is("load", res, ResultSuccess)
	fetch, res := d.Function(lib, "fetch")
	d.is("kernel", res, ResultSuccess)
	use := func(number int) {
		t.Helper()
		p, res := d.RetainPrimary(int32(number))
		d.is("retain", res, ResultSuccess)
		d.is("use", d.SetContext(p), ResultSuccess)
	}
	use(0)
	ref, res := d.Texture(lib, "image", false)
	d.is("texture", res, ResultSuccess)
	var texels uint64
	d.is("texels that both devices share", d.Do(func(t *Thread) (err Error) {
		texels, err = t.MallocHost(16, 0)
		return err
	}), ResultSuccess)
	set := func(fill uint32, n uint64) {
		t.Helper()
		copy(d.host.Bytes(texels, 16), bytes.Repeat(params(fill), 4))
		d.is("edit", d.EditTexture(ref, false, func(x *TexRef) Result {
			x.Image = Image{Addr: texels, Bytes: n, Channel: Channel{Bits: [4]int32{32}, Kind: 1}}
			x.AsIntegers = true
			return ResultSuccess
		}), ResultSuccess)
	}
	sees := func(what string, number int, want ...uint32) {
		t.Helper()
		use(number)
		p := d.alloc(16)
		d.is(what, d.Launch(fetch, one, false, params(p), nil), ResultSuccess)
		if got := d.read(p, 4); !slices.Equal(got, want) {
			t.Errorf("%s: device %d reads %x, want %x", what, number, got, want)
		}
	}
	set(7, 16)
	sees("set", 0, 7, 7, 7, 7)
	sees("set", 1, 7, 7, 7, 7)
	set(8, 8)
	sees("set again, shorter", 1, 8, 8, 0, 0)
	sees("set again, shorter", 0, 8, 8, 0, 0)
	use(1)
	d.is("reset", d.ResetPrimary(1), ResultSuccess)
	sees("after a reset", 1, 8, 8, 0, 0)
}

// TestPatterns: fills with values of several bytes.
func TestPatterns(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		d := drive(t, mode).ready()
		p := d.alloc(64)
		fill := func(at uint64, value []byte, c Rows) Result {
			return d.Do(func(t *Thread) Error { return t.FillWith(at, value, c, 0) })
		}
		d.is("words", fill(p, params(uint32(0xdead)), Rows{Width: 64, Height: 1, Depth: 1}), ResultSuccess)
		d.is("halves", fill(p+8, params(uint16(0x1234)), Rows{Width: 4, Height: 2, Depth: 1, DstPitch: 16}), ResultSuccess)
		if got := d.read(p, 8); !slices.Equal(got, []uint32{0xdead, 0xdead, 0x12341234, 0xdead, 0xdead, 0xdead, 0x12341234, 0xdead}) {
			t.Errorf("%x", got)
		}
		d.is("between words", fill(p+2, params(uint32(1)), Rows{Width: 4, Height: 1, Depth: 1}), ResultInvalidValue)
		d.is("a pitch between words", fill(p, params(uint32(1)), Rows{Width: 4, Height: 2, Depth: 1, DstPitch: 6}), ResultInvalidValue)
		d.is("beyond", fill(p, params(uint32(1)), Rows{Width: 68, Height: 1, Depth: 1}), ResultInvalidValue)
	})
}

// TestOccupancyAsked: the block size that fills an SM best, and the shared memory
// that remains.
func TestOccupancyAsked(t *testing.T) {
	d := drive(t, nil).ready()
	f := d.function(d.module(plusText), "plus")
	none := func(int) uint64 { return 0 }
	for _, c := range []struct {
		most            int
		shared          func(int) uint64
		threads, blocks int
	}{
		{0, none, 1024, 1}, {100, none, 64, 16}, // an SM of the GPU has at most 1024 threads and 16 blocks
		{0, func(n int) uint64 { return uint64(128 * n) }, 512, 1}, // and 64 KiB of shared memory
	} {
		threads, blocks, err := d.BestBlock(f, c.most, c.shared)
		if threads != c.threads || blocks != c.blocks || err != Success {
			t.Errorf("at most %d: %d threads, %d blocks, %v", c.most, threads, blocks, err)
		}
	}
	room, err := d.RoomForShared(f, 4, 128)
	if err != Success {
		t.Fatal(err)
	}
	for _, c := range []struct{ bytes, blocks uint64 }{{room, 4}, {room + 1024, 3}} {
		if n, _ := d.Occupancy(f, 128, c.bytes); uint64(n) != c.blocks {
			t.Errorf("with %d bytes %d blocks", c.bytes, n)
		}
	}
}

// TestDriverThreads: several threads load, launch and unload at once.
func TestDriverThreads(t *testing.T) {
	d := drive(t, nil).ready()
	ctx, _ := d.Context()
	var all sync.WaitGroup
	for n := range uint64(16) {
		all.Go(func() {
			own := d.r.Thread(10 + n).Driver()
			if res := own.SetContext(ctx); res != ResultSuccess {
				t.Error(res)
			}
			for range 20 {
				mod, res, wrong := own.LoadModule("", []byte(plusText))
				if res != ResultSuccess {
					t.Error(res, wrong)
					return
				}
				f, _ := own.Function(mod, "plus")
				var p uint64
				own.Do(func(t *Thread) (err Error) { p, err = t.Malloc(16); return err })
				if res := own.Launch(f, one, false, params(p, uint32(n)), nil); res != ResultSuccess {
					t.Error(res)
				}
				if res := own.UnloadModule(mod); res != ResultSuccess {
					t.Error(res)
				}
				own.Do(func(t *Thread) Error { return t.Free(p) })
			}
		})
	}
	all.Wait()
}

// TestResults: every code of the header has a name and a meaning, and every error
// of the runtime has a code of the driver.
func TestResults(t *testing.T) {
	header, err := os.ReadFile(filepath.Join("sdk", "include", "cuda.h"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(CUDA_SUCCESS|CUDA_ERROR_\w+) = (\d+)`).FindAllStringSubmatch(string(header), -1)
	if len(list) != len(resultNames) {
		t.Errorf("the header has %d codes, and %d have names", len(list), len(resultNames))
	}
	for _, c := range list {
		n, _ := strconv.Atoi(c[2])
		name, _ := Result(n).Name()
		if text, ok := Result(n).Text(); name != c[1] || text == "" || !ok {
			t.Errorf("%s = %d has the name %q, %q", c[1], n, name, text)
		}
	}
	for e := range errorNames {
		if _, ok := e.Result().Name(); !ok || e != Success && e.Result() == ResultSuccess {
			t.Errorf("%v is %v", e, e.Result())
		}
	}
	if _, ok := Result(5555).Name(); ok {
		t.Error("an unknown code has a name")
	}
}

// TestUnsupportedByDriver: an unsupported function is reported once.
func TestUnsupportedByDriver(t *testing.T) {
	d := drive(t, nil)
	for range 2 {
		d.is("cuNothing", d.Unsupported("cuNothing"), ResultNotSupported)
	}
	if n := strings.Count(d.log.String(), "cuNothing is not supported"); n != 1 {
		t.Errorf("reported %d times: %s", n, d.log)
	}
}

// TestContextDestroyedTwice: another thread destroys a context while one does, here from the
// destructor of an object that ends with the context.
func TestContextDestroyedTwice(t *testing.T) {
	d := drive(t, nil).ready()
	h, res := d.Context()
	d.is("context", res, ResultSuccess)
	second := ResultSuccess
	d.host.calls = []func(uint64){func(uint64) { second = d.r.Thread(2).Driver().DestroyContext(h) }}
	o, err := d.UserObjectCreate(0, 1, 1, 1)
	d.want("object", err, Success)
	g, err := d.GraphCreate(0)
	d.want("graph", err, Success)
	d.want("retain", d.GraphRetain(g, o, 1, moveReferences), Success)
	d.is("destroy", d.DestroyContext(h), ResultSuccess)
	d.is("destroy meanwhile", second, ResultInvalidContext)
}
