package cuda

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
)

// The program of these tests: add(out, n) stores thread + n to out[thread]; wild
// stores far out of bounds; odd stores to a misaligned address; stop traps; spin
// works for a while; turns(n) works for n iterations; scale multiplies by a
// constant; cannot has an unsupported instruction; many is for blocks of at most 64
// threads.
const code = `
.version 7.0
.target sm_70
.address_size 64
.const .align 4 .u32 factor = 3;
.global .align 4 .u32 counter;
.visible .global .texref image;
.visible .entry add(.param .u64 out, .param .u32 n)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd0, [out];
	ld.param.u32 %r0, [n];
	mov.u32 %r1, %tid.x;
	add.u32 %r2, %r1, %r0;
	mul.wide.u32 %rd1, %r1, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], %r2;
	ret;
}
.visible .entry scale(.param .u64 out)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd1, %r1, 4;
	add.u64 %rd2, %rd0, %rd1;
	ld.global.u32 %r2, [%rd2];
	ld.const.u32 %r3, [factor];
	mul.lo.u32 %r4, %r2, %r3;
	st.global.u32 [%rd2], %r4;
	st.global.u32 [counter], %r3;
	ret;
}
.visible .entry wild(.param .u64 out)
{
	.reg .b64 %rd<1>;
	ld.param.u64 %rd0, [out];
	st.global.u32 [%rd0+0x40000000], 1;
	ret;
}
.visible .entry odd(.param .u64 out)
{
	.reg .b64 %rd<1>;
	ld.param.u64 %rd0, [out];
	st.global.u32 [%rd0+2], 1;
	ret;
}
.visible .entry stop() { trap; }
.visible .entry spin()
{
	.reg .b32 %r<1>;
	.reg .pred %p;
	mov.u32 %r0, 0;
again:
	add.u32 %r0, %r0, 1;
	setp.lt.u32 %p, %r0, 500;
	@%p bra again;
	ret;
}
.visible .entry turns(.param .u32 n)
{
	.reg .b32 %r<2>;
	.reg .pred %p;
	ld.param.u32 %r1, [n];
	mov.u32 %r0, 0;
again:
	add.u32 %r0, %r0, 1;
	setp.lt.u32 %p, %r0, %r1;
	@%p bra again;
	ret;
}
.visible .entry forever() { again: bra again; }
.visible .entry cooperative_sum() { ret; }
.visible .entry cannot() { tcgen05.shift.cta_group::1.down [0]; ret; }
.visible .entry many() .maxntid 64, 1, 1 { ret; }
.visible .entry lower(.param .u64 out)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<1>;
	ld.param.u64 %rd0, [out];
	ld.global.u32 %r0, [%rd0];
	sub.u32 %r1, %r0, 1;
	st.global.u32 [%rd0], %r1;
	ret;
}
.visible .entry shared()
{
	.shared .align 4 .b8 room[40000];
	.reg .b64 %rd0;
	mov.u64 %rd0, room;
	ret;
}
`

// memory is a program's memory: pieces at addresses.
type memory struct {
	mu     sync.Mutex
	pieces map[uint64][]byte
	full   bool                // Map fails
	calls  []func(data uint64) // functions that the device may call
}

// Addresses of the tests' own variables.
const stack = 0x7f00_0000_0000

func (m *memory) Bytes(addr, n uint64) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	for base, b := range m.pieces {
		if addr >= base && addr-base < uint64(len(b)) {
			return b[addr-base:][:n:n]
		}
	}
	panic(fmt.Sprintf("the program has no %d bytes at %#x", n, addr))
}

func (m *memory) Map(addr, n uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return errors.New("full")
	}
	if addr%4096 != 0 || n%4096 != 0 {
		return fmt.Errorf("%#x or %d is not a multiple of the page size", addr, n)
	}
	m.pieces[addr] = make([]byte, n)
	return nil
}

// Call calls the function whose index in calls is fn.
func (m *memory) Call(fn, data uint64) {
	m.mu.Lock()
	f := m.calls[fn-1]
	m.mu.Unlock()
	f(data)
}

func (m *memory) Touched(uint64, uint64) []bool { return nil }

func (m *memory) Unmap(addr, n uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if uint64(len(m.pieces[addr])) != n {
		panic("unmapping memory that was not mapped")
	}
	delete(m.pieces, addr)
}

// bench is a runtime with the program loaded.
type bench struct {
	*Thread
	t    testing.TB
	r    *Runtime
	host *memory
	log  *bytes.Buffer
}

// Kernels and variables by the address of their stubs and shadows.
var (
	kernelNames = []string{"add", "scale", "wild", "odd", "stop", "spin", "turns", "forever", "cooperative_sum", "cannot", "many", "shared", "missing", "relay", "lower"}
	varNames    = []string{"factor", "counter", "nowhere"}
)

// aTexture is the address of the program's texture, floats describes its texels.
const aTexture = 0x3000

var floats = Channel{Bits: [4]int32{32}, Kind: 2}

func kernel(name string) uint64     { return 0x1000 + uint64(slices.Index(kernelNames, name)) }
func variableOf(name string) uint64 { return 0x2000 + uint64(slices.Index(varNames, name)) }

func start(t testing.TB, edit func(*Options), images ...fatbin.Entry) *bench {
	t.Helper()
	b := &bench{t: t, host: &memory{pieces: map[uint64][]byte{stack: make([]byte, 1<<16)}}, log: new(bytes.Buffer)}
	o := Options{Options: run.Options{GPU: "rtx-2060"}, Host: b.host, Log: b.log, Program: "app"}
	if edit != nil {
		edit(&o)
	}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(images) == 0 {
		images = []fatbin.Entry{{Kind: fatbin.PTX, SM: 70, Data: []byte(code)}}
	}
	h := r.Register(fatbin.Append(nil, images...))
	for _, n := range kernelNames {
		r.RegisterFunction(h, kernel(n), n)
	}
	for _, n := range varNames {
		r.RegisterVariable(h, variableOf(n), n, 4)
	}
	r.RegisterTexture(h, aTexture, "image", false)
	b.r, b.Thread = r, r.Thread(1)
	return b
}

