package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/binary/fatbin"
)

// several starts a program on a machine with devices.
func several(t *testing.T, n int, edit func(*Options)) *bench {
	t.Helper()
	return start(t, func(o *Options) {
		o.Devices = n
		if edit != nil {
			edit(o)
		}
	})
}

// use makes a device current.
func (b *bench) use(number int) {
	b.t.Helper()
	b.want("cudaSetDevice", b.SetDevice(number), Success)
}

// fillWords stores 100, 101 and so on in device memory, by a kernel of the current device.
func (b *bench) fillWords(d uint64, n int) {
	b.t.Helper()
	b.want("add", b.run("add", uint32(n), 0, d, 100), Success)
}

// see returns the first words of device memory.
func (b *bench) see(d uint64, n int) []uint32 {
	b.t.Helper()
	b.want("copy to the host", b.Copy(stack, d, uint64(4*n), AnyWay, 0, false), Success)
	return slices.Clone(b.words(stack, n))
}

// TestDeviceCodes: the errors of calls with several devices (CUDA runtime API, the errors
// listed for each function, and CUDA programming guide, chapter on several devices). Device
// 0 is current; at is memory of device 1, stream and event are its own, too.
func TestDeviceCodes(t *testing.T) {
	type things struct{ own, at, stream, event, ownEvent, pool, texture, graph uint64 }
	for _, c := range []struct {
		name string
		call func(b *bench, x things) Error
		want Error
	}{
		{"a device", func(b *bench, x things) Error { return b.SetDevice(2) }, Success},
		{"a device too many", func(b *bench, x things) Error { return b.SetDevice(3) }, InvalidDevice},
		{"a negative device", func(b *bench, x things) Error { return b.SetDevice(-1) }, InvalidDevice},
		{"attribute of a device too many", func(b *bench, x things) Error { _, err := b.Attribute(3, 16); return err }, InvalidDevice},
		{"launch in another device's stream", func(b *bench, x things) Error { return b.run("add", 1, x.stream, x.own, 1) }, InvalidHandle},
		{"record another device's event", func(b *bench, x things) Error { return b.EventRecord(x.event, 0, 0) }, InvalidHandle},
		{"record an event in another device's stream", func(b *bench, x things) Error { return b.EventRecord(x.ownEvent, x.stream, 0) }, InvalidHandle},
		{"record another device's event there", func(b *bench, x things) Error { return b.EventRecord(x.event, x.stream, 0) }, Success},
		{"time between devices", func(b *bench, x things) Error { _, err := b.EventElapsed(x.ownEvent, x.event); return err }, InvalidHandle},
		{"wait for another device's event", func(b *bench, x things) Error { return b.StreamWait(0, x.event, 0) }, Success},
		{"synchronize another device's stream", func(b *bench, x things) Error { return b.StreamSynchronize(x.stream) }, Success},
		{"query another device's event", func(b *bench, x things) Error { return b.EventQuery(x.event) }, Success},
		{"copy in another device's stream", func(b *bench, x things) Error { return b.Copy(x.at, x.own, 16, AnyWay, x.stream, true) }, Success},
		{"fill another device's memory", func(b *bench, x things) Error { return b.Fill(x.at, 1, line(16), 0) }, Success},
		{"free another device's memory", func(b *bench, x things) Error { return b.Free(x.at) }, Success},
		{"destroy another device's stream", func(b *bench, x things) Error { return b.StreamDestroy(x.stream) }, Success},

		{"peer copy", func(b *bench, x things) Error { return b.CopyPeer(x.at, 1, x.own, 0, 64, 0, false) }, Success},
		{"peer copy within a device", func(b *bench, x things) Error { return b.CopyPeer(x.at+32, 1, x.at, 1, 32, 0, false) }, Success},
		{"peer copy of nothing", func(b *bench, x things) Error { return b.CopyPeer(0, 1, 0, 0, 0, 0, false) }, Success},
		{"peer copy from the wrong device", func(b *bench, x things) Error { return b.CopyPeer(x.at, 1, x.own, 1, 64, 0, false) }, InvalidValue},
		{"peer copy to the wrong device", func(b *bench, x things) Error { return b.CopyPeer(x.at, 0, x.own, 0, 64, 0, false) }, InvalidValue},
		{"peer copy to no device", func(b *bench, x things) Error { return b.CopyPeer(x.at, 3, x.own, 0, 64, 0, false) }, InvalidDevice},
		{"peer copy beyond the end", func(b *bench, x things) Error { return b.CopyPeer(x.at, 1, x.own, 0, 65, 0, false) }, InvalidValue},
		{"peer copy to the host", func(b *bench, x things) Error { return b.CopyPeer(stack, 1, x.own, 0, 64, 0, false) }, InvalidValue},

		{"access to itself", func(b *bench, x things) Error { return b.EnablePeer(0, 0) }, InvalidDevice},
		{"access to no device", func(b *bench, x things) Error { return b.EnablePeer(3, 0) }, InvalidDevice},
		{"access with flags", func(b *bench, x things) Error { return b.EnablePeer(1, 1) }, InvalidValue},
		{"access that was not enabled", func(b *bench, x things) Error { return b.DisablePeer(1) }, PeerAccessNotEnabled},
		{"an end of access to no device", func(b *bench, x things) Error { return b.DisablePeer(-1) }, InvalidDevice},
		{"can access no device", func(b *bench, x things) Error { _, err := b.CanAccess(0, 3); return err }, InvalidDevice},
		{"attribute of a device and itself", func(b *bench, x things) Error { _, err := b.PeerAttribute(1, 0, 0); return err }, InvalidDevice},
		{"no such attribute", func(b *bench, x things) Error { _, err := b.PeerAttribute(0, 0, 1); return err }, InvalidValue},

		{"add to another device's graph", func(b *bench, x things) Error { _, err := b.GraphAdd(x.graph, nil, EmptyNode()); return err }, Success},
		{"launch a graph in another device's stream", func(b *bench, x things) Error {
			g, _ := b.GraphCreate(0)
			exec, err := b.GraphInstantiate(g, 0)
			b.want("instantiate", err, Success)
			return b.ExecLaunch(exec, x.stream)
		}, Success},
		{"destroy another device's graph", func(b *bench, x things) Error { return b.GraphDestroy(x.graph) }, Success},
		{"go on with a capture in another device's stream", func(b *bench, x things) Error {
			s, _ := b.StreamCreate(0, 0)
			b.want("begin", b.BeginCapture(s, CaptureRelaxed), Success)
			b.want("record", b.EventRecord(x.ownEvent, s, 0), Success)
			return b.StreamWait(x.stream, x.ownEvent, 0)
		}, Success},

		{"destroy another device's texture", func(b *bench, x things) Error { return b.FreeObject(x.texture, false) }, Success},
		{"destroy a texture of no device", func(b *bench, x things) Error { return b.FreeObject(x.texture+16, false) }, InvalidValue},
		{"a texture of another device's memory", func(b *bench, x things) Error {
			_, err := b.TextureObject(Image{Addr: x.at, Bytes: 64, Channel: floats}, Sampling{}, nil)
			return err
		}, InvalidValue},

		{"another device's pool as the current one", func(b *bench, x things) Error { return b.SetCurrentPool(0, x.pool) }, InvalidValue},
		{"another device's pool as its own", func(b *bench, x things) Error { return b.SetCurrentPool(1, x.pool) }, Success},
		{"a pool of no device", func(b *bench, x things) Error { _, err := b.PoolCreate(3); return err }, InvalidDevice},
		{"a pool closed to its device", func(b *bench, x things) Error { return b.SetPoolAccess(x.pool, 1, poolClosed) }, InvalidValue},
		{"a pool open to no device", func(b *bench, x things) Error { return b.SetPoolAccess(x.pool, 3, poolWriteable) }, InvalidDevice},
		{"odd access to a pool", func(b *bench, x things) Error { return b.SetPoolAccess(x.pool, 0, 2) }, InvalidValue},
	} {
		both(t, func(t *testing.T, mode func(*Options)) {
			b := several(t, 3, mode)
			var x things
			x.own = b.malloc(64)
			x.ownEvent, _ = b.EventCreate(0)
			b.want("own record", b.EventRecord(x.ownEvent, 0, 0), Success)
			b.use(1)
			x.at = b.malloc(64)
			x.stream, _ = b.StreamCreate(0, 0)
			x.event, _ = b.EventCreate(0)
			b.want("record", b.EventRecord(x.event, x.stream, 0), Success)
			x.pool, _ = b.PoolCreate(1)
			x.graph, _ = b.GraphCreate(0)
			var err Error
			x.texture, err = b.TextureObject(Image{Addr: x.at, Bytes: 64, Channel: floats}, Sampling{}, nil)
			b.want("texture", err, Success)
			b.use(0)
			b.want(c.name, c.call(b, x), c.want)
			if last := b.LastError(); last != c.want {
				t.Errorf("%s: the last error is %v", c.name, last)
			}
		})
	}
}

