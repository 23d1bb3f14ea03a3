package cuda

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"testing"
)

// args returns words as the arguments of a kernel.
func args(words ...uint64) func(int, int, []byte) {
	return func(n, _ int, to []byte) {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], words[n])
		copy(to, word[:])
	}
}

// warp is a launch of one block of threads.
func warp(threads uint32) Call {
	return Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: threads, Y: 1, Z: 1}}
}

// exec instantiates a graph.
func (b *bench) exec(g, flags uint64) uint64 {
	b.t.Helper()
	x, err := b.GraphInstantiate(g, flags)
	b.want("instantiate", err, Success)
	return x
}

// node adds a node to a graph.
func (b *bench) node(g uint64, what Work, deps ...uint64) uint64 {
	b.t.Helper()
	n, err := b.GraphAdd(g, deps, what)
	b.want("add a node", err, Success)
	return n
}

// diamond is a graph of two long kernels in parallel and a short one after both, which is
// made first.
func (b *bench) diamond() uint64 {
	g, err := b.GraphCreate(0)
	b.want("graph", err, Success)
	turns := func(n uint64) Work { return KernelNode(kernel("turns"), warp(32), false, args(n)) }
	last := b.node(g, turns(short))
	first := []uint64{b.node(g, turns(long)), b.node(g, turns(long))}
	b.want("connect", b.GraphConnect(g, first, []uint64{last, last}, true), Success)
	return g
}

// TestCapture: the graph that a capture makes of the work of several streams, and
// the effect of launching it.
func TestCapture(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		a, _ := b.StreamCreate(0, 0)
		c, _ := b.StreamCreate(0, 0)
		fork, _ := b.EventCreate(noTiming)
		join, _ := b.EventCreate(noTiming)
		d, e := b.malloc(40), b.malloc(40)
		pinned, _ := b.MallocHost(80, 0)
		ran := 0
		b.host.calls = []func(uint64){func(uint64) { ran++ }}

		b.want("begin", b.BeginCapture(a, CaptureGlobal), Success)
		if info, err := b.CaptureInfo(a); info.Status != CaptureActive || info.ID == 0 || len(info.Tail) != 0 || err != Success {
			t.Errorf("at the beginning: %+v, %v", info, err)
		}
		b.want("fill", b.Fill(d, 0xff, line(40), a), Success)
		b.want("fork", b.EventRecord(fork, a, 0), Success)
		b.want("fork", b.StreamWait(c, fork, 0), Success)
		b.want("launch", b.run("add", 10, a, d, 5), Success)
		b.want("launch", b.run("add", 10, c, e, 6), Success)
		b.want("launch", b.run("scale", 10, c, e), Success)
		b.want("join", b.EventRecord(join, c, 0), Success)
		b.want("join", b.StreamWait(a, join, 0), Success)
		if info, _ := b.CaptureInfo(a); len(info.Tail) != 2 {
			t.Errorf("after the join: %+v", info)
		}
		b.want("copy", b.Copy(pinned, d, 40, DeviceToHost, a, true), Success)
		b.want("copy", b.Copy(pinned+40, e, 40, AnyWay, a, true), Success)
		b.want("call", b.HostCall(a, 1, 0), Success)
		g, err := b.EndCapture(a)
		b.want("end", err, Success)

		b.want("nothing has run", b.Synchronize(), Success)
		if n := len(b.r.Result().Kernels); n != 0 || ran != 0 {
			t.Fatalf("%d launches, %d calls", n, ran)
		}
		var kinds []NodeKind
		nodes, _ := b.GraphNodes(g, false)
		for _, n := range nodes {
			info, err := b.NodeInfo(n)
			b.want("node", err, Success)
			kinds = append(kinds, info.Kind)
		}
		if want := []NodeKind{NodeFill, NodeKernel, NodeKernel, NodeKernel, NodeCopy, NodeCopy, NodeHost}; !slices.Equal(kinds, want) {
			t.Errorf("nodes %v, want %v", kinds, want)
		}
		from, to, err := b.GraphEdges(g)
		b.want("edges", err, Success)
		var edges [][2]int
		for i := range from {
			edges = append(edges, [2]int{slices.Index(nodes, from[i]), slices.Index(nodes, to[i])})
		}
		if want := [][2]int{{0, 1}, {0, 2}, {2, 3}, {1, 4}, {3, 4}, {4, 5}, {5, 6}}; !slices.Equal(edges, want) {
			t.Errorf("edges %v, want %v", edges, want)
		}
		if roots, _ := b.GraphNodes(g, true); !slices.Equal(roots, nodes[:1]) {
			t.Errorf("roots %v of %v", roots, nodes)
		}

		binary.LittleEndian.PutUint32(b.host.Bytes(stack, 4), 10)
		b.want("factor", b.CopyToSymbol(variableOf("factor"), stack, 4, 0, HostToDevice, 0, false), Success)
		x := b.exec(g, 0)
		b.want("destroy the graph", b.GraphDestroy(g), Success)
		b.want("twice", b.GraphDestroy(g), InvalidValue)
		for i := 1; i <= 3; i++ {
			b.want("clear", b.Fill(pinned, 0, line(80), a), Success)
			b.want("launch", b.ExecLaunch(x, []uint64{a, c, 0}[i-1]), Success)
			b.want("wait", b.Synchronize(), Success)
			got := b.words(pinned, 20)
			for j := range uint32(10) {
				if got[j] != j+5 || got[10+j] != 10*(j+6) {
					t.Fatalf("launch %d: %v", i, got)
				}
			}
			if ran != i {
				t.Errorf("%d calls after %d launches", ran, i)
			}
		}
		b.want("destroy", b.ExecDestroy(x), Success)
		b.want("launch after destruction", b.ExecLaunch(x, a), InvalidValue)
	})
}