func timing(o *Options) { o.Timing = true }

// want fails unless a call returned a code.
func (b *bench) want(what string, got, want Error) {
	b.t.Helper()
	if got != want {
		b.t.Errorf("%s: %v, want %v\n%s", what, got, want, b.log)
	}
}

// run launches a kernel with one block of threads.
func (b *bench) run(name string, threads uint32, stream uint64, args ...uint64) Error {
	return b.Launch(kernel(name), Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: threads, Y: 1, Z: 1}, Stream: stream}, false, func(n, _ int, to []byte) {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], args[n])
		copy(to, word[:])
	})
}

// malloc returns device memory.
func (b *bench) malloc(n uint64) uint64 {
	b.t.Helper()
	addr, err := b.Malloc(n)
	if err != Success || addr == 0 {
		b.t.Fatalf("malloc of %d: %#x, %v", n, addr, err)
	}
	return addr
}

func (b *bench) words(addr uint64, n int) []uint32 {
	list := make([]uint32, n)
	if _, err := binary.Decode(b.host.Bytes(addr, uint64(4*n)), binary.LittleEndian, list); err != nil {
		b.t.Fatal(err)
	}
	return list
}

func both(t *testing.T, f func(t *testing.T, mode func(*Options))) {
	t.Run("functional", func(t *testing.T) { f(t, nil) })
	t.Run("timing", func(t *testing.T) { f(t, timing) })
}

// TestLaunch: a kernel's arguments, its results, device variables and the report.
func TestLaunch(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		saved := map[string]string{}
		b := start(t, func(o *Options) {
			o.Save = func(name string, text []byte) error {
				saved[name] = string(text)
				return nil
			}
			if mode != nil {
				mode(o)
			}
		})
		d := b.malloc(4 * 40)
		b.want("launch", b.run("add", 40, 0, d, 100), Success)
		b.want("copy", b.Copy(stack, d, 4*40, DeviceToHost, 0, false), Success)
		for i, v := range b.words(stack, 40) {
			if v != uint32(100+i) {
				t.Fatalf("out[%d] = %d", i, v)
			}
		}
		binary.LittleEndian.PutUint32(b.host.Bytes(stack, 4), 7)
		b.want("to symbol", b.CopyToSymbol(variableOf("factor"), stack, 4, 0, HostToDevice, 0, false), Success)
		b.want("launch", b.run("scale", 2, 0, d), Success)
		b.want("from symbol", b.CopyFromSymbol(stack, variableOf("counter"), 4, 0, DeviceToHost, 0, false), Success)
		b.want("copy", b.Copy(stack+4, d, 8, AnyWay, 0, false), Success)
		if got := b.words(stack, 3); !slices.Equal(got, []uint32{7, 700, 707}) {
			t.Errorf("counter and the first two: %v", got)
		}
		b.Configure(Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: 2, Y: 1, Z: 1}})
		binary.LittleEndian.PutUint64(b.host.Bytes(stack, 8), d)
		b.want("second argument", b.Argument([]byte{50, 0, 0, 0}, 8), Success)
		b.want("first argument", b.Argument(b.host.Bytes(stack, 8), 0), Success)
		b.want("argument beyond all", b.Argument([]byte{1}, isa.MaxParams), InvalidValue)
		b.LastError()
		b.want("launch of old", b.LaunchConfigured(kernel("add")), Success)
		b.want("launch without configuration", b.LaunchConfigured(kernel("add")), MissingConfiguration)
		b.want("copy", b.Copy(stack, d, 12, DeviceToHost, 0, false), Success)
		if got := b.words(stack, 3); !slices.Equal(got, []uint32{50, 51, 102}) {
			t.Errorf("launched in the old style: %v", got)
		}
		res := b.r.Result()
		if !res.OK || len(res.Kernels) != 3 || res.Kernels[0].Name != "add" || res.Kernels[1].Launch != 1 ||
			res.Kernels[0].ThreadInstructions != 40*8 || res.ThreadInstructions != 40*8+2*10+2*8 || !slices.Equal(res.Programs, []string{"app.ptx"}) {
			t.Errorf("%+v", res)
		}
		if len(saved) != 1 || saved["app.ptx"] != code {
			t.Errorf("saved %q", saved)
		}
		if (res.Timing != nil) != (mode != nil) {
			t.Errorf("timing %v", res.Timing)
		}
		if mode != nil && (res.Kernels[0].Cycles == 0 || res.Cycles < res.Kernels[2].EndCycle) {
			t.Errorf("%d cycles of %d", res.Kernels[0].Cycles, res.Cycles)
		}
		// The JSON gives the same report.
		var text, js, again bytes.Buffer
		var back report.Run
		for _, err := range []error{res.WriteText(&text), res.WriteJSON(&js), json.Unmarshal(js.Bytes(), &back), back.WriteText(&again)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if text.String() != again.String() {
			t.Errorf("report from JSON:\n%s\nwant:\n%s", &again, &text)
		}
	})
}