// TestPeerAccess: what kernels of device 0 may do with memory of device 1.
func TestPeerAccess(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(b *bench)
		pool  bool // the memory is of a pool
		want  Error
		says  string
	}{
		{"not enabled", func(b *bench) {}, false, IllegalAddress, "cudaDeviceEnablePeerAccess(1, 0) while device 0 is current allows it"},
		{"enabled", func(b *bench) { b.want("enable", b.EnablePeer(1, 0), Success) }, false, Success, ""},
		{"enabled in the other direction", func(b *bench) {
			b.use(1)
			b.want("enable", b.EnablePeer(0, 0), Success)
			b.use(0)
		}, false, IllegalAddress, "of device 1, which device 0 may not access"},
		{"enabled twice", func(b *bench) {
			b.want("enable", b.EnablePeer(1, 0), Success)
			b.want("again", b.EnablePeer(1, 0), PeerAccessAlreadyEnabled)
		}, false, Success, ""},
		{"disabled", func(b *bench) {
			b.want("enable", b.EnablePeer(1, 0), Success)
			b.want("disable", b.DisablePeer(1), Success)
		}, false, IllegalAddress, "may not access"},
		{"a pool, and enabled", func(b *bench) { b.want("enable", b.EnablePeer(1, 0), Success) }, true, IllegalAddress, "cudaMemPoolSetAccess allows it"},
		{"a pool that is open", func(b *bench) {
			h, err := b.DefaultPool(1)
			b.want("pool", err, Success)
			b.want("open", b.SetPoolAccess(h, 0, poolWriteable), Success)
			if flags, err := b.PoolAccess(h, 0); flags != poolWriteable || err != Success {
				b.t.Errorf("access of device 0: %d, %v", flags, err)
			}
			if flags, err := b.PoolAccess(h, 2); flags != poolClosed || err != Success {
				b.t.Errorf("access of device 2: %d, %v", flags, err)
			}
		}, true, Success, ""},
	} {
		both(t, func(t *testing.T, mode func(*Options)) {
			b := several(t, 3, mode)
			b.use(1)
			at := b.malloc(64)
			if c.pool {
				var err Error
				at, err = b.MallocAsync(64, 0, 0)
				b.want("cudaMallocAsync", err, Success)
			}
			b.use(0)
			c.setup(b)
			b.want(c.name+": launch", b.run("add", 16, 0, at, 7), Success) // it only begins
			b.want(c.name+": device 0", b.Synchronize(), c.want)
			if !strings.Contains(b.log.String(), c.says) {
				t.Errorf("%s: %q does not say %q", c.name, b.log, c.says)
			}
			b.use(1)
			b.want(c.name+": device 1", b.Synchronize(), Success)
			if c.want == Success {
				if got := b.see(at, 3); !slices.Equal(got, []uint32{7, 8, 9}) {
					t.Errorf("%s: device 1 sees %v", c.name, got)
				}
			}
		})
	}
	b := several(t, 2, nil)
	for peer, want := range []bool{false, true} {
		if can, err := b.CanAccess(0, peer); can != want || err != Success {
			t.Errorf("0 can access %d: %v, %v", peer, can, err)
		}
	}
	for which, want := range map[int]int{p2pRank: 0, p2pAccess: 1, p2pAtomics: 1, p2pArrays: 0} {
		if v, err := b.PeerAttribute(which, 0, 1); v != want || err != Success {
			t.Errorf("attribute %d: %v, %v; want %d", which, v, err, want)
		}
	}
}