// TestCaptureCodes: the calls that are not permitted during a capture, and what
// they do to it (CUDA programming guide, on prohibited and unhandled operations;
// CUDA runtime API, the errors of cudaStreamBeginCapture and others).
func TestCaptureCodes(t *testing.T) {
	const alive, spoiled = Success, StreamCaptureInvalidated
	type bed struct {
		*bench
		s, other, beside uint64 // s is captured; beside does not synchronise with the default stream
		e, past          uint64 // events: not recorded, and recorded before the capture
		d                uint64 // device memory
	}
	for _, c := range []struct {
		name string
		mode CaptureMode
		call func(b *bed) Error
		want Error
		end  Error // the result of ending the capture
	}{
		{"nothing", CaptureGlobal, func(b *bed) Error { return Success }, Success, alive},
		{"wait for the stream", CaptureGlobal, func(b *bed) Error { return b.StreamSynchronize(b.s) }, StreamCaptureUnsupported, spoiled},
		{"query the stream", CaptureGlobal, func(b *bed) Error { return b.StreamQuery(b.s) }, StreamCaptureUnsupported, spoiled},
		{"wait for another stream", CaptureGlobal, func(b *bed) Error { return b.StreamSynchronize(b.other) }, Success, alive},
		{"wait for the device", CaptureGlobal, func(b *bed) Error { return b.Synchronize() }, StreamCaptureUnsupported, spoiled},
		{"wait for the device, relaxed", CaptureRelaxed, func(b *bed) Error { return b.Synchronize() }, StreamCaptureUnsupported, spoiled},
		{"work for the legacy stream", CaptureGlobal, func(b *bed) Error { return b.run("spin", 1, 0) }, StreamCaptureImplicit, spoiled},
		{"a fill in the legacy stream", CaptureRelaxed, func(b *bed) Error { return b.Fill(b.d, 1, line(4), 0) }, StreamCaptureImplicit, spoiled},
		{"wait for the legacy stream", CaptureRelaxed, func(b *bed) Error { return b.StreamSynchronize(0) }, StreamCaptureImplicit, spoiled},
		{"malloc", CaptureGlobal, func(b *bed) Error { _, err := b.Malloc(4); return err }, StreamCaptureUnsupported, spoiled},
		{"malloc, relaxed", CaptureRelaxed, func(b *bed) Error { _, err := b.Malloc(4); return err }, Success, alive},
		{"malloc in another thread", CaptureGlobal, func(b *bed) Error { _, err := b.r.Thread(2).Malloc(4); return err }, StreamCaptureUnsupported, spoiled},
		{"malloc in another thread than captures for itself", CaptureThread, func(b *bed) Error { _, err := b.r.Thread(2).Malloc(4); return err }, Success, alive},
		{"malloc in the thread that does", CaptureThread, func(b *bed) Error { _, err := b.Malloc(4); return err }, StreamCaptureUnsupported, spoiled},
		{"malloc in a thread that is not bound", CaptureGlobal, func(b *bed) Error {
			b.ExchangeCaptureMode(CaptureRelaxed)
			_, err := b.Malloc(4)
			if old, _ := b.ExchangeCaptureMode(CaptureGlobal); old != CaptureRelaxed {
				return Unknown
			}
			return err
		}, Success, alive},
		{"free", CaptureGlobal, func(b *bed) Error { return b.Free(b.d) }, StreamCaptureUnsupported, spoiled},
		{"a copy that waits", CaptureGlobal, func(b *bed) Error { return b.Copy(stack, b.d, 4, DeviceToHost, 0, false) }, StreamCaptureImplicit, spoiled},
		{"memory of the stream", CaptureRelaxed, func(b *bed) Error { _, err := b.MallocAsync(4, 0, b.s); return err }, Success, alive},
		{"free memory that no node allocates", CaptureRelaxed, func(b *bed) Error { return b.FreeAsync(b.d, b.s) }, InvalidValue, alive},
		{"begin again", CaptureGlobal, func(b *bed) Error { return b.BeginCapture(b.s, CaptureGlobal) }, IllegalState, alive},
		{"begin in the legacy stream", CaptureGlobal, func(b *bed) Error { return b.BeginCapture(0, CaptureGlobal) }, StreamCaptureUnsupported, alive},
		{"no such mode", CaptureGlobal, func(b *bed) Error { return b.BeginCapture(b.other, 3) }, InvalidValue, alive},
		{"end without a capture", CaptureGlobal, func(b *bed) Error { _, err := b.EndCapture(b.other); return err }, IllegalState, alive},
		{"end in another thread", CaptureGlobal, func(b *bed) Error { _, err := b.r.Thread(2).EndCapture(b.s); return err }, StreamCaptureWrongThread, alive},
		{"end in a stream that has joined", CaptureGlobal, func(b *bed) Error {
			b.EventRecord(b.e, b.s, 0)
			b.StreamWait(b.other, b.e, 0)
			_, err := b.EndCapture(b.other)
			return err
		}, StreamCaptureUnmatched, spoiled},
		{"wait for captured work", CaptureGlobal, func(b *bed) Error { b.EventRecord(b.e, b.s, 0); return b.EventSynchronize(b.e) }, CapturedEvent, spoiled},
		{"query captured work", CaptureGlobal, func(b *bed) Error { b.EventRecord(b.e, b.s, 0); return b.EventQuery(b.e) }, CapturedEvent, spoiled},
		{"time of captured work", CaptureGlobal, func(b *bed) Error {
			b.EventRecord(b.e, b.s, 0)
			_, err := b.EventElapsed(b.past, b.e)
			return err
		}, CapturedEvent, alive},
		{"query another event", CaptureGlobal, func(b *bed) Error { return b.EventQuery(b.past) }, StreamCaptureUnsupported, spoiled},
		{"query another event, relaxed", CaptureRelaxed, func(b *bed) Error { return b.EventQuery(b.past) }, Success, alive},
		{"wait for uncaptured work", CaptureGlobal, func(b *bed) Error { return b.StreamWait(b.s, b.past, 0) }, StreamCaptureIsolation, spoiled},
		{"wait for it with a node", CaptureGlobal, func(b *bed) Error { return b.StreamWait(b.s, b.past, external) }, Success, alive},
		{"record with a node", CaptureGlobal, func(b *bed) Error { return b.EventRecord(b.past, b.s, external) }, Success, alive},
		{"the legacy stream waits for captured work", CaptureGlobal, func(b *bed) Error {
			b.EventRecord(b.e, b.s, 0)
			return b.StreamWait(0, b.e, 0)
		}, StreamCaptureImplicit, spoiled},
		{"two captures meet", CaptureGlobal, func(b *bed) Error {
			b.BeginCapture(b.other, CaptureGlobal)
			b.EventRecord(b.e, b.s, 0)
			err := b.StreamWait(b.other, b.e, 0)
			if _, other := b.EndCapture(b.other); other != StreamCaptureInvalidated {
				return other
			}
			return err
		}, StreamCaptureMerge, spoiled},
		{"a stream that does not join again", CaptureGlobal, func(b *bed) Error {
			b.EventRecord(b.e, b.s, 0)
			b.StreamWait(b.other, b.e, 0)
			return b.run("spin", 1, b.other)
		}, Success, StreamCaptureUnjoined},
		{"a stream that joins and does nothing", CaptureGlobal, func(b *bed) Error {
			b.EventRecord(b.e, b.s, 0)
			return b.StreamWait(b.other, b.e, 0)
		}, Success, alive},
		{"destroy a stream that has joined", CaptureGlobal, func(b *bed) Error {
			b.EventRecord(b.e, b.s, 0)
			b.StreamWait(b.other, b.e, 0)
			b.want("launch", b.run("spin", 1, b.other), Success)
			b.EventRecord(b.past, b.other, 0)
			b.StreamWait(b.s, b.past, 0)
			return b.StreamDestroy(b.other)
		}, Success, alive},
		{"destroy a stream whose work is not waited for", CaptureGlobal, func(b *bed) Error {
			b.EventRecord(b.e, b.s, 0)
			b.StreamWait(b.other, b.e, 0)
			b.want("launch", b.run("spin", 1, b.other), Success)
			return b.StreamDestroy(b.other)
		}, Success, StreamCaptureUnjoined},
		{"destroy the stream", CaptureGlobal, func(b *bed) Error { return b.StreamDestroy(b.s) }, StreamCaptureUnsupported, spoiled},
		{"work after the capture is spoiled", CaptureGlobal, func(b *bed) Error { b.Synchronize(); return b.run("spin", 1, b.s) }, StreamCaptureInvalidated, spoiled},
		{"an impossible kernel", CaptureGlobal, func(b *bed) Error { return b.run("spin", 2000, b.s) }, InvalidConfiguration, alive},
		{"flags of a record", CaptureGlobal, func(b *bed) Error { return b.EventRecord(b.e, b.s, 2) }, InvalidValue, alive},
		{"nodes of no graph", CaptureGlobal, func(b *bed) Error { return b.SetCaptureTail(b.s, []uint64{5}, false) }, InvalidValue, alive},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, mode func(*Options)) {
				b := &bed{bench: start(t, mode)}
				b.d = b.malloc(64)
				b.s, _ = b.StreamCreate(0, 0)
				b.other, _ = b.StreamCreate(0, 0)
				b.beside, _ = b.StreamCreate(nonBlocking, 0)
				b.e, _ = b.EventCreate(0)
				b.past, _ = b.EventCreate(0)
				b.want("record", b.EventRecord(b.past, 0, 0), Success)
				b.want("wait", b.Synchronize(), Success)
				b.want("begin", b.BeginCapture(b.s, c.mode), Success)
				b.want("launch", b.run("spin", 1, b.s), Success)
				b.want("call", c.call(b), c.want)
				g, err := b.EndCapture(b.s)
				b.want("end", err, c.end)
				if (g != 0) != (err == Success) {
					t.Errorf("the graph is %#x", g)
				}
				b.want("the capture is over", b.run("spin", 1, b.s), Success)
				b.want("for all", b.Synchronize(), Success)
			})
		})
	}
	b := start(t, nil)
	s, _ := b.StreamCreate(nonBlocking, 0)
	b.want("begin", b.BeginCapture(s, CaptureRelaxed), Success)
	b.want("the legacy stream has nothing to do with it", b.run("spin", 1, 0), Success)
	b.want("nor do streams that wait for it", b.StreamSynchronize(0), Success)
	_, err := b.EndCapture(s)
	b.want("end", err, Success)
	d := b.malloc(4)
	b.want("begin", b.BeginCapture(s, CaptureGlobal), Success)
	b.want("a copy that waits", b.Copy(stack, d, 4, DeviceToHost, 0, false), StreamCaptureUnsupported)
	_, err = b.EndCapture(s)
	b.want("end", err, StreamCaptureInvalidated)
}

