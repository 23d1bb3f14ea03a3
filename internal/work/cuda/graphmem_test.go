package cuda

import (
	"slices"
	"strings"
	"testing"
)

// TestGraphMemory: memory that a captured graph allocates and frees has the same address in
// every launch, and is there for the kernels between the two only.
func TestGraphMemory(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		s, _ := b.StreamCreate(0, 0)
		pinned, _ := b.MallocHost(64, 0)
		b.want("load the program", b.run("spin", 1, 0), Success)
		before, _, err := b.MemInfo()
		b.want("memory", err, Success)
		b.want("begin", b.BeginCapture(s, CaptureGlobal), Success)
		d, err := b.MallocAsync(64, 0, s)
		b.want("allocate", err, Success)
		b.want("launch", b.run("add", 16, s, d, 5), Success)
		b.want("launch", b.run("scale", 16, s, d), Success)
		b.want("copy", b.Copy(pinned, d, 64, DeviceToHost, s, true), Success)
		b.want("free", b.FreeAsync(d, s), Success)
		b.want("free twice", b.FreeAsync(d, s), InvalidValue)
		g, err := b.EndCapture(s)
		b.want("end", err, Success)

		var kinds []NodeKind
		nodes, _ := b.GraphNodes(g, false)
		for _, n := range nodes {
			info, _ := b.NodeInfo(n)
			kinds = append(kinds, info.Kind)
			if (info.Kind == NodeAlloc || info.Kind == NodeFree) && info.Addr != d || info.Kind == NodeAlloc && info.Size != 64 {
				t.Errorf("a node with memory: %+v", info)
			}
		}
		if want := []NodeKind{NodeAlloc, NodeKernel, NodeKernel, NodeCopy, NodeFree}; !slices.Equal(kinds, want) {
			t.Errorf("nodes %v, want %v", kinds, want)
		}
		count := func(what string, used, high uint64) {
			t.Helper()
			for a, want := range map[GraphMemoryAttribute]uint64{GraphMemoryUsed: used, GraphMemoryUsedHigh: high, GraphMemoryReserved: used, GraphMemoryReservedHigh: high} {
				if got, err := b.GraphMemory(0, a); got != want || err != Success {
					t.Errorf("%s: attribute %d is %d, %v; want %d", what, a, got, err, want)
				}
			}
		}
		count("before the first launch", 0, 0)
		x := b.exec(g, 0)
		for range 3 {
			b.want("clear", b.Fill(pinned, 0, line(64), s), Success)
			b.want("launch", b.ExecLaunch(x, s), Success)
			b.want("wait", b.StreamSynchronize(s), Success)
			if got := b.words(pinned, 2); !slices.Equal(got, []uint32{15, 18}) {
				t.Errorf("copied %v", got)
			}
		}
		count("after launches", 0, 64)
		b.want("reset the peak", b.SetGraphMemory(0, GraphMemoryUsedHigh, 0), Success)
		count("after that", 0, 0)
		b.want("trim", b.TrimGraphMemory(0), Success)
		if now, _, _ := b.MemInfo(); now != before {
			t.Errorf("%d bytes are free, %d before", now, before)
		}
		b.want("free outside of the graph", b.FreeAsync(d, s), InvalidValue)
		b.want("at once", b.Free(d), InvalidValue)
		b.want("destroy", b.ExecDestroy(x), Success)
		b.want("destroy", b.GraphDestroy(g), Success)
		if b.run("add", 16, s, d, 5); b.Synchronize() != IllegalAddress {
			t.Errorf("a kernel writes memory of a graph that is gone: %s", b.log)
		}
	})
}