// Kernels of one device in the memory of another one: add moves 16 bytes per thread, turns
// sets a flag after some turns, spin waits for a flag, and relay waits for one, takes turns,
// and sets the next.
const peerCode = `
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 to, .param .u64 from)
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd0, [to];
	ld.param.u64 %rd1, [from];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mad.lo.u32 %r0, %r1, %r2, %r0;
	mul.wide.u32 %rd2, %r0, 16;
	add.u64 %rd0, %rd0, %rd2;
	add.u64 %rd1, %rd1, %rd2;
	ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1];
	st.global.v4.u32 [%rd0], {%r4, %r5, %r6, %r7};
	ret;
}
.visible .entry turns(.param .u64 flag, .param .u32 n)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	.reg .pred %p;
	ld.param.u64 %rd0, [flag];
	ld.param.u32 %r1, [n];
	mov.u32 %r0, 0;
again:
	add.u32 %r0, %r0, 1;
	setp.lt.u32 %p, %r0, %r1;
	@%p bra again;
	st.volatile.global.u32 [%rd0], 1;
	ret;
}
.visible .entry spin(.param .u64 flag)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	.reg .pred %p;
	ld.param.u64 %rd0, [flag];
again:
	ld.volatile.global.u32 %r0, [%rd0];
	setp.eq.u32 %p, %r0, 0;
	@%p bra again;
	ret;
}
.visible .entry relay(.param .u64 from, .param .u64 to, .param .u32 n)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	.reg .pred %p;
	ld.param.u64 %rd0, [from];
	ld.param.u64 %rd1, [to];
	ld.param.u32 %r1, [n];
wait:
	ld.volatile.global.u32 %r0, [%rd0];
	setp.eq.u32 %p, %r0, 0;
	@%p bra wait;
	mov.u32 %r0, 0;
again:
	add.u32 %r0, %r0, 1;
	setp.lt.u32 %p, %r0, %r1;
	@%p bra again;
	st.volatile.global.u32 [%rd1], 1;
	ret;
}
`

// strangers starts a timing run on two devices that may not access each other's memory.
func strangers(t *testing.T, sets ...string) *bench {
	t.Helper()
	return start(t, func(o *Options) {
		timing(o)
		o.Devices, o.Threads = 2, 1
		o.Settings.Assignments = sets
	}, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(peerCode)})
}

// peers starts a timing run on two devices that may access each other's memory.
func peers(t *testing.T, sets ...string) *bench {
	t.Helper()
	b := strangers(t, sets...)
	for d := range 2 {
		b.use(d)
		b.want("enable", b.EnablePeer(1-d, 0), Success)
	}
	b.use(0)
	return b
}

// TestPeerKernels: in a timing run, kernels that access the memory of another device do so
// at the rate of the link.
func TestPeerKernels(t *testing.T) {
	const n, threads = 1 << 20, 128
	for _, c := range alltests.Some([]struct {
		name     string
		from, to int
		rate     float64 // GB/s; 0: the device's own
	}{{"reads", 1, 0, 16}, {"writes", 0, 1, 16}, {"reads of a faster link", 1, 0, 32}, {"its own memory", 0, 0, 0}}, 2) {
		b := peers(t, "run.launch_latency=0", fmt.Sprintf("link.peer=%d", int(max(1, c.rate)*1000)))
		var at [2]uint64
		for d := range at {
			b.use(d)
			at[d] = b.malloc(2 * n)
		}
		b.want("fill", b.Fill(at[c.from], 9, line(n), 0), Success)
		b.use(0)
		b.want("copy", b.Launch(kernel("add"), Call{Grid: Dim3{X: n / 16 / threads, Y: 1, Z: 1}, Block: Dim3{X: threads, Y: 1, Z: 1}}, false, func(i, _ int, to []byte) {
			binary.LittleEndian.PutUint64(to, []uint64{at[c.to] + n, at[c.from]}[i])
		}), Success)
		b.want("wait", b.Synchronize(), Success)
		if got := b.see(at[c.to]+2*n-4, 1); got[0] != 0x09090909 {
			t.Errorf("%s: %x", c.name, got)
		}
		res := b.r.Result()
		rate := n / (float64(res.Kernels[0].Cycles) / float64(b.r.cfg.Clocks.Core)) / 1e9
		if c.rate == 0 {
			if rate < 100 || len(res.Links) > 0 {
				t.Errorf("%s: %.1f GB/s, links %v", c.name, rate, res.Links)
			}
			continue
		}
		if rate < 0.95*c.rate || rate > 1.05*c.rate {
			t.Errorf("%s: %.1f GB/s, want %v", c.name, rate, c.rate)
		}
		if l := res.Links[0]; len(res.Links) != 1 || l.From != c.from || l.To != c.to || l.Bytes != n || l.Accesses != n/32 || l.Rate < 0.95*c.rate || l.Rate > 1.05*c.rate {
			t.Errorf("%s: %+v", c.name, res.Links)
		}
	}
}

// TestSlowLink: a kernel that waits for an answer over a link makes progress, however slow that
// is. The round trip is longer than the time after which a chip where nothing moves has hung.
func TestSlowLink(t *testing.T) {
	b := peers(t, "link.latency=200000")
	at := b.malloc(16)
	b.want("fill", b.Fill(at, 5, line(16), 0), Success)
	b.use(1)
	to := b.malloc(16)
	b.want("copy", b.run("add", 1, 0, to, at), Success)
	b.want("wait", b.Synchronize(), Success)
	if got := b.see(to, 1); got[0] != 0x05050505 {
		t.Errorf("%x", got)
	}
	if c := b.r.Result().Kernels[0].Cycles; c < 100_000*1_365/1000 {
		t.Errorf("it took %d cycles", c)
	}
}