// TestCodes: the CUDA runtime's errors for wrong calls (CUDA runtime API, the
// errors listed for each function).
func TestCodes(t *testing.T) {
	one, block := Dim3{X: 1, Y: 1, Z: 1}, Dim3{X: 32, Y: 1, Z: 1}
	launch := func(name string, c Call) func(*bench, uint64) Error {
		return func(b *bench, _ uint64) Error { return b.Launch(kernel(name), c, false, func(int, int, []byte) {}) }
	}
	for _, c := range []struct {
		name string
		call func(b *bench, d uint64) Error // d: 64 bytes of device memory
		want Error
	}{
		{"malloc of nothing", func(b *bench, _ uint64) Error { _, err := b.Malloc(0); return err }, Success},
		{"malloc of too much", func(b *bench, _ uint64) Error { _, err := b.Malloc(1 << 50); return err }, MemoryAllocation},
		{"pitch of too much", func(b *bench, _ uint64) Error { _, _, err := b.MallocPitch(1<<35, 1<<35); return err }, MemoryAllocation},
		{"free null", func(b *bench, _ uint64) Error { return b.Free(0) }, Success},
		{"free twice", func(b *bench, d uint64) Error { b.Free(d); return b.Free(d) }, InvalidValue},
		{"free inside", func(b *bench, d uint64) Error { return b.Free(d + 4) }, InvalidValue},
		{"free of the host", func(b *bench, d uint64) Error { return b.Free(stack) }, InvalidValue},
		{"free a variable", func(b *bench, d uint64) Error {
			a, _, _ := b.Symbol(variableOf("counter"))
			return b.Free(a)
		}, InvalidValue},
		{"copy beyond the end", func(b *bench, d uint64) Error { return b.Copy(d, stack, 65, HostToDevice, 0, false) }, InvalidValue},
		{"copy in the wrong direction", func(b *bench, d uint64) Error { return b.Copy(d, stack, 4, DeviceToHost, 0, false) }, InvalidValue},
		{"copy of an unknown kind", func(b *bench, d uint64) Error { return b.Copy(d, stack, 4, 5, 0, false) }, InvalidMemcpyWay},
		{"copy to null", func(b *bench, d uint64) Error { return b.Copy(0, d, 4, DeviceToHost, 0, false) }, InvalidValue},
		{"copy nothing", func(b *bench, d uint64) Error { return b.Copy(d, stack, 0, HostToDevice, 0, false) }, Success},
		{"copy on no stream", func(b *bench, d uint64) Error { return b.Copy(d, stack, 4, HostToDevice, 77, true) }, InvalidHandle},
		{"copy after free", func(b *bench, d uint64) Error { b.Free(d); return b.Copy(d, stack, 4, HostToDevice, 0, false) }, InvalidValue},
		{"rows wider than the pitch", func(b *bench, d uint64) Error {
			return b.CopyRows(d, stack, Rows{Width: 8, Height: 2, Depth: 1, DstPitch: 4, SrcPitch: 8}, HostToDevice, 0, false)
		}, InvalidPitchValue},
		{"rows beyond the end", func(b *bench, d uint64) Error {
			return b.CopyRows(d, stack, Rows{Width: 8, Height: 9, Depth: 1, DstPitch: 8, SrcPitch: 8}, HostToDevice, 0, false)
		}, InvalidValue},
		{"absurd rows", func(b *bench, d uint64) Error {
			return b.CopyRows(d, stack, Rows{Width: 1 << 45, Height: 1 << 45, Depth: 1, DstPitch: 1 << 45, SrcPitch: 1 << 45}, HostToDevice, 0, false)
		}, InvalidValue},
		{"fill beyond the end", func(b *bench, d uint64) Error {
			return b.Fill(d, 1, Rows{Width: 65, Height: 1, Depth: 1}, 0)
		}, InvalidValue},
		{"fill the host", func(b *bench, d uint64) Error { return b.Fill(stack, 1, Rows{Width: 4, Height: 1, Depth: 1}, 0) }, InvalidValue},
		{"variable that was never registered", func(b *bench, d uint64) Error { _, _, err := b.Symbol(5); return err }, InvalidSymbol},
		{"variable that the module lacks", func(b *bench, d uint64) Error { _, _, err := b.Symbol(variableOf("nowhere")); return err }, InvalidSymbol},
		{"beyond a variable", func(b *bench, d uint64) Error {
			return b.CopyToSymbol(variableOf("factor"), stack, 4, 1, HostToDevice, 0, false)
		}, InvalidValue},
		{"out of a variable to the device", func(b *bench, d uint64) Error {
			return b.CopyFromSymbol(stack, variableOf("factor"), 4, 0, HostToDevice, 0, false)
		}, InvalidMemcpyWay},
		{"kernel that was never registered", func(b *bench, d uint64) Error {
			return b.Launch(5, Call{Grid: one, Block: block}, false, nil)
		}, InvalidDeviceFunction},
		{"kernel that the module lacks", launch("missing", Call{Grid: one, Block: block}), InvalidDeviceFunction},
		{"no threads", launch("spin", Call{Grid: one}), InvalidConfiguration},
		{"no blocks", launch("spin", Call{Block: block}), InvalidConfiguration},
		{"1025 threads", launch("spin", Call{Grid: one, Block: Dim3{X: 1025, Y: 1, Z: 1}}), InvalidConfiguration},
		{"65 threads deep", launch("spin", Call{Grid: one, Block: Dim3{X: 1, Y: 1, Z: 65}}), InvalidConfiguration},
		{"65536 blocks high", launch("spin", Call{Grid: Dim3{X: 1, Y: 65536, Z: 1}, Block: block}), InvalidConfiguration},
		{"more threads than the kernel allows", launch("many", Call{Grid: one, Block: Dim3{X: 65, Y: 1, Z: 1}}), OutOfResources},
		{"as many as it allows", launch("many", Call{Grid: one, Block: Dim3{X: 64, Y: 1, Z: 1}}), Success},
		{"more shared memory than without asking", launch("shared", Call{Grid: one, Block: block, Shared: 48<<10 - 40000 + 1}), InvalidValue},
		{"all of it", launch("shared", Call{Grid: one, Block: block, Shared: 48<<10 - 40000}), Success},
		{"more after asking", func(b *bench, d uint64) Error {
			b.SetMaxShared(kernel("shared"), 20000)
			return launch("shared", Call{Grid: one, Block: block, Shared: 20000})(b, d)
		}, Success},
		{"asking for too much", func(b *bench, d uint64) Error { return b.SetMaxShared(kernel("shared"), 1<<20) }, InvalidValue},
		{"an instruction that is not supported", launch("cannot", Call{Grid: one, Block: block}), NotSupported},
		{"no such stream", launch("spin", Call{Grid: one, Block: block, Stream: 9}), InvalidHandle},
		{"destroy no stream", func(b *bench, d uint64) Error { return b.StreamDestroy(0) }, InvalidHandle},
		{"flags of a stream", func(b *bench, d uint64) Error { _, err := b.StreamCreate(2, 0); return err }, InvalidValue},
		{"wait for no event", func(b *bench, d uint64) Error { return b.StreamWait(0, 0, 0) }, InvalidHandle},
		{"record no event", func(b *bench, d uint64) Error { return b.EventRecord(0, 0, 0) }, InvalidHandle},
		{"time of an event that was not recorded", func(b *bench, d uint64) Error {
			e, _ := b.EventCreate(0)
			_, err := b.EventElapsed(e, e)
			return err
		}, InvalidHandle},
		{"time of an event without", func(b *bench, d uint64) Error {
			e, _ := b.EventCreate(noTiming)
			b.EventRecord(e, 0, 0)
			_, err := b.EventElapsed(e, e)
			return err
		}, InvalidHandle},
		{"an event after its end", func(b *bench, d uint64) Error {
			e, _ := b.EventCreate(0)
			b.EventDestroy(e)
			return b.EventSynchronize(e)
		}, InvalidHandle},
		{"another device", func(b *bench, d uint64) Error { return b.Device(1) }, InvalidDevice},
		{"no such attribute", func(b *bench, d uint64) Error { _, err := b.Attribute(0, 4711); return err }, InvalidValue},
		{"no such limit", func(b *bench, d uint64) Error { return b.SetLimit(99, 1) }, UnsupportedLimit},
		{"free host memory that was not allocated", func(b *bench, d uint64) Error { return b.FreeHost(stack) }, InvalidValue},
		{"free device memory as the host's", func(b *bench, d uint64) Error { return b.FreeHost(d) }, InvalidValue},
		{"register twice", func(b *bench, d uint64) Error { b.HostRegister(stack, 64, 0); return b.HostRegister(stack+32, 64, 0) }, AlreadyRegistered},
		{"register and back, twice", func(b *bench, d uint64) Error {
			b.HostRegister(stack, 64, 0)
			b.HostUnregister(stack)
			return b.HostRegister(stack, 64, 0)
		}, Success},
		{"unregister unregistered memory", func(b *bench, d uint64) Error { return b.HostUnregister(stack) }, NotRegistered},
		{"managed without flags", func(b *bench, d uint64) Error { _, err := b.MallocManaged(4, 0); return err }, InvalidValue},
		{"managed when memory is full", func(b *bench, d uint64) Error {
			b.host.full = true
			_, err := b.MallocManaged(4, 1)
			return err
		}, MemoryAllocation},
		{"array of nothing", func(b *bench, d uint64) Error { _, err := b.MallocArray(floats, 0, 0, 0, 0); return err }, InvalidValue},
		{"array of three components", func(b *bench, d uint64) Error {
			_, err := b.MallocArray(Channel{Bits: [4]int32{8, 8, 8}}, 4, 4, 0, 0)
			return err
		}, InvalidChannel},
		{"array of unequal components", func(b *bench, d uint64) Error {
			_, err := b.MallocArray(Channel{Bits: [4]int32{8, 16}}, 4, 4, 0, 0)
			return err
		}, InvalidChannel},
		{"array of 64-bit components", func(b *bench, d uint64) Error {
			_, err := b.MallocArray(Channel{Bits: [4]int32{64}}, 4, 4, 0, 0)
			return err
		}, InvalidChannel},
		{"array too wide", func(b *bench, d uint64) Error { _, err := b.MallocArray(floats, 1<<20, 4, 0, 0); return err }, InvalidValue},
		{"array freed twice", func(b *bench, d uint64) Error {
			a, _ := b.MallocArray(floats, 4, 4, 0, 0)
			b.FreeArray(a)
			return b.FreeArray(a)
		}, InvalidHandle},
		{"invalid array", func(b *bench, d uint64) Error { _, err := b.Array(d); return err }, InvalidHandle},
		{"bind an address without a texture", func(b *bench, d uint64) Error {
			return b.Bind(5, Image{Addr: d, Channel: floats, Bytes: 64}, Sampling{})
		}, InvalidTexture},
		{"bind the host's memory", func(b *bench, d uint64) Error {
			return b.Bind(aTexture, Image{Addr: stack, Channel: floats, Bytes: 64}, Sampling{})
		}, InvalidValue},
		{"bind memory that is freed", func(b *bench, d uint64) Error {
			b.Free(d)
			return b.Bind(aTexture, Image{Addr: d, Channel: floats, Bytes: 64}, Sampling{})
		}, InvalidValue},
		{"bind rows beyond the end", func(b *bench, d uint64) Error {
			return b.Bind(aTexture, Image{Addr: d, Channel: floats, Width: 4, Height: 5, Pitch: 16}, Sampling{})
		}, InvalidValue},
		{"bind all rows", func(b *bench, d uint64) Error {
			return b.Bind(aTexture, Image{Addr: d, Channel: floats, Width: 4, Height: 4, Pitch: 16}, Sampling{})
		}, Success},
		{"bind without knowing the end", func(b *bench, d uint64) Error {
			return b.Bind(aTexture, Image{Addr: d, Channel: floats, Bytes: 1<<32 - 1}, Sampling{})
		}, Success},
		{"no such address mode", func(b *bench, d uint64) Error {
			return b.Bind(aTexture, Image{Addr: d, Channel: floats, Bytes: 64}, Sampling{Address: [3]int32{4}})
		}, InvalidValue},
		{"interpolate integers", func(b *bench, d uint64) Error {
			return b.Bind(aTexture, Image{Addr: d, Channel: Channel{Bits: [4]int32{32}}, Width: 4, Height: 4, Pitch: 16}, Sampling{Linear: true})
		}, InvalidFilter},
		{"unbind an address without a texture", func(b *bench, d uint64) Error { return b.Unbind(5) }, InvalidTexture},
		{"texture object of no array", func(b *bench, d uint64) Error {
			_, err := b.TextureObject(Image{Array: 7}, Sampling{}, nil)
			return err
		}, InvalidHandle},
		{"texture object", func(b *bench, d uint64) Error {
			_, err := b.TextureObject(Image{Addr: d, Channel: floats, Bytes: 64}, Sampling{}, nil)
			return err
		}, Success},
		{"stub without configuration", func(b *bench, d uint64) Error { _, err := b.Pop(); return err }, MissingConfiguration},
		{"an unknown name", func(b *bench, d uint64) Error { b.Unsupported("cudaNoName"); return b.Unsupported("cudaNoName") }, NotSupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, mode func(*Options)) {
				b := start(t, mode)
				d := b.malloc(64)
				b.want("call", c.call(b, d), c.want)
				b.want("last error", b.PeekError(), c.want)
				b.LastError()
				b.want("last error again", b.LastError(), Success)
				b.want("the device still works", b.run("spin", 1, 0), Success)
				b.want("to its end", b.Synchronize(), Success)
				if strings.Count(b.log.String(), "cudaNoName") > 1 {
					t.Errorf("reported more than once: %s", b.log)
				}
			})
		})
	}
}