// TestGraphMemoryOutlives: memory that the graph does not free can be used after the launch,
// until the program frees it in one of the ways that there are.
func TestGraphMemoryOutlives(t *testing.T) {
	type bed struct {
		*bench
		s, g, n, d uint64 // a stream, a graph, its allocation node and what that allocates
	}
	both(t, func(t *testing.T, mode func(*Options)) {
		for _, c := range []struct {
			name  string
			flags uint64
			free  func(b *bed) Error
			again Error // of the next launch
			used  uint64
		}{
			{"not freed", 0, func(b *bed) Error { return Success }, InvalidValue, 64},
			{"freed by the next launch", instantiateAutoFree, func(b *bed) Error { return Success }, Success, 64},
			{"freed in a stream", 0, func(b *bed) Error { return b.FreeAsync(b.d, b.s) }, Success, 0},
			{"freed", 0, func(b *bed) Error { return b.Free(b.d) }, Success, 0},
			{"freed by another graph", 0, func(b *bed) Error {
				other, _ := b.GraphCreate(0)
				b.node(other, FreeNode(b.d))
				return b.ExecLaunch(b.exec(other, 0), b.s)
			}, Success, 0},
		} {
			b := &bed{bench: start(t, mode)}
			b.want("load the program", b.run("spin", 1, 0), Success)
			own := b.r.mem.Allocated()
			b.s, _ = b.StreamCreate(0, 0)
			b.g, _ = b.GraphCreate(0)
			b.n = b.node(b.g, AllocNode(0, 64, nil))
			info, _ := b.NodeInfo(b.n)
			b.d = info.Addr
			b.node(b.g, KernelNode(kernel("add"), warp(16), false, args(b.d, 5)), b.n)
			x := b.exec(b.g, c.flags)
			if flags, err := b.ExecFlags(x); flags != c.flags || err != Success {
				t.Errorf("flags %d, %v", flags, err)
			}
			b.want("launch", b.ExecLaunch(x, b.s), Success)
			b.want("use", b.run("scale", 16, b.s, b.d), Success)
			b.want("wait", b.StreamSynchronize(b.s), Success)
			if got := b.see(b.d, 2); !slices.Equal(got, []uint32{15, 18}) {
				t.Errorf("%s: %v", c.name, got)
			}
			b.want(c.name, c.free(b), Success)
			if used, _ := b.GraphMemory(0, GraphMemoryUsed); used != c.used {
				t.Errorf("%s: %d bytes in use, want %d", c.name, used, c.used)
			}
			if c.used == 0 {
				b.want(c.name+", twice", b.FreeAsync(b.d, b.s), InvalidValue)
			}
			b.want(c.name+", launch again", b.ExecLaunch(x, b.s), c.again)
			b.want("destroy", b.ExecDestroy(x), Success)
			b.want("destroy", b.GraphDestroy(b.g), Success)
			b.want("used when the graph is gone", b.run("scale", 16, b.s, b.d), Success)
			b.want("wait", b.Synchronize(), Success)
			b.want("free", b.Free(b.d), Success)
			b.want("free twice", b.Free(b.d), InvalidValue)
			if used, _ := b.GraphMemory(0, GraphMemoryUsed); used != 0 || b.r.mem.Allocated() != own {
				t.Errorf("%s: %d bytes of graphs are left, %d in all", c.name, used, b.r.mem.Allocated()-own)
			}
			if c.again != Success && !strings.Contains(b.log.String(), "cudaGraphInstantiateFlagAutoFreeOnLaunch") {
				t.Errorf("%s: %q does not say how to mend it", c.name, b.log)
			}
		}
	})
}

// body returns the body of a conditional node.
func (b *bench) body() uint64 {
	b.t.Helper()
	g, _ := b.GraphCreate(0)
	h, err := b.ConditionCreate(g, 1, 0)
	b.want("condition", err, Success)
	info, err := b.NodeInfo(b.node(g, ConditionalNode(h, ConditionalIf, 1)))
	b.want("node", err, Success)
	return info.Bodies[0]
}