// TestPeerSignals: a kernel that waits for what another device will do goes on when that has
// happened, however long it takes; if nobody can end the wait, it ends with a limit. Each
// wait is several times the window of the search for endless loops.
func TestPeerSignals(t *testing.T) {
	const long = 20_000
	type flags struct{ a, b uint64 } // of device 0
	launch := func(b *bench, number int, name string, args ...uint64) {
		b.t.Helper()
		b.use(number)
		s, _ := b.StreamCreate(1, 0)
		b.want(name, b.run(name, 1, s, args...), Success)
	}
	for _, c := range []struct {
		name  string
		waits int // device
		setup func(b *bench, x flags)
		want  Error
	}{
		{"a flag in its own memory", 0, func(b *bench, x flags) {
			launch(b, 0, "spin", x.a)
			launch(b, 1, "turns", x.a, long)
		}, Success},
		{"the other way round", 1, func(b *bench, x flags) {
			launch(b, 1, "spin", x.a)
			launch(b, 0, "turns", x.a, long)
		}, Success},
		{"a chain: the other device waited, too, and then computes", 0, func(b *bench, x flags) {
			launch(b, 0, "spin", x.a)
			launch(b, 1, "relay", x.b, x.a, long)
			launch(b, 0, "turns", x.b, long)
		}, Success},
		{"a kernel that begins late", 0, func(b *bench, x flags) {
			launch(b, 0, "spin", x.a)
			launch(b, 0, "turns", x.b, long)
			e, _ := b.EventCreate(0)
			s, _ := b.StreamCreate(1, 0)
			b.want("wait in the stream", b.run("relay", 1, s, x.b, x.b, 1), Success)
			b.want("record", b.EventRecord(e, s, 0), Success)
			b.use(1)
			b.want("wait", b.StreamWait(0, e, 0), Success)
			b.want("turns", b.run("turns", 1, 0, x.a, long), Success)
		}, Success},
		{"nobody", 0, func(b *bench, x flags) { launch(b, 0, "spin", x.a) }, LaunchTimeout},
		{"each other", 0, func(b *bench, x flags) {
			launch(b, 0, "relay", x.a, x.b, 1)
			launch(b, 1, "relay", x.b, x.a, 1)
		}, LaunchTimeout},
	} {
		b := peers(t)
		x := flags{b.malloc(4), b.malloc(4)}
		b.want("fill", b.Fill(x.a, 0, line(4), 0), Success)
		b.want("fill", b.Fill(x.b, 0, line(4), 0), Success)
		b.want("wait", b.Synchronize(), Success)
		c.setup(b, x)
		b.use(c.waits)
		b.want(c.name, b.Synchronize(), c.want)
		if c.want != Success && !strings.Contains(b.log.String(), "none changes memory") {
			t.Errorf("%s: %s", c.name, b.log)
		}
		if c.name == "each other" {
			b.SetDevice(1)
			b.want("the other", b.Synchronize(), LaunchTimeout)
		}
	}
}

// TestHostThreads: a kernel that waits for one which another thread of the program has yet to
// launch goes on, though the thread that waits for it was first; not if no thread does.
func TestHostThreads(t *testing.T) {
	synchronize := func(b *bench, _ uint64) Error { return b.Synchronize() }
	for _, c := range []struct {
		name string
		wait func(b *bench, flag uint64) Error
		call func(b *bench, flag, event uint64) // of the other thread
		ends bool                               // after it
		want Error
	}{
		{"a launch", synchronize, func(b *bench, flag, _ uint64) { b.want("turns", b.run("turns", 1, 0, flag, 10), Success) }, true, Success},
		{"a launch, while the other thread copies", func(b *bench, flag uint64) Error { return b.Copy(stack, flag, 4, DeviceToHost, 0, false) }, func(b *bench, flag, _ uint64) {
			b.want("turns", b.run("turns", 1, 0, flag, 10), Success)
		}, true, Success},
		{"a launch, and a wait for it", synchronize, func(b *bench, flag, _ uint64) {
			b.want("turns", b.run("turns", 1, 0, flag, 10), Success)
			b.want("wait", b.Synchronize(), Success)
		}, true, Success},
		{"queries", synchronize, func(b *bench, _, event uint64) { b.EventQuery(event) }, false, LaunchTimeout},
	} {
		b := peers(t)
		flag := b.malloc(4)
		b.want("fill", b.Fill(flag, 0, line(4), 0), Success)
		b.want("spin", b.run("spin", 1, 0, flag), Success)
		event, _ := b.EventCreate(0)
		b.want("record", b.EventRecord(event, 0, 0), Success)
		other := *b
		other.Thread = b.r.Thread(2)
		other.use(1)
		waited := make(chan Error, 1)
		go func() { waited <- c.wait(b, flag) }()
		for len(waited) == 0 && b.r.mu.TryLock() { // until it waits
			b.r.mu.Unlock()
		}
		var got Error
		for over := false; !over; {
			c.call(&other, flag, event)
			if c.ends {
				got = <-waited
				break
			}
			select {
			case got = <-waited:
				over = true
			default:
			}
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v\n%s", c.name, got, c.want, b.log)
		}
	}
}

// TestCopySignals: what TestPeerSignals says, of a copy that another device will make.
func TestCopySignals(t *testing.T) {
	for _, c := range []struct {
		name string
		late bool // the copy waits for the kernel that waits for it
		want Error
	}{{"a copy after a kernel", false, Success}, {"a copy that waits for the kernel", true, LaunchTimeout}} {
		b := strangers(t)
		flag := b.malloc(4)
		b.want("fill", b.Fill(flag, 0, line(4), 0), Success)
		b.want("spin", b.run("spin", 1, 0, flag), Success)
		e, _ := b.EventCreate(0)
		b.want("record", b.EventRecord(e, 0, 0), Success)
		b.use(1)
		from := b.malloc(4)
		if c.late {
			b.want("wait", b.StreamWait(0, e, 0), Success)
		}
		b.want("turns", b.run("turns", 1, 0, from, 20_000), Success)
		b.want("copy", b.CopyPeer(flag, 0, from, 1, 4, 0, true), Success)
		b.use(0)
		b.want(c.name, b.Synchronize(), c.want)
	}
}