// TestGraphCodes: wrong calls with graphs.
func TestGraphCodes(t *testing.T) {
	spin := KernelNode(kernel("spin"), warp(1), false, args())
	for _, c := range []struct {
		name string
		call func(b *bench, g, n, x uint64) Error // a graph, its node, and its executable graph
		want Error
	}{
		{"no graph", func(b *bench, g, n, x uint64) Error { _, err := b.GraphAdd(5, nil, spin); return err }, InvalidValue},
		{"flags", func(b *bench, g, n, x uint64) Error { _, err := b.GraphCreate(1); return err }, InvalidValue},
		{"after an invalid node", func(b *bench, g, n, x uint64) Error { _, err := b.GraphAdd(g, []uint64{g}, spin); return err }, InvalidValue},
		{"after a node of another graph", func(b *bench, g, n, x uint64) Error {
			other, _ := b.GraphCreate(0)
			_, err := b.GraphAdd(other, []uint64{n}, spin)
			return err
		}, InvalidValue},
		{"after a node twice", func(b *bench, g, n, x uint64) Error { _, err := b.GraphAdd(g, []uint64{n, n}, spin); return err }, InvalidValue},
		{"an unknown kernel", func(b *bench, g, n, x uint64) Error {
			_, err := b.GraphAdd(g, nil, KernelNode(5, warp(1), false, args()))
			return err
		}, InvalidDeviceFunction},
		{"an impossible kernel", func(b *bench, g, n, x uint64) Error {
			_, err := b.GraphAdd(g, nil, KernelNode(kernel("spin"), warp(2000), false, args()))
			return err
		}, InvalidConfiguration},
		{"a copy of nothing", func(b *bench, g, n, x uint64) Error {
			_, err := b.GraphAdd(g, nil, CopyBytesNode(stack, stack, 0, AnyWay))
			return err
		}, InvalidValue},
		{"a copy beyond the end", func(b *bench, g, n, x uint64) Error {
			_, err := b.GraphAdd(g, nil, CopyBytesNode(b.malloc(4), stack, 5, HostToDevice))
			return err
		}, InvalidValue},
		{"a fill of three bytes", func(b *bench, g, n, x uint64) Error {
			_, err := b.GraphAdd(g, nil, FillNode(b.malloc(12), make([]byte, 3), line(12)))
			return err
		}, InvalidValue},
		{"a call of nothing", func(b *bench, g, n, x uint64) Error { _, err := b.GraphAdd(g, nil, HostNode(0, 1)); return err }, InvalidValue},
		{"beyond a variable", func(b *bench, g, n, x uint64) Error {
			_, err := b.GraphAdd(g, nil, SymbolNode(variableOf("factor"), 2, stack, 4, HostToDevice, true))
			return err
		}, InvalidValue},
		{"no event", func(b *bench, g, n, x uint64) Error {
			_, err := b.GraphAdd(g, nil, EventNode(5, NodeEventWait))
			return err
		}, InvalidHandle},
		{"no child", func(b *bench, g, n, x uint64) Error { _, err := b.GraphAdd(g, nil, ChildNode(5)); return err }, InvalidValue},
		{"a node of another kind", func(b *bench, g, n, x uint64) Error { return b.NodeSet(n, EmptyNode()) }, InvalidValue},
		{"connect to itself", func(b *bench, g, n, x uint64) Error { return b.GraphConnect(g, []uint64{n}, []uint64{n}, true) }, InvalidValue},
		{"disconnect unconnected nodes", func(b *bench, g, n, x uint64) Error {
			return b.GraphConnect(g, []uint64{n}, []uint64{b.node(g, spin)}, false)
		}, InvalidValue},
		{"connect twice", func(b *bench, g, n, x uint64) Error {
			return b.GraphConnect(g, []uint64{n}, []uint64{b.node(g, spin, n)}, true)
		}, InvalidValue},
		{"nodes that wait for each other", func(b *bench, g, n, x uint64) Error {
			b.GraphConnect(g, []uint64{b.node(g, spin, n)}, []uint64{n}, true)
			_, err := b.GraphInstantiate(g, 0)
			return err
		}, InvalidValue},
		{"flags of an executable", func(b *bench, g, n, x uint64) Error { _, err := b.GraphInstantiate(g, 16); return err }, InvalidValue},
		{"launches of the device", func(b *bench, g, n, x uint64) Error { _, err := b.GraphInstantiate(g, 4); return err }, NotSupported},
		{"launch no executable", func(b *bench, g, n, x uint64) Error { return b.ExecLaunch(g, 0) }, InvalidValue},
		{"launch in no stream", func(b *bench, g, n, x uint64) Error { return b.ExecLaunch(x, 5) }, InvalidHandle},
		{"a node that came later", func(b *bench, g, n, x uint64) Error { return b.ExecSet(x, b.node(g, spin), spin) }, InvalidValue},
		{"no node", func(b *bench, g, n, x uint64) Error { _, err := b.NodeInfo(g); return err }, InvalidValue},
		{"a node that is destroyed", func(b *bench, g, n, x uint64) Error { b.NodeDestroy(n); return b.NodeSet(n, spin) }, InvalidValue},
		{"a node of a graph that is destroyed", func(b *bench, g, n, x uint64) Error { b.GraphDestroy(g); return b.NodeDestroy(n) }, InvalidValue},
		{"a graph after the reset", func(b *bench, g, n, x uint64) Error { b.Reset(); return b.ExecLaunch(x, 0) }, InvalidValue},
		{"memory that is freed before the launch", func(b *bench, g, n, _ uint64) Error {
			d := b.malloc(4)
			b.node(g, FillNode(d, []byte{1}, line(4)))
			x := b.exec(g, 0)
			b.Free(d)
			return b.ExecLaunch(x, 0)
		}, InvalidValue},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, mode func(*Options)) {
				b := start(t, mode)
				g, _ := b.GraphCreate(0)
				n := b.node(g, spin)
				x := b.exec(g, 0)
				b.want("call", c.call(b, g, n, x), c.want)
				b.LastError()
				b.want("the device still works", b.run("spin", 1, 0), Success)
				b.want("to its end", b.Synchronize(), Success)
			})
		})
	}
}