// TestGraphMemoryCodes: what is not possible with memory of graphs (CUDA runtime API,
// cudaGraphAddMemAllocNode and cudaGraphAddMemFreeNode).
func TestGraphMemoryCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		call func(b *bench, g, n, f, d uint64) Error // a graph, nodes that allocate and free, and their memory
		want Error
	}{
		{"no bytes", func(b *bench, g, n, f, d uint64) Error {
			_, err := b.GraphAdd(g, nil, AllocNode(0, 0, nil))
			return err
		}, InvalidValue},
		{"more than there is", func(b *bench, g, n, f, d uint64) Error {
			_, err := b.GraphAdd(g, nil, AllocNode(0, 1<<60, nil))
			return err
		}, MemoryAllocation},
		{"no such device", func(b *bench, g, n, f, d uint64) Error {
			_, err := b.GraphAdd(g, nil, AllocNode(1, 4, nil))
			return err
		}, InvalidValue},
		{"access of no device", func(b *bench, g, n, f, d uint64) Error {
			_, err := b.GraphAdd(g, nil, AllocNode(0, 4, []int{7}))
			return err
		}, InvalidValue},
		{"free twice in a graph", func(b *bench, g, n, f, d uint64) Error { _, err := b.GraphAdd(g, []uint64{f}, FreeNode(d)); return err }, InvalidValue},
		{"free in two graphs", func(b *bench, g, n, f, d uint64) Error {
			other, _ := b.GraphCreate(0)
			_, err := b.GraphAdd(other, nil, FreeNode(d))
			return err
		}, InvalidValue},
		{"free in the owner after another graph", func(b *bench, g, n, f, d uint64) Error {
			own, _ := b.GraphCreate(0)
			info, _ := b.NodeInfo(b.node(own, AllocNode(0, 4, nil)))
			other, _ := b.GraphCreate(0)
			b.node(other, FreeNode(info.Addr))
			_, err := b.GraphAdd(own, nil, FreeNode(info.Addr))
			return err
		}, InvalidValue},
		{"free other memory", func(b *bench, g, n, f, d uint64) Error {
			_, err := b.GraphAdd(g, nil, FreeNode(b.malloc(4)))
			return err
		}, InvalidValue},
		{"free within memory", func(b *bench, g, n, f, d uint64) Error { _, err := b.GraphAdd(g, nil, FreeNode(d+4)); return err }, InvalidValue},
		{"free before a launch", func(b *bench, g, n, f, d uint64) Error {
			info, _ := b.NodeInfo(b.node(g, AllocNode(0, 4, nil)))
			return b.FreeAsync(info.Addr, 0)
		}, InvalidValue},
		{"remove a node", func(b *bench, g, n, f, d uint64) Error { return b.NodeDestroy(f) }, NotSupported},
		{"remove an edge", func(b *bench, g, n, f, d uint64) Error { return b.GraphConnect(g, []uint64{n}, []uint64{f}, false) }, NotSupported},
		{"add an edge", func(b *bench, g, n, f, d uint64) Error {
			return b.GraphConnect(g, []uint64{n}, []uint64{b.node(g, EmptyNode())}, true)
		}, Success},
		{"clone", func(b *bench, g, n, f, d uint64) Error { _, err := b.GraphClone(g); return err }, NotSupported},
		{"a child graph", func(b *bench, g, n, f, d uint64) Error {
			other, _ := b.GraphCreate(0)
			_, err := b.GraphAdd(other, nil, ChildNode(g))
			return err
		}, NotSupported},
		{"in a child graph", func(b *bench, g, n, f, d uint64) Error {
			other, _ := b.GraphCreate(0)
			empty, _ := b.GraphCreate(0)
			info, _ := b.NodeInfo(b.node(other, ChildNode(empty)))
			_, err := b.GraphAdd(info.Graph, nil, AllocNode(0, 4, nil))
			return err
		}, NotSupported},
		{"in a body", func(b *bench, g, n, f, d uint64) Error {
			_, err := b.GraphAdd(b.body(), nil, AllocNode(0, 4, nil))
			return err
		}, NotSupported},
		{"in a body that is captured", func(b *bench, g, n, f, d uint64) Error {
			s, _ := b.StreamCreate(0, 0)
			b.want("begin", b.BeginCaptureTo(s, b.body(), nil, CaptureRelaxed), Success)
			_, err := b.MallocAsync(4, 0, s)
			return err
		}, NotSupported},
		{"freed in a body", func(b *bench, g, n, f, d uint64) Error {
			info, _ := b.NodeInfo(b.node(g, AllocNode(0, 4, nil)))
			_, err := b.GraphAdd(b.body(), nil, FreeNode(info.Addr))
			return err
		}, NotSupported},
		{"launch within a capture", func(b *bench, g, n, f, d uint64) Error {
			s, _ := b.StreamCreate(0, 0)
			x := b.exec(g, 0)
			b.BeginCapture(s, CaptureRelaxed)
			return b.ExecLaunch(x, s)
		}, NotSupported},
		{"instantiate twice", func(b *bench, g, n, f, d uint64) Error { b.exec(g, 0); _, err := b.GraphInstantiate(g, 0); return err }, NotSupported},
		{"instantiate again", func(b *bench, g, n, f, d uint64) Error {
			b.ExecDestroy(b.exec(g, 0))
			_, err := b.GraphInstantiate(g, 0)
			return err
		}, Success},
		{"update by itself", func(b *bench, g, n, f, d uint64) Error { _, _, err := b.ExecUpdate(b.exec(g, 0), g); return err }, Success},
		{"update by other memory", func(b *bench, g, n, f, d uint64) Error {
			other, _ := b.GraphCreate(0)
			from := b.node(other, AllocNode(0, 64, nil))
			info, _ := b.NodeInfo(from)
			b.node(other, FreeNode(info.Addr), from)
			res, _, err := b.ExecUpdate(b.exec(g, 0), other)
			if res != UpdateParametersChanged {
				b.t.Errorf("the result is %d", res)
			}
			return err
		}, GraphUpdateFailure},
		{"launch a graph that frees what is not allocated", func(b *bench, g, n, f, d uint64) Error {
			own, _ := b.GraphCreate(0)
			info, _ := b.NodeInfo(b.node(own, AllocNode(0, 4, nil)))
			other, _ := b.GraphCreate(0)
			b.node(other, FreeNode(info.Addr))
			return b.ExecLaunch(b.exec(other, 0), 0)
		}, InvalidValue},
		{"no such attribute", func(b *bench, g, n, f, d uint64) Error { _, err := b.GraphMemory(0, 4); return err }, InvalidValue},
		{"attribute of no device", func(b *bench, g, n, f, d uint64) Error { _, err := b.GraphMemory(1, 0); return err }, InvalidDevice},
		{"set what is in use", func(b *bench, g, n, f, d uint64) Error { return b.SetGraphMemory(0, GraphMemoryUsed, 0) }, InvalidValue},
		{"set a peak", func(b *bench, g, n, f, d uint64) Error { return b.SetGraphMemory(0, GraphMemoryReservedHigh, 1) }, InvalidValue},
		{"trim no device", func(b *bench, g, n, f, d uint64) Error { return b.TrimGraphMemory(-1) }, InvalidDevice},
	} {
		b := start(t, nil)
		g, _ := b.GraphCreate(0)
		n := b.node(g, AllocNode(0, 64, nil))
		info, err := b.NodeInfo(n)
		b.want("node", err, Success)
		f := b.node(g, FreeNode(info.Addr), n)
		b.want(c.name, c.call(b, g, n, f, info.Addr), c.want)
		b.want("reset", b.Reset(), Success)
	}
}