// TestDevicesApart: a fault or a reset of one device leaves the others as they are.
func TestDevicesApart(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := several(t, 3, mode)
		pinned, err := b.MallocHost(64, 0)
		b.want("pinned memory of device 0", err, Success)
		at := b.malloc(64)
		stream, _ := b.StreamCreate(0, 0)
		b.fillWords(at, 16)
		b.use(1)
		other := b.malloc(64)
		gone, _ := b.StreamCreate(0, 0)
		b.want("wild", b.run("wild", 1, 0, other), Success)
		b.want("device 1", b.Synchronize(), IllegalAddress)
		b.want("it stays so", b.PeekError(), IllegalAddress)
		b.want("a copy to it", b.Copy(other, at, 16, AnyWay, 0, false), IllegalAddress)
		b.use(0)
		b.want("device 0", b.Synchronize(), Success)
		b.want("its stream", b.StreamSynchronize(stream), Success)
		b.fillWords(pinned, 16)
		b.want("wait", b.Synchronize(), Success)
		if got, shared := b.see(at, 2), b.words(pinned, 2); !slices.Equal(got, []uint32{100, 101}) || !slices.Equal(shared, got) {
			t.Errorf("device 0 has %v and %v", got, shared)
		}
		b.want("a copy to the faulty device", b.Copy(other, at, 16, AnyWay, 0, false), IllegalAddress)
		b.want("the faulty device becomes current, and says so", b.SetDevice(1), IllegalAddress)
		b.want("reset", b.Reset(), Success)
		b.want("its stream is gone", b.StreamSynchronize(gone), InvalidHandle)
		b.want("its memory is gone", b.Free(other), InvalidValue)
		b.want("the other stream is not", b.StreamSynchronize(stream), Success)
		again := b.malloc(64)
		b.fillWords(again, 16)
		b.want("a copy between both", b.CopyPeer(again, 1, at, 0, 4, 0, false), Success)
		b.fillWords(pinned, 1)
		b.want("device 1", b.Synchronize(), Success)
		if got := b.see(again, 2); !slices.Equal(got, []uint32{100, 101}) {
			t.Errorf("device 1 has %v", got)
		}
		b.use(0)
		b.want("reset", b.Reset(), Success)
		b.want("its pinned memory is gone", b.FreeHost(pinned), InvalidValue)
		b.use(1)
		b.want("device 1", b.run("add", 1, 0, again, 5), Success)
		b.want("device 1", b.Synchronize(), Success)
		for _, k := range b.r.Result().Kernels {
			if k.KernelTiming != nil && k.Cycles > 1_000_000 {
				t.Errorf("launch %d takes %d cycles", k.Launch, k.Cycles)
			}
		}
		if res := b.r.Result(); res.OK || res.Error == nil {
			t.Errorf("the fault is not in the result: %+v", res)
		}
	})
}

// TestDeviceState: what every device has for itself, and what they share.
func TestDeviceState(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := several(t, 3, mode)
		if n, err := b.Devices(); n != 3 || err != Success {
			t.Errorf("%d devices, %v", n, err)
		}
		var symbols, memory []uint64
		for d := range 3 {
			b.use(d)
			if n, err := b.Current(); n != d || err != Success {
				t.Errorf("current: %d, %v", n, err)
			}
			s, _, err := b.Symbol(variableOf("factor"))
			b.want("symbol", err, Success)
			at := b.malloc(1 << 20)
			symbols, memory = append(symbols, s), append(memory, at)
			if w, n, err := b.Where(at); w != DeviceMemory || n != d || err != Success {
				t.Errorf("memory of device %d: %v of %d, %v", d, w, n, err)
			}
			binary.LittleEndian.PutUint32(b.host.Bytes(stack, 4), uint32(d+2))
			b.want("to symbol", b.CopyToSymbol(variableOf("factor"), stack, 4, 0, HostToDevice, 0, false), Success)
			b.fillWords(at, 2)
		}
		if symbols[0] == symbols[1] || symbols[1] == symbols[2] {
			t.Errorf("the variable of each device: %#x", symbols)
		}
		for d := range 3 { // each with its own factor
			b.use(d)
			b.want("scale", b.run("scale", 2, 0, memory[d]), Success)
			if got, want := b.see(memory[d], 2), []uint32{uint32(100 * (d + 2)), uint32(101 * (d + 2))}; !slices.Equal(got, want) {
				t.Errorf("device %d: %v, want %v", d, got, want)
			}
			if free, total, err := b.MemInfo(); total-free < 1<<20 || total-free > 2<<20 || err != Success {
				t.Errorf("device %d: %d bytes in use, %v", d, total-free, err)
			}
		}
		if free, total := b.Room(1); total-free < 1<<20 {
			t.Errorf("device 1 for observers: %d bytes in use", total-free)
		}
		// Managed memory is the same on all.
		all, err := b.MallocManaged(64, 1)
		b.want("managed", err, Success)
		for d := range 3 {
			b.use(d)
			b.want("add", b.run("add", 1, 0, all+uint64(4*d), uint64(d+1)), Success)
			b.want("wait", b.Synchronize(), Success)
		}
		if got := b.words(all, 3); !slices.Equal(got, []uint32{1, 2, 3}) {
			t.Errorf("managed memory: %v", got)
		}
		// Each thread has its own current device.
		if n, err := b.r.Thread(2).Current(); n != 0 || err != Success {
			t.Errorf("another thread's device: %d, %v", n, err)
		}
		// A later allocation of the host is there for all, too.
		b.use(1)
		pinned, err := b.MallocHost(64, 0)
		b.want("pinned", err, Success)
		b.use(2)
		b.fillWords(pinned, 2)
		b.want("wait", b.Synchronize(), Success)
		if got := b.words(pinned, 2); !slices.Equal(got, []uint32{100, 101}) {
			t.Errorf("pinned memory: %v", got)
		}
		if w, n, err := b.Where(pinned); w != HostMemory || n != 1 || err != Success {
			t.Errorf("pinned memory: %v of %d, %v", w, n, err)
		}
		b.want("free", b.FreeHost(pinned), Success)
		if len(b.host.pieces) != 2 { // the stack and the managed memory
			t.Errorf("%d pieces of the host's memory", len(b.host.pieces))
		}
	})
}

// TestDeviceNames: devices of a machine differ in their addresses on the bus and in their
// identifiers, and in nothing else.
func TestDeviceNames(t *testing.T) {
	b := several(t, 2, nil)
	p, _ := b.r.PropertiesOf(0)
	q, ok := b.r.PropertiesOf(1)
	if !ok || p.BusID() != "0000:00:00.0" || q.BusID() != "0000:01:00.0" || p.UUIDText() != "GPU-7274782d-3230-3630-0000-000000000000" || q.UUIDText() != "GPU-7274782d-3230-3630-0000-000000000001" {
		t.Errorf("%s %s, %s %s", p.BusID(), p.UUIDText(), q.BusID(), q.UUIDText())
	}
	if q.Index = 0; p != q {
		t.Errorf("%+v\n%+v", p, q)
	}
	if n, err := b.r.AtBus("0000:01:00.0"); n != 1 || err != Success {
		t.Errorf("at the bus: %d, %v", n, err)
	}
	if _, err := b.r.AtBus("0000:02:00.0"); err != InvalidDevice {
		t.Errorf("nothing at the bus: %v", err)
	}
	if _, ok := b.r.PropertiesOf(2); ok {
		t.Error("properties of no device")
	}
	if v, err := b.Attribute(1, 33); v != 1 || err != Success {
		t.Errorf("the bus of device 1: %d, %v", v, err)
	}
}