// TestGraphChange: changes to executable graphs take effect, and clones are
// independent.
func TestGraphChange(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		d, e := b.malloc(16), b.malloc(16)
		add := func(to, n uint64) Work { return KernelNode(kernel("add"), warp(4), false, args(to, n)) }
		inner, _ := b.GraphCreate(0)
		b.node(inner, add(e, 70))
		g, _ := b.GraphCreate(0)
		n := b.node(g, add(d, 1))
		child := b.node(g, ChildNode(inner), n)
		b.node(g, EmptyNode(), child)
		x := b.exec(g, 0)
		clone, err := b.GraphClone(g)
		b.want("clone", err, Success)
		see := func(what string, x uint64, want ...uint32) {
			t.Helper()
			b.want("launch", b.ExecLaunch(x, 0), Success)
			var got []uint32
			for _, from := range []uint64{d, e} {
				b.want("copy", b.Copy(stack, from, 4, DeviceToHost, 0, false), Success)
				got = append(got, b.words(stack, 1)...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		see("as it was made", x, 1, 70)
		b.want("set", b.NodeSet(n, add(d, 2)), Success)
		see("the node is no longer the executable's", x, 1, 70)
		b.want("set in the executable", b.ExecSet(x, n, add(d, 3)), Success)
		see("set", x, 3, 70)
		see("made again", b.exec(g, 0), 2, 70)
		see("of the clone", b.exec(clone, 0), 1, 70)

		info, err := b.NodeInfo(child)
		b.want("child", err, Success)
		within, _ := b.GraphNodes(info.Graph, false)
		b.want("set within the child", b.ExecSet(x, within[0], add(e, 71)), Success)
		see("set within", x, 3, 71)
		other, _ := b.GraphCreate(0)
		b.node(other, add(e, 72))
		b.want("set the child", b.ExecSet(x, child, ChildNode(other)), Success)
		see("another child", x, 3, 72)
		b.node(other, add(e, 73))
		b.want("a child of another shape", b.ExecSet(x, child, ChildNode(other)), InvalidValue)

		twin, err := b.NodeInClone(n, clone)
		b.want("node in the clone", err, Success)
		b.want("set in the clone", b.NodeSet(twin, add(d, 4)), Success)
		if res, at, err := b.ExecUpdate(x, clone); res != UpdateSuccess || at != 0 || err != Success {
			t.Errorf("update: %d at %#x, %v", res, at, err)
		}
		see("updated", x, 4, 70)
		last := b.node(clone, EmptyNode())
		if res, _, err := b.ExecUpdate(x, clone); res != UpdateTopologyChanged || err != GraphUpdateFailure {
			t.Errorf("one more node: %d, %v", res, err)
		}
		b.want("destroy the node", b.NodeDestroy(last), Success)
		nodes, _ := b.GraphNodes(clone, false)
		b.want("disconnect", b.GraphConnect(clone, nodes[:1], nodes[1:2], false), Success)
		if res, at, err := b.ExecUpdate(x, clone); res != UpdateTopologyChanged || at != nodes[1] || err != GraphUpdateFailure {
			t.Errorf("another edge: %d at %#x of %#x, %v", res, at, nodes, err)
		}
		kinds, _ := b.GraphCreate(0)
		b.node(kinds, EmptyNode())
		if res, _, err := b.ExecUpdate(b.exec(inner, 0), kinds); res != UpdateKindChanged || err != GraphUpdateFailure {
			t.Errorf("another kind: %d, %v", res, err)
		}
		b.LastError()
		see("not updated", x, 4, 70)
	})
}

// TestGraphNodes: the work of nodes of each kind, and their descriptions.
func TestGraphNodes(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		d := b.malloc(64)
		from, _ := b.EventCreate(0)
		to, _ := b.EventCreate(0)
		var order []uint64
		b.host.calls = []func(uint64){func(data uint64) {
			order = append(order, data)
			if err := b.r.Thread(1).Synchronize(); mode != nil && err != NotPermitted {
				t.Errorf("a call within the call: %v", err)
			}
		}}
		copy(b.host.Bytes(stack, 8), "abcdefgh")
		g, _ := b.GraphCreate(0)
		first := b.node(g, EventNode(from, NodeEventRecord))
		fill := b.node(g, FillNode(d, []byte{1, 2}, Rows{Width: 4, Height: 2, Depth: 1, DstPitch: 8}), first)
		in := b.node(g, CopyBytesNode(d+16, stack, 8, HostToDevice), first)
		call := b.node(g, HostNode(1, 42), fill, in)
		out := b.node(g, CopyBytesNode(stack+16, d, 24, AnyWay), call)
		symbol := b.node(g, SymbolNode(variableOf("factor"), 0, stack, 4, HostToDevice, true), out)
		back := b.node(g, SymbolNode(variableOf("factor"), 1, stack+64, 3, DeviceToHost, false), symbol)
		array, err := b.MallocArray(floats, 2, 2, 0, 0)
		b.want("array", err, Success)
		memory := Side{Addr: stack, Pitch: 8, Plane: 16}
		into := b.node(g, BoxNode(Box{Side{Array: array}, memory, 8, 1, 1}, HostToDevice), back)
		memory.Addr = stack + 128
		from2 := b.node(g, BoxNode(Box{memory, Side{Array: array, X: 4}, 4, 1, 1}, DeviceToHost), into)
		b.node(g, EventNode(to, NodeEventRecord), from2)
		x := b.exec(g, 2)
		copy(b.host.Bytes(stack, 8), "ABCDEFGH") // read when the node executes
		b.want("launch", b.ExecLaunch(x, 0), Success)
		b.want("wait", b.Synchronize(), Success)
		if got, want := string(b.host.Bytes(stack+16, 24)), "\x01\x02\x01\x02\x00\x00\x00\x00\x01\x02\x01\x02\x00\x00\x00\x00ABCDEFGH"; got != want {
			t.Errorf("copied %q, want %q", got, want)
		}
		if got := string(b.host.Bytes(stack+64, 3)); got != "BCD" || !slices.Equal(order, []uint64{42}) {
			t.Errorf("%q of the variable, calls %v", got, order)
		}
		if got := string(b.host.Bytes(stack+128, 4)); got != "EFGH" {
			t.Errorf("%q of the array", got)
		}
		ms, err := b.EventElapsed(from, to)
		b.want("elapsed", err, Success)
		if ms < 0 {
			t.Errorf("%g ms", ms)
		}
		info, _ := b.NodeInfo(fill)
		if info.Dst != d || !slices.Equal(info.Value, []byte{1, 2}) || info.Rows.DstPitch != 8 || !slices.Equal(info.Before, []uint64{first}) || !slices.Equal(info.After, []uint64{call}) {
			t.Errorf("fill: %+v", info)
		}
		info, _ = b.NodeInfo(b.node(g, KernelNode(kernel("add"), warp(3), false, args(d, 5))))
		if info.Kernel != kernel("add") || info.Call.Block.X != 3 || len(info.Places) != 2 || binary.LittleEndian.Uint32(info.Params[info.Places[1][0]:]) != 5 {
			t.Errorf("kernel: %+v", info)
		}
	})
}