// TestFaults: an error in a kernel persists in every thread until the device is
// reset, and is reported with its location.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   Error
		says   string
	}{
		{"wild", IllegalAddress, "kernel wild, block (0,0,0), thread (0,0,0)"},
		{"odd", MisalignedAddress, "misaligned"},
		{"stop", LaunchFailure, "trap"},
		{"forever", LaunchTimeout, "limit"},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			both(t, func(t *testing.T, mode func(*Options)) {
				b := start(t, func(o *Options) {
					o.MaxInsts = 20000
					if mode != nil {
						mode(o)
					}
				})
				d := b.malloc(64)
				b.run(c.kernel, 1, 0, d)
				b.run("spin", 1, 0) // never starts, and is not in the report
				b.want("wait", b.Synchronize(), c.want)
				b.want("last error", b.LastError(), c.want)
				b.want("it stays", b.LastError(), c.want)
				_, err := b.Malloc(4)
				b.want("malloc", err, c.want)
				b.want("another thread", b.r.Thread(2).Synchronize(), c.want)
				if !strings.Contains(b.log.String(), c.says) || !strings.Contains(b.log.String(), "app.ptx:") && c.kernel != "forever" {
					t.Errorf("log: %s", b.log)
				}
				if res := b.r.Result(); res.OK || res.Error == nil || len(res.Kernels) != 1 || strings.Contains(b.log.String(), "more count") {
					t.Errorf("result %+v, %d launches: %s", res.Error, len(res.Kernels), b.log)
				}
				b.want("reset", b.Reset(), Success)
				b.want("free after reset", b.Free(d), InvalidValue)
				b.LastError()
				d = b.malloc(64)
				b.want("launch", b.run("add", 4, 0, d, 1), Success)
				b.want("copy", b.Copy(stack, d, 16, DeviceToHost, 0, false), Success)
				if got := b.words(stack, 4); !slices.Equal(got, []uint32{1, 2, 3, 4}) {
					t.Errorf("after reset: %v", got)
				}
			})
		})
	}
}