// TestVisible: CUDA_VISIBLE_DEVICES on a machine with four devices (CUDA programming guide,
// environment variables).
func TestVisible(t *testing.T) {
	for value, want := range map[string][]int{
		"0": {0}, "2": {2}, "3,1": {3, 1}, " 1 , 0 ": {1, 0}, "0,1,2,3": {0, 1, 2, 3},
		"": {}, "-1": {}, "4": {}, "no": {}, "1,-1,2": {1}, "0,4,1": {0}, "2,two,1": {2}, "1,1": {}, "0,2,0": {},
		"GPU-7274782d-3230-3630-0000-000000000002":   {2},
		"1,GPU-7274782d-3230-3630-0000-000000000000": {1, 0},
		"GPU-7274782d": {}, "GPU-": {}, "gpu-7274782d-3230-3630-0000-000000000002": {},
	} {
		b := several(t, 4, func(o *Options) { o.Visible = &value })
		n, err := b.Devices()
		if len(want) == 0 {
			if n != 0 || err != NoDevice {
				t.Errorf("%q: %d devices, %v", value, n, err)
			}
			if _, err := b.Malloc(4); err != NoDevice {
				t.Errorf("%q: cudaMalloc: %v", value, err)
			}
			b.want("cudaSetDevice", b.SetDevice(0), NoDevice)
			b.want("cudaDeviceReset", b.Reset(), NoDevice)
			if said := strings.Contains(b.log.String(), "selects none of the machine's devices, 0 to 3"); said != (value != "" && value != "-1") {
				t.Errorf("%q: %s", value, b.log)
			}
			if res := b.Driver().Init(0); res != NoDevice.Result() {
				t.Errorf("%q: cuInit: %v", value, res)
			}
			continue
		}
		var got []int
		for i := range n {
			p, _ := b.r.PropertiesOf(i)
			got = append(got, p.Index)
		}
		if !slices.Equal(got, want) || err != Success {
			t.Errorf("%q: %v, want %v (%v)", value, got, want, err)
		}
		if list := b.r.Machine(); len(list) != 4 || list[3].Index != 3 {
			t.Errorf("%q: the machine has %d devices", value, len(list))
		}
	}
	for _, n := range []int{-1, MaxDevices + 1} {
		if _, err := New(Options{Devices: n}); err == nil || !strings.Contains(err.Error(), "want 1 to 16") {
			t.Errorf("%d devices: %v", n, err)
		}
	}
}

// TestDeviceContexts: contexts of the driver on several devices.
func TestDeviceContexts(t *testing.T) {
	b := several(t, 2, nil)
	d := b.Driver()
	want := func(what string, got, want Result) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v\n%s", what, got, want, b.log)
		}
	}
	at := func(number int) {
		t.Helper()
		if n, res := d.ContextDevice(0); n != number || res != ResultSuccess {
			t.Errorf("current is %d, %v; want %d", n, res, number)
		}
	}
	want("cuInit", d.Init(0), ResultSuccess)
	zero, res := d.CreateContext(0, 0)
	want("a context of device 0", res, ResultSuccess)
	one, res := d.CreateContext(0, 1)
	want("a context of device 1", res, ResultSuccess)
	_, res = d.CreateContext(0, 2)
	want("a context of device 2", res, ResultInvalidDevice)
	at(1)
	m, res, _ := d.LoadModule("", []byte(plusText))
	want("a module of device 1", res, ResultSuccess)
	f, res := d.Function(m, "plus")
	want("its kernel", res, ResultSuccess)
	mem, err := b.Malloc(64)
	b.want("memory", err, Success)
	launch := func() Result {
		return d.Launch(f, Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: 4, Y: 1, Z: 1}}, false, nil, func(n int, to []byte) {
			binary.LittleEndian.PutUint32(to, 5)
			if n == 0 {
				binary.LittleEndian.PutUint64(to, mem)
			}
		})
	}
	want("launch", launch(), ResultSuccess)
	if got := b.see(mem, 2); !slices.Equal(got, []uint32{5, 6}) {
		t.Errorf("device 1 has %v", got)
	}
	want("current", d.SetContext(zero), ResultSuccess)
	at(0)
	want("launch of another device's kernel", launch(), ResultInvalidHandle)
	p, res := d.RetainPrimary(1)
	want("the primary context of device 1", res, ResultSuccess)
	if n, res := d.ContextDevice(p); n != 1 || res != ResultSuccess || p == one {
		t.Errorf("it is %#x of device %d, %v", p, n, res)
	}
	_, res = d.RetainPrimary(2)
	want("the primary context of device 2", res, ResultInvalidDevice)
	want("push", d.PushContext(p), ResultSuccess)
	at(1)
	want("launch", launch(), ResultSuccess)
	if h, res := d.PopContext(); h != p || res != ResultSuccess {
		t.Errorf("pop: %#x, %v", h, res)
	}
	at(0)
	want("release", d.ReleasePrimary(1), ResultSuccess)
	want("destroy", d.DestroyContext(one), ResultSuccess)
	at(0)
	b.want("device 1 was reset with its last context", b.Free(mem), InvalidValue)
	own := b.malloc(4)
	want("destroy", d.DestroyContext(zero), ResultSuccess)
	b.want("and device 0", b.Free(own), InvalidValue)
}