// TestGraphReplay: a graph gives the same results and takes the same time as the
// same calls without it, with any number of threads.
func TestGraphReplay(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		type outcome struct {
			Words []uint32
			Times []uint64 // cycles at which the first launches start and end
		}
		var want []byte
		for _, threads := range []int{1, 2, 5} {
			for _, way := range []string{"given", "captured", "captured, and launched twice"} {
				b := start(t, func(o *Options) {
					o.Threads = threads
					if mode != nil {
						mode(o)
					}
				})
				var s [2]uint64
				for i := range s {
					s[i], _ = b.StreamCreate(0, 0)
				}
				e, _ := b.EventCreate(noTiming)
				d := b.malloc(256)
				pinned, _ := b.MallocHost(256, 0)
				b.want("warm up", b.run("spin", 32, 0), Success)
				b.want("wait", b.Synchronize(), Success)
				b.want("launch", b.Fill(d, 0, line(256), s[0]), Success)
				if way != "given" {
					b.want("begin", b.BeginCapture(s[0], CaptureRelaxed), Success)
				}
				b.want("launch", b.run("add", 32, s[0], d, 9), Success)
				b.EventRecord(e, s[0], 0)
				b.StreamWait(s[1], e, 0)
				b.want("launch", b.run("add", 32, s[1], d+128, 3), Success)
				b.want("launch", b.run("scale", 32, s[0], d), Success)
				b.EventRecord(e, s[1], 0)
				b.StreamWait(s[0], e, 0)
				b.want("launch", b.run("scale", 32, s[0], d+128), Success)
				b.want("copy", b.Copy(pinned, d, 256, DeviceToHost, s[0], true), Success)
				if way != "given" {
					g, err := b.EndCapture(s[0])
					b.want("end", err, Success)
					x := b.exec(g, 0)
					b.want("launch", b.ExecLaunch(x, s[0]), Success)
					if way != "captured" {
						b.want("launch again", b.ExecLaunch(x, s[0]), Success)
					}
				}
				b.want("wait", b.Synchronize(), Success)
				res := b.r.Result()
				o := outcome{Words: b.words(pinned, 64)}
				for _, k := range res.Kernels[1:5] {
					if mode != nil {
						o.Times = append(o.Times, k.StartCycle, k.EndCycle)
					}
				}
				got, err := json.Marshal(o)
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				if string(got) != string(want) {
					t.Errorf("%d threads, %s:\n%s\nwant:\n%s", threads, way, got, want)
				}
			}
		}
	})
}