// TestThreads: the last error and the launch being configured belong to one thread;
// calls may come from many threads at once.
func TestThreads(t *testing.T) {
	b := start(t, nil)
	other := b.r.Thread(2)
	b.want("free", b.Free(stack), InvalidValue)
	b.want("the other's error", other.LastError(), Success)
	b.Push(Call{Shared: 1})
	b.Push(Call{Shared: 2})
	_, err := other.Pop()
	b.want("the other's calls", err, MissingConfiguration)
	for want := uint64(2); want > 0; want-- {
		if c, err := b.Pop(); err != Success || c.Shared != want {
			t.Errorf("%+v, %v; want %d", c, err, want)
		}
	}
	b.want("its own error", b.LastError(), InvalidValue)

	var wg sync.WaitGroup
	for i := range uint64(16) {
		wg.Go(func() {
			me := &bench{Thread: b.r.Thread(10 + i), t: t, r: b.r, host: b.host, log: b.log}
			at := stack + 1024*(i+1)
			for n := range uint64(20) {
				s, _ := me.StreamCreate(0, 0)
				d, err := me.Malloc(128)
				if err != Success || me.run("add", 32, s, d, 100*i+n) != Success || me.Copy(at, d, 128, DeviceToHost, s, true) != Success ||
					me.StreamSynchronize(s) != Success || me.Free(d) != Success || me.StreamDestroy(s) != Success {
					t.Errorf("thread %d: %v", i, me.LastError())
					return
				}
				if got := me.words(at, 32); got[31] != uint32(100*i+n+31) {
					t.Errorf("thread %d: %v", i, got)
				}
			}
		})
	}
	wg.Wait()
}