// TestMappedDevices: memory of two devices side by side in one range of addresses.
func TestMappedDevices(t *testing.T) {
	b := several(t, 2, nil)
	at, err := b.Reserve(2*Granularity, 0)
	b.want("reserve", err, Success)
	var handles [2]uint64
	for d := range handles {
		h, err := b.MemCreate(d, Granularity)
		b.want("create", err, Success)
		b.want("map", b.MemMap(at+uint64(d)*Granularity, Granularity, h), Success)
		if n, err := b.MemIs(h); n != d || err != Success {
			t.Errorf("memory of device %d: %d, %v", d, n, err)
		}
		handles[d] = h
	}
	_, err = b.MemCreate(2, Granularity)
	b.want("memory of no device", err, InvalidDevice)
	b.want("access of no device", b.SetAccess(2, at, Granularity, 3), InvalidDevice)
	b.want("access of device 0", b.SetAccess(0, at, 2*Granularity, 3), Success)
	if flags, err := b.AccessAt(1, at); flags != 0 || err != Success {
		t.Errorf("access of device 1: %d, %v", flags, err)
	}
	middle := at + Granularity - 8
	b.fillWords(middle, 4)
	if got := b.see(middle, 4); !slices.Equal(got, []uint32{100, 101, 102, 103}) {
		t.Errorf("across both: %v", got)
	}
	if h, err := b.MemRetain(at + Granularity); h != handles[1] || err != Success {
		t.Errorf("retained %#x, %v", h, err)
	}
	b.use(1)
	b.want("device 1 without access: launch", b.run("add", 1, 0, at, 1), Success)
	b.want("device 1 without access", b.Synchronize(), IllegalAddress)
	b.want("reset", b.Reset(), Success)
	b.use(0)
	b.want("unmap", b.MemUnmap(at, 2*Granularity), Success)
	b.want("its memory went with it", b.MemRelease(handles[1]), InvalidValue)
	b.want("release", b.MemRelease(handles[0]), Success)
}

// TestDevicesSideBySide: in a timing run the kernels of several devices take the cycles of
// one alone, at the same time; events order them across devices.
func TestDevicesSideBySide(t *testing.T) {
	alone := start(t, timing)
	alone.want("turns", alone.run("turns", 32, 0, 1000), Success)
	one := alone.r.Result().Kernels[0].Cycles
	if one < 1000 {
		t.Fatalf("a kernel of 1000 turns takes %d cycles", one)
	}
	const late = 512 // cycles; more than it takes until a device hears of an event of another one
	for _, c := range []struct {
		name   string
		launch func(b *bench)
		starts []uint64 // in kernels that went before
	}{
		{"at the same time", func(b *bench) {
			for d := range 4 {
				b.use(d)
				b.want("turns", b.run("turns", 32, 0, 1000), Success)
			}
		}, []uint64{0, 0, 0, 0}},
		{"one after another, by events", func(b *bench) {
			var before uint64
			for d := range 3 {
				b.use(d)
				if d > 0 {
					b.want("wait", b.StreamWait(0, before, 0), Success)
				}
				b.want("turns", b.run("turns", 32, 0, 1000), Success)
				before, _ = b.EventCreate(0)
				b.want("record", b.EventRecord(before, 0, 0), Success)
			}
		}, []uint64{0, 1, 2}},
		{"a host that waits for each", func(b *bench) {
			for d := range 3 {
				b.use(d)
				b.want("turns", b.run("turns", 32, 0, 1000), Success)
				b.want("wait", b.Synchronize(), Success)
			}
		}, []uint64{0, 1, 2}},
		{"a host that waits for the first", func(b *bench) {
			b.want("turns", b.run("turns", 32, 0, 1000), Success)
			b.use(1)
			b.want("turns", b.run("turns", 32, 0, 1000), Success)
			b.use(0)
			b.want("wait", b.Synchronize(), Success)
			b.want("turns", b.run("turns", 32, 0, 1000), Success)
			b.use(2)
			b.want("turns", b.run("turns", 32, 0, 1000), Success)
		}, []uint64{0, 0, 1, 1}},
	} {
		b := several(t, 4, timing)
		c.launch(b)
		res := b.r.Result()
		if len(res.Kernels) != len(c.starts) || !res.OK {
			t.Fatalf("%s: %d kernels, %v\n%s", c.name, len(res.Kernels), res.Error, b.log)
		}
		for i, k := range res.Kernels {
			if k.Cycles != one || k.StartCycle < c.starts[i]*one || k.StartCycle > c.starts[i]*(one+late) || k.Device == nil {
				t.Errorf("%s: launch %d on %v from %d, for %d cycles; want %d after %d kernels", c.name, i, k.Device, k.StartCycle, k.Cycles, one, c.starts[i])
			}
		}
		if n := uint64(len(c.starts)); res.WarpInstructions != n*alone.r.Result().WarpInstructions || res.Cycles < one || len(res.PerSM) != 4*30 || *res.PerSM[119].Device != 3 {
			t.Errorf("%s: %d warp instructions in %d cycles on %d SMs", c.name, res.WarpInstructions, res.Cycles, len(res.PerSM))
		}
	}
}

// TestPeerLinks: copies between devices take the time of the configured link, and the report
// shows its rate.
func TestPeerLinks(t *testing.T) {
	const n = 16 << 20
	for _, c := range []struct {
		set  []string
		want float64 // GB/s
	}{
		{[]string{"link.peer=25000"}, 25}, {[]string{"link.peer=300000", "link.latency=0"}, 300}, {[]string{"link.to_host=8000"}, 8}, {[]string{"link.peer=64000", "run.copies=timed"}, 64},
	} {
		b := several(t, 2, func(o *Options) {
			timing(o)
			o.Settings.Assignments = c.set
		})
		at := b.malloc(n)
		b.want("fill", b.Fill(at, 7, line(n), 0), Success)
		b.use(1)
		to := b.malloc(n)
		b.use(0)
		b.want("wait", b.Synchronize(), Success)
		before, _ := b.EventCreate(0)
		after, _ := b.EventCreate(0)
		b.want("record", b.EventRecord(before, 0, 0), Success)
		b.want("copy", b.CopyPeer(to, 1, at, 0, n, 0, true), Success)
		b.want("record", b.EventRecord(after, 0, 0), Success)
		b.want("wait", b.Synchronize(), Success)
		ms, err := b.EventElapsed(before, after)
		b.want("elapsed", err, Success)
		if rate := n / ms / 1e6; rate < 0.95*c.want || rate > 1.05*c.want {
			t.Errorf("%v: %.2f GB/s, want %v", c.set, rate, c.want)
		}
		if got := b.see(to+n-8, 2); !slices.Equal(got, []uint32{0x07070707, 0x07070707}) {
			t.Errorf("%v: the other device has %x", c.set, got)
		}
		res := b.r.Result()
		if len(res.Links) != 1 {
			t.Fatalf("%+v", res.Links)
		}
		if l := res.Links[0]; l.From != 0 || l.To != 1 || l.Copies != 1 || l.Bytes != n || l.Rate < 0.95*c.want || l.Rate > 1.05*c.want {
			t.Errorf("%v: %+v", c.set, l)
		}
	}
}