// TestGraphsOfDevices: the nodes of a graph work on the devices on which they were made,
// whichever device is current when they are changed or launched.
func TestGraphsOfDevices(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		type bed struct {
			*bench
			d, streams [2]uint64 // memory and a stream of each device
		}
		lay := func() *bed {
			b := &bed{bench: several(t, 2, mode)}
			for i := range b.d {
				b.use(i)
				b.d[i] = b.malloc(64)
				b.streams[i], _ = b.StreamCreate(0, 0)
			}
			b.use(0)
			return b
		}
		add := func(b *bed, device int, n uint64) Work {
			return KernelNode(kernel("add"), warp(16), false, args(b.d[device], n))
		}
		scale := func(b *bed, device int) Work { return KernelNode(kernel("scale"), warp(16), false, args(b.d[device])) }
		// check launches a graph while each device is current: words of device i are i + 1 times the first.
		check := func(b *bed, x uint64, want [2]uint32) {
			t.Helper()
			for i := range b.d {
				b.use(i)
				b.want("clear", b.Fill(b.d[0], 0, line(64), 0), Success)
				b.want("clear", b.Fill(b.d[1], 0, line(64), 0), Success)
				b.want("wait", b.Synchronize(), Success)
				b.want("launch", b.ExecLaunch(x, b.streams[i]), Success)
				b.want("wait", b.StreamSynchronize(b.streams[i]), Success)
				for j, at := range b.d {
					if got := b.see(at, 1)[0]; got != want[j] {
						t.Errorf("launched on device %d: the word of device %d is %d, want %d\n%s", i, j, got, want[j], b.log)
					}
				}
			}
		}
		for _, c := range []struct {
			name string
			make func(b *bed) (exec uint64)
			want [2]uint32
		}{
			{"captured", func(b *bed) uint64 {
				fork, _ := b.EventCreate(noTiming)
				b.use(1)
				join, _ := b.EventCreate(noTiming)
				b.use(0)
				b.want("begin", b.BeginCapture(b.streams[0], CaptureGlobal), Success)
				b.want("launch", b.run("add", 16, b.streams[0], b.d[0], 5), Success)
				b.want("fork", b.EventRecord(fork, b.streams[0], 0), Success)
				b.use(1)
				b.want("fork", b.StreamWait(b.streams[1], fork, 0), Success)
				b.want("copy", b.CopyPeer(b.d[1], 1, b.d[0], 0, 64, b.streams[1], true), Success)
				b.want("launch", b.run("scale", 16, b.streams[1], b.d[1]), Success)
				b.want("join", b.EventRecord(join, b.streams[1], 0), Success)
				b.use(0)
				b.want("join", b.StreamWait(b.streams[0], join, 0), Success)
				g, err := b.EndCapture(b.streams[0])
				b.want("end", err, Success)
				return b.exec(g, 0)
			}, [2]uint32{5, 15}},
			{"built", func(b *bed) uint64 {
				g, _ := b.GraphCreate(0)
				first := b.node(g, add(b, 0, 5))
				b.use(1)
				second := b.node(g, CopyBytesNode(b.d[1], b.d[0], 64, AnyWay), first)
				b.node(g, scale(b, 1), second)
				return b.exec(g, 0)
			}, [2]uint32{5, 15}},
			{"as a child graph", func(b *bed) uint64 {
				g, _ := b.GraphCreate(0)
				b.node(g, add(b, 0, 5))
				b.use(1)
				outer, _ := b.GraphCreate(0)
				child := b.node(outer, ChildNode(g))
				b.node(outer, add(b, 1, 7), child)
				return b.exec(outer, 0)
			}, [2]uint32{5, 7}},
			{"a node changed", func(b *bed) uint64 {
				g, _ := b.GraphCreate(0)
				n := b.node(g, add(b, 0, 5))
				b.use(1)
				b.want("set", b.NodeSet(n, add(b, 0, 6)), Success)
				return b.exec(g, 0)
			}, [2]uint32{6, 0}},
			{"an executable graph changed", func(b *bed) uint64 {
				g, _ := b.GraphCreate(0)
				n := b.node(g, add(b, 0, 5))
				x := b.exec(g, 0)
				b.use(1)
				b.want("set", b.ExecSet(x, n, add(b, 0, 7)), Success)
				return x
			}, [2]uint32{7, 0}},
			{"an executable graph updated", func(b *bed) uint64 {
				g, _ := b.GraphCreate(0)
				b.node(g, add(b, 0, 5))
				other, _ := b.GraphCreate(0)
				b.node(other, add(b, 0, 8))
				x := b.exec(g, 0)
				b.use(1)
				_, _, err := b.ExecUpdate(x, other)
				b.want("update", err, Success)
				return x
			}, [2]uint32{8, 0}},
			{"not updated to another device", func(b *bed) uint64 {
				g, _ := b.GraphCreate(0)
				b.node(g, add(b, 0, 5))
				x := b.exec(g, 0)
				b.use(1)
				other, _ := b.GraphCreate(0)
				n := b.node(other, add(b, 1, 8))
				res, at, err := b.ExecUpdate(x, other)
				if res != UpdateFunctionChanged || at != n || err != GraphUpdateFailure {
					t.Errorf("update: %d, %#x, %v", res, at, err)
				}
				return x
			}, [2]uint32{5, 0}},
		} {
			t.Run(c.name, func(t *testing.T) {
				b := lay()
				check(b, c.make(b), c.want)
			})
		}
		t.Run("a device is reset", func(t *testing.T) {
			b := lay()
			g, _ := b.GraphCreate(0)
			b.node(g, add(b, 0, 5))
			b.use(1)
			b.node(g, add(b, 1, 5))
			x := b.exec(g, 0)
			b.want("reset", b.Reset(), Success)
			b.use(0)
			b.want("launch", b.ExecLaunch(x, b.streams[0]), InvalidValue)
			_, err := b.GraphNodes(g, false)
			b.want("the graph", err, InvalidValue)
		})
	})
}