// TestStreams: in a timing run kernels of two streams overlap, and events order
// them.
func TestStreams(t *testing.T) {
	elapsed := func(order func(b *bench, s [2]uint64)) float64 {
		b := start(t, timing)
		var s [2]uint64
		for i := range s {
			var err Error
			s[i], err = b.StreamCreate(0, 0)
			b.want("stream", err, Success)
		}
		from, _ := b.EventCreate(0)
		to, _ := b.EventCreate(0)
		b.want("record", b.EventRecord(from, 0, 0), Success)
		order(b, s)
		b.want("record", b.EventRecord(to, 0, 0), Success)
		b.want("wait", b.EventSynchronize(to), Success)
		ms, err := b.EventElapsed(from, to)
		b.want("elapsed", err, Success)
		return ms
	}
	run := func(b *bench, s uint64) { b.want("launch", b.run("spin", 32, s), Success) }
	one := elapsed(func(b *bench, s [2]uint64) { run(b, s[0]) })
	beside := elapsed(func(b *bench, s [2]uint64) { run(b, s[0]); run(b, s[1]) })
	serial := elapsed(func(b *bench, s [2]uint64) { run(b, s[0]); run(b, s[0]) })
	waits := elapsed(func(b *bench, s [2]uint64) {
		e, _ := b.EventCreate(noTiming)
		run(b, s[0])
		b.want("record", b.EventRecord(e, s[0], 0), Success)
		b.want("wait", b.StreamWait(s[1], e, 0), Success)
		run(b, s[1])
	})
	between := elapsed(func(b *bench, s [2]uint64) { run(b, s[0]); run(b, 0); run(b, s[1]) })
	if one <= 0 || beside > 1.2*one || serial < 1.8*one || waits < 1.8*one || between < 2.7*one {
		t.Errorf("one %g ms, two side by side %g, one after the other %g, by an event %g, three with the default stream between %g", one, beside, serial, waits, between)
	}
}

// TestAsync: the times at which host memory is accessed. Memory that is not shared
// with the device is read during the call, and written before it returns.
func TestAsync(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		d := b.malloc(16)
		s, _ := b.StreamCreate(1, -1)
		host := b.host.Bytes(stack, 16)
		copy(host, "0123456789abcdef")
		b.want("copy", b.Copy(d, stack, 16, HostToDevice, s, true), Success)
		copy(host, "................")
		b.want("copy", b.Copy(stack+16, d, 16, DeviceToHost, s, true), Success)
		if got := b.host.Bytes(stack+16, 16); string(got) != "0123456789abcdef" {
			t.Errorf("%q", got)
		}
		pinned, err := b.MallocHost(16, 0)
		b.want("host memory", err, Success)
		b.want("copy", b.Copy(pinned, d, 16, DeviceToHost, s, true), Success)
		b.want("wait", b.StreamSynchronize(s), Success)
		if got := b.host.Bytes(pinned, 16); string(got) != "0123456789abcdef" {
			t.Errorf("pinned: %q", got)
		}
		if info, err := b.StreamInfo(s); info.Flags != 1 || info.Priority != -1 || err != Success {
			t.Errorf("stream: %+v, %v", info, err)
		}
	})
}

// TestShared: kernels and the host see each other's writes in shared memory.
func TestShared(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		for _, c := range []struct {
			name string
			make func(b *bench) (uint64, Error)
			free func(b *bench, addr uint64) Error
			kind Where
		}{
			{"managed", func(b *bench) (uint64, Error) { return b.MallocManaged(5000, 1) }, func(b *bench, a uint64) Error { return b.Free(a) }, ManagedMemory},
			{"pinned", func(b *bench) (uint64, Error) { return b.MallocHost(5000, 2) }, func(b *bench, a uint64) Error { return b.FreeHost(a) }, HostMemory},
			{"registered", func(b *bench) (uint64, Error) { return stack, b.HostRegister(stack, 5000, 0) }, func(b *bench, a uint64) Error { return b.HostUnregister(a) }, HostMemory},
		} {
			t.Run(c.name, func(t *testing.T) {
				b := start(t, mode)
				addr, err := c.make(b)
				b.want("make", err, Success)
				second, err := b.MallocManaged(5000, 1)
				b.want("make another", err, Success)
				b.want("launch", b.run("add", 4, 0, addr, 10), Success)
				b.want("wait", b.Synchronize(), Success)
				if got := b.words(addr, 4); !slices.Equal(got, []uint32{10, 11, 12, 13}) {
					t.Errorf("the host sees %v", got)
				}
				binary.LittleEndian.PutUint32(b.host.Bytes(addr, 4), 1000)
				b.want("launch", b.run("scale", 1, 0, addr), Success)
				b.want("copy", b.Copy(second, addr, 8, AnyWay, 0, false), Success)
				if got := b.words(second, 2); !slices.Equal(got, []uint32{3000, 11}) {
					t.Errorf("copied: %v", got)
				}
				if w, _, err := b.Where(addr + 4999); w != c.kind || err != Success {
					t.Errorf("the last byte is %v, %v", w, err)
				}
				b.want("free", c.free(b, addr), Success)
				b.want("free again", max(Success, min(c.free(b, addr), 1)), 1)
				if w, _, _ := b.Where(addr); w != Unregistered {
					t.Errorf("afterwards it is %v", w)
				}
				if err := b.run("add", 4, 0, addr, 10); err == Success {
					err = b.Synchronize()
					b.want("launch after free", err, IllegalAddress)
				}
			})
		}
	})
}

// TestRows compares copies and fills of rows with the same done byte by byte.
func TestRows(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		d, pitch, err := b.MallocPitch(20, 6)
		b.want("pitch", err, Success)
		if pitch < 20 || pitch%512 != 0 || d%512 != 0 && d%256 != 0 {
			t.Fatalf("pitch %d at %#x", pitch, d)
		}
		c := Rows{Width: 20, Height: 3, Depth: 2, DstPitch: pitch, SrcPitch: 32, DstPlane: 3 * pitch, SrcPlane: 128}
		host := b.host.Bytes(stack, 512)
		for i := range host {
			host[i] = byte(i * 7)
		}
		b.want("fill", b.Fill(d, 0xee, Rows{Width: 20, Height: 6, Depth: 1, DstPitch: pitch}, 0), Success)
		b.want("copy", b.CopyRows(d, stack, c, HostToDevice, 0, false), Success)
		b.want("fill", b.Fill(d+2*pitch+5, 0x11, Rows{Width: 3, Height: 2, Depth: 1, DstPitch: pitch}, 0), Success)
		b.want("copy", b.Copy(stack+4096, d, 5*pitch+20, DeviceToHost, 0, false), Success)
		got := b.host.Bytes(stack+4096, 5*pitch+20)
		for z := range uint64(2) {
			for y := range uint64(3) {
				for x := range uint64(20) {
					row := 3*z + y
					want := host[128*z+32*y+x]
					if (row == 2 || row == 3) && x >= 5 && x < 8 {
						want = 0x11
					}
					if v := got[row*pitch+x]; v != want {
						t.Fatalf("plane %d row %d byte %d is %#x, want %#x", z, y, x, v, want)
					}
				}
			}
		}
	})
}