// TestDevicesReport: launches and links name their devices, and with one device nothing
// does.
func TestDevicesReport(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		for _, n := range []int{1, 2} {
			b := several(t, n, mode)
			at := b.malloc(64)
			b.fillWords(at, 16)
			if n > 1 {
				b.use(1)
				to := b.malloc(64)
				b.want("copy", b.CopyPeer(to, 1, at, 0, 64, 0, true), Success)
				b.fillWords(to, 16)
			}
			res := b.r.Result()
			var text, js bytes.Buffer
			if err := errors.Join(res.WriteText(&text), res.WriteJSON(&js)); err != nil {
				t.Fatal(err)
			}
			wide := regexp.MustCompile(`(?m)^launch +device .*\n +0 +0 .*\n +1 +1 `).MatchString(text.String())
			link := strings.Contains(text.String(), "\ndevice 0 to 1  ")
			if wide != (n > 1) || link != (n > 1 && mode != nil) || strings.Contains(js.String(), `"device"`) != (n > 1) || strings.Contains(js.String(), `"links"`) != link {
				t.Errorf("%d devices:\n%s", n, &text)
			}
		}
	})
}

// TestFaultElsewhere: a fault of one device while the host waits for another is the error of
// the one only, also for work that waits for it.
func TestFaultElsewhere(t *testing.T) {
	b := several(t, 3, timing)
	at := b.malloc(64)
	b.want("turns", b.run("turns", 32, 0, 20_000), Success)
	b.use(1)
	other := b.malloc(64)
	b.want("wild", b.run("wild", 1, 0, other), Success)
	broken, _ := b.EventCreate(0)
	b.want("record", b.EventRecord(broken, 0, 0), Success)
	b.use(2)
	b.want("wait for what will not come", b.StreamWait(0, broken, 0), Success)
	b.want("turns", b.run("turns", 32, 0, 10), Success)
	b.use(0)
	b.want("device 0", b.Synchronize(), Success)
	b.fillWords(at, 16)
	b.want("device 0", b.Synchronize(), Success)
	b.use(2)
	b.want("device 2", b.Synchronize(), Success)
	b.want("device 1 becomes current", b.SetDevice(1), IllegalAddress)
	b.want("device 1", b.Synchronize(), IllegalAddress)
	b.want("its event", b.EventSynchronize(broken), IllegalAddress)
	if res := b.r.Result(); res.OK || res.Error == nil || res.Error.Kind != "fault" || len(res.Kernels) != 4 {
		t.Errorf("%+v", res)
	}
}

// TestFaultsTogether: where several devices fault in the same cycle, each has its error, and
// the program learns of all of them.
func TestFaultsTogether(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := several(t, 3, mode)
		for d := range 3 {
			b.use(d)
			at := b.malloc(64)
			b.want("wild", b.run("wild", 1, 0, at), Success)
		}
		for _, d := range []int{1, 0, 2} {
			b.SetDevice(d)
			b.want(fmt.Sprint("device ", d), b.Synchronize(), IllegalAddress)
		}
		for d := range 3 {
			if n := strings.Count(b.log.String(), fmt.Sprintf("from device %d from now on", d)); n != 1 {
				t.Errorf("device %d: said %d times:\n%s", d, n, b.log)
			}
		}
	})
}

// TestDevicesThreads: a timing run on four devices that read and write each other's memory, copy,
// and wait for each other's events has the same result, bit for bit, for every number of
// threads of the simulator.
func TestDevicesThreads(t *testing.T) {
	alltests.Only(t, "several devices with several workers")
	const devices, blocks, threads = 4, 40, 128
	const n = blocks * threads * 16 // bytes
	var first []byte
	for _, workers := range alltests.Some([]int{1, 4, 2}, 2) {
		b := start(t, func(o *Options) {
			timing(o)
			o.Devices, o.Threads = devices, workers
		}, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(peerCode)})
		var at [devices]uint64
		var done [devices]uint64
		for d := range devices {
			b.use(d)
			b.want("enable", b.EnablePeer((d+1)%devices, 0), Success)
			at[d] = b.malloc(3 * n)
			b.want("fill", b.Fill(at[d], byte(d+1), line(3*n), 0), Success)
			done[d], _ = b.EventCreate(0)
		}
		for round := range 2 {
			for d := range devices {
				next := (d + 1) % devices
				b.use(d)
				if round > 0 {
					b.want("wait", b.StreamWait(0, done[next], 0), Success)
				}
				for _, x := range [][2]uint64{{at[d] + n, at[next]}, {at[next] + 2*n, at[d]}} { // reads, and writes
					b.want("add", b.Launch(kernel("add"), Call{Grid: Dim3{X: blocks, Y: 1, Z: 1}, Block: Dim3{X: threads, Y: 1, Z: 1}}, false, func(i, _ int, to []byte) {
						binary.LittleEndian.PutUint64(to, x[i])
					}), Success)
				}
				b.want("copy", b.CopyPeer(at[next], next, at[d]+n, d, n/2, 0, true), Success)
				b.want("record", b.EventRecord(done[d], 0, 0), Success)
			}
		}
		var sums []uint32
		for d := range devices {
			b.use(d)
			b.want("wait", b.Synchronize(), Success)
			sums = append(sums, b.see(at[d]+n-4, 1)[0], b.see(at[d]+2*n-4, 1)[0], b.see(at[d]+3*n-4, 1)[0])
		}
		res := b.r.Result()
		res.Seconds = 0
		js := bytes.NewBufferString(fmt.Sprintln(sums))
		if err := res.WriteJSON(js); err != nil {
			t.Fatal(err)
		}
		if len(res.Links) < 2*devices || !res.OK || len(res.Kernels) != 4*devices {
			t.Fatalf("%d links, %d kernels", len(res.Links), len(res.Kernels))
		}
		if first == nil {
			first = js.Bytes()
		} else if !bytes.Equal(first, js.Bytes()) {
			t.Errorf("%d threads: another result than with 1", workers)
		}
	}
}

// TestDevicesNotWarm: kernels that run twice would show on other devices.
func TestDevicesNotWarm(t *testing.T) {
	o := Options{}
	o.GPU, o.Timing, o.Devices = "rtx-2060", true, 2
	if err := o.Settings.Set("run.caches=warm"); err != nil {
		t.Fatal(err)
	}
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "needs --devices 1") {
		t.Errorf("error %v", err)
	}
	o.Devices = 1
	if _, err := New(o); err != nil {
		t.Error(err)
	}
}