// TestGraphMemoryFault: a kernel that the graph runs after it has freed memory.
func TestGraphMemoryFault(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		g, _ := b.GraphCreate(0)
		n := b.node(g, AllocNode(0, 64, nil))
		info, _ := b.NodeInfo(n)
		f := b.node(g, FreeNode(info.Addr), n)
		b.node(g, KernelNode(kernel("add"), warp(16), false, args(info.Addr, 5)), f)
		b.ExecLaunch(b.exec(g, 0), 0)
		b.want("wait", b.Synchronize(), IllegalAddress)
		if !strings.Contains(b.log.String(), "no launch of its graph has allocated") {
			t.Errorf("the fault is %s", b.log)
		}
		b.want("reset", b.Reset(), Success)
		b.want("the graph is gone", b.GraphDestroy(g), InvalidValue)
	})
}

// TestGraphMemoryOfDevices: an allocation node of another device, for this one.
func TestGraphMemoryOfDevices(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		for _, c := range []struct {
			guests []int
			want   Error
		}{{nil, IllegalAddress}, {[]int{0, 1}, Success}} {
			b := several(t, 2, mode)
			g, _ := b.GraphCreate(0)
			n := b.node(g, AllocNode(1, 64, c.guests))
			info, _ := b.NodeInfo(n)
			b.node(g, KernelNode(kernel("add"), warp(16), false, args(info.Addr, 5)), n)
			b.ExecLaunch(b.exec(g, 0), 0)
			b.want("wait", b.Synchronize(), c.want)
			if c.want == Success {
				if got := b.see(info.Addr, 1)[0]; got != 5 {
					t.Errorf("stored %d", got)
				}
			}
		}
	})
}