// TestImages: the forms of device code that a program may contain.
func TestImages(t *testing.T) {
	for _, c := range []struct {
		name  string
		image fatbin.Entry
		want  Error
		says  string
	}{
		{"too new", fatbin.Entry{Kind: fatbin.PTX, SM: 90, Data: []byte(code)}, NoKernelImage, "PTX for sm_90"},
		{"machine code", fatbin.Entry{Kind: fatbin.Cubin, SM: 75, Data: []byte{1}}, NoKernelImage, "no PTX"},
		{"not PTX", fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte("hello")}, InvalidPTX, "found hello"},
		{"garbage", fatbin.Entry{Kind: fatbin.PTX, SM: 70, Flags: 0x2000, Data: []byte("hello"), Size: 20}, InvalidKernelImage, "does not unpack"},
	} {
		b := start(t, nil, c.image)
		b.want(c.name, b.run("spin", 1, 0), c.want)
		b.want(c.name+", again", b.run("spin", 1, 0), c.want)
		if n := strings.Count(b.log.String(), c.says); n != 1 {
			t.Errorf("%s: reported %d times: %s", c.name, n, b.log)
		}
		b.want("all else works", b.Free(b.malloc(4)), Success)
	}
	b := start(t, nil)
	h := b.r.Register(fatbin.Append(nil, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(code)}))
	b.r.RegisterFunction(h, 0x9000, "spin")
	b.want("a second module", b.Launch(0x9000, Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: 1, Y: 1, Z: 1}}, false, nil), Success)
	b.r.Unregister(h)
	b.r.Unregister(h)
	b.want("after it is gone", b.Launch(0x9000, Call{}, false, nil), InvalidDeviceFunction)
	b.want("the first one stays", b.run("spin", 1, 0), Success)
}

// TestProperties: the device has the configured properties.
func TestProperties(t *testing.T) {
	for _, c := range []struct {
		gpu                    string
		major, minor, sms      int
		threads, bus           int
		shared, sharedPerBlock int // KiB of an SM and, on request, of a block
	}{
		// From NVIDIA's data sheets, and the table of compute capabilities.
		{"rtx-2060", 7, 5, 30, 1024, 192, 64, 64},
		{"rtx-a6000", 8, 6, 84, 1536, 384, 100, 99},
	} {
		b := start(t, func(o *Options) { o.GPU = c.gpu })
		p := b.r.Properties()
		if p.Name != c.gpu || p.Major != c.major || p.Minor != c.minor || p.SMs != c.sms || p.ThreadsPerSM != c.threads || p.BusBits != c.bus ||
			p.SharedPerSM != uint64(c.shared)<<10 || p.SharedPerBlockOptIn != uint64(c.sharedPerBlock)<<10 {
			t.Errorf("%s: %+v", c.gpu, p)
		}
		for number, want := range map[int]int{10: 32, 16: c.sms, 75: c.major, 76: c.minor, 97: c.sharedPerBlock << 10} {
			if got, err := b.Attribute(0, number); got != want || err != Success {
				t.Errorf("%s: attribute %d is %d, %v", c.gpu, number, got, err)
			}
		}
		info, err := b.FunctionInfo(kernel("shared"))
		if err != Success || info.Shared != 40000 || info.MaxThreads != 1024 || info.Registers < 1 {
			t.Errorf("%s: %+v, %v", c.gpu, info, err)
		}
		if n, err := b.Occupancy(kernel("shared"), 32, 0); err != Success || n != c.shared<<10/40000 && n != (c.shared<<10)/(40000+1024) {
			t.Errorf("%s: %d blocks of 40000 bytes, %v", c.gpu, n, err)
		}
		if info, _ := b.FunctionInfo(kernel("many")); info.MaxThreads != 64 {
			t.Errorf("%s: %+v", c.gpu, info)
		}
		free, total, _ := b.MemInfo()
		d := b.malloc(1 << 20)
		after, _, _ := b.MemInfo()
		b.Free(d)
		if again, _, _ := b.MemInfo(); total != p.Memory || free-after != 1<<20 || again != free {
			t.Errorf("%s: %d of %d free, then %d, then %d", c.gpu, free, total, after, again)
		}
	}
	if _, err := New(Options{Options: run.Options{GPU: "rtx-2061"}}); err == nil || !strings.Contains(err.Error(), "rtx-2060") {
		t.Errorf("an unknown GPU: %v", err)
	}
}

// TestArrayPlace: the addresses of an array's bytes, and its end.
func TestArrayPlace(t *testing.T) {
	b := start(t, nil)
	h, err := b.MallocArray(Channel{Bits: [4]int32{16, 16}, Kind: 1}, 5, 3, 2, 0)
	b.want("array", err, Success)
	a, err := b.Array(h)
	b.want("array", err, Success)
	first, row, plane, err := a.Place(0, 0, 0, 120)
	if err != Success || row != 5*4 || plane != 3*5*4 || a.Texel() != 4 {
		t.Fatalf("%#x, rows of %d, planes of %d, %v", first, row, plane, err)
	}
	for _, c := range []struct {
		x, y, z, n uint64
		at         uint64
		want       Error
	}{
		{4, 2, 1, 16, 104, Success},
		{4, 2, 1, 17, 0, InvalidValue},
		{20, 0, 0, 0, 0, InvalidValue},
		{0, 3, 0, 0, 0, InvalidValue},
		{0, 0, 2, 0, 0, InvalidValue},
		{0, 0, 0, 121, 0, InvalidValue},
		{1 << 63, 1 << 63, 0, 1, 0, InvalidValue},
	} {
		addr, _, _, err := a.Place(c.x, c.y, c.z, c.n)
		if err != c.want || err == Success && addr != first+c.at {
			t.Errorf("%d bytes at (%d,%d,%d): +%d, %v", c.n, c.x, c.y, c.z, addr-first, err)
		}
	}
	b.want("the last byte", b.Copy(first+119, stack, 1, HostToDevice, 0, false), Success)
	b.want("the next one", b.Copy(first+120, stack, 1, HostToDevice, 0, false), InvalidValue)
}

// TestManyLaunches: memory stays bounded, because the report's list is limited, and
// an event's time counts all instructions.
func TestManyLaunches(t *testing.T) {
	const n = maxListed + 50
	b := start(t, func(o *Options) { o.Settings = run.Settings{}; o.Threads = 1 })
	from, _ := b.EventCreate(0)
	to, _ := b.EventCreate(0)
	b.EventRecord(from, 0, 0)
	for range n {
		if err := b.run("many", 1, 0); err != Success {
			t.Fatal(err)
		}
	}
	b.EventRecord(to, 0, 0)
	if ms, err := b.EventElapsed(from, to); err != Success || ms != n/1e6 {
		t.Errorf("%g ms, %v; want one instruction of a nanosecond for each launch", ms, err)
	}
	res := b.r.Result()
	if len(res.Kernels) != maxListed || res.WarpInstructions != n || !strings.Contains(b.log.String(), "50 more") {
		t.Errorf("%d launches listed, %d instructions: %s", len(res.Kernels), res.WarpInstructions, b.log)
	}
}

// TestAddressesLast: a program may allocate and free memory without end; the card's memory
// always has addresses.
func TestAddressesLast(t *testing.T) {
	b := start(t, nil)
	kept := b.malloc(4096)
	for range 20_000 {
		addr := b.malloc(1 << 30)
		if addr-kept < 4096 || kept-addr < 1<<30 {
			t.Fatalf("%#x and %#x overlap", addr, kept)
		}
		b.want("free", b.Free(addr), Success)
	}
	b.want("launch", b.run("scale", 32, 0, b.malloc(1<<30)), Success)
	b.want("synchronize", b.Synchronize(), Success)

	for _, set := range []string{"functional.memory=64TiB", "chip.memory=8388608"} {
		b := start(t, func(o *Options) {
			if err := o.Settings.Set(set); err != nil {
				t.Fatal(err)
			}
		})
		_, total, err := b.MemInfo()
		b.want("query", err, Success)
		b.want("free", b.Free(b.malloc(total)), Success)
	}
}

// TestFunctionAttributes: attributes of kernels, their initial values, and which values are
// valid (CUDA runtime API, cudaFuncAttribute). A kernel with clusters needs them at its launch.
func TestFunctionAttributes(t *testing.T) {
	b := start(t, func(o *Options) { o.GPU = "h100-pcie" })
	d := b.malloc(4)
	for _, c := range []struct {
		name    string
		id      FunctionAttribute
		initial int
		value   int32
		want    Error
		now     int
	}{
		{"dynamic shared memory", FunctionMaxShared, 48 << 10, 60 << 10, Success, 60 << 10},
		{"too much shared memory", FunctionMaxShared, 60 << 10, 1 << 20, InvalidValue, 60 << 10},
		{"carveout", FunctionCarveout, -1, 50, Success, 50},
		{"carveout beyond all", FunctionCarveout, 50, 101, InvalidValue, 50},
		{"non-portable clusters", FunctionNonPortable, 0, 1, Success, 1},
		{"more than yes", FunctionNonPortable, 1, 2, InvalidValue, 1},
		{"placing of clusters", FunctionSpread, 0, 2, Success, 2},
		{"no such placing", FunctionSpread, 2, 3, InvalidValue, 2},
		{"clusters of one", FunctionClusterWidth, 0, 1, Success, 1},
		{"negative clusters", FunctionClusterHeight, 0, -1, InvalidValue, 0},
		{"whether clusters must be set", 10, 0, 1, InvalidValue, 0},
		{"registers", 4, 0, 1, InvalidValue, 0},
		{"no attribute", 16, 0, 0, InvalidValue, 0},
	} {
		value := func() int {
			info, err := b.FunctionInfo(kernel("add"))
			b.want(c.name, err, Success)
			return info.Attribute(c.id)
		}
		if got := value(); got != c.initial {
			t.Errorf("%s: %d at first, want %d", c.name, got, c.initial)
		}
		b.want(c.name, b.SetFunctionAttribute(kernel("add"), c.id, c.value), c.want)
		if got := value(); got != c.now {
			t.Errorf("%s: %d afterwards, want %d", c.name, got, c.now)
		}
		b.want(c.name+" of no function", b.SetFunctionAttribute(1, c.id, c.value), InvalidDeviceFunction)
	}
	b.want("launch", b.run("add", 1, 0, d, 1), Success)
	b.want("clusters of two", b.SetFunctionAttribute(kernel("add"), FunctionClusterDepth, 2), Success)
	b.want("launch with clusters", b.run("add", 1, 0, d, 1), OutOfResources)
	if !strings.Contains(b.log.String(), "does not divide into clusters of (1,1,2) blocks") {
		t.Errorf("no word of clusters: %s", b.log)
	}
}
