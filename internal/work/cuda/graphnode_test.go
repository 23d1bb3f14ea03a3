package cuda

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// store is a kernel node with a thread that stores n, or with lower subtracts 1.
func store(at, n uint64) Work { return KernelNode(kernel("add"), warp(1), false, args(at, n)) }
func lower(at uint64) Work    { return KernelNode(kernel("lower"), warp(1), false, args(at)) }

// TestNodeEnable: nodes of an executable graph that are off, and on again.
func TestNodeEnable(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		d := b.malloc(12)
		g, _ := b.GraphCreate(0)
		first := b.node(g, store(d, 7))
		fill := b.node(g, FillNode(d+4, []byte{8, 0, 0, 0}, line(4)), first)
		move := b.node(g, CopyBytesNode(d+8, d, 4, AnyWay), fill)
		last := b.node(g, EmptyNode(), move)
		x := b.exec(g, 0)
		for _, c := range []struct {
			node uint64
			want [3]uint32
		}{{first, [3]uint32{1, 8, 1}}, {fill, [3]uint32{7, 1, 7}}, {move, [3]uint32{7, 8, 1}}} {
			for _, on := range []bool{false, true} {
				b.want("switch", b.ExecEnable(x, c.node, on), Success)
				if got, err := b.ExecEnabled(x, c.node); got != on || err != Success {
					t.Errorf("on is %v, %v", got, err)
				}
				b.want("clear", b.Fill(d, 1, line(1), 0), Success)
				for i := range uint64(3) {
					b.want("set", b.run("add", 1, 0, d+4*i, 1), Success)
				}
				b.want("launch", b.ExecLaunch(x, 0), Success)
				want := [3]uint32{7, 8, 7}
				if !on {
					want = c.want
				}
				if got := b.see(d, 3); !slices.Equal(got, want[:]) {
					t.Errorf("%v with the node on: %v", got, on)
				}
			}
		}
		b.want("an empty node", b.ExecEnable(x, last, false), InvalidValue)
		b.want("no node", b.ExecEnable(x, 5, false), InvalidValue)
		_, err := b.ExecEnabled(x, last)
		b.want("an empty node", err, InvalidValue)
	})
}

// TestKernelNodeAttributes: attributes of kernels' nodes, and which values are valid (CUDA
// runtime API, cudaLaunchAttributeID).
func TestKernelNodeAttributes(t *testing.T) {
	b := start(t, func(o *Options) { o.GPU = "h100-pcie" })
	g, _ := b.GraphCreate(0)
	n := b.node(g, store(b.malloc(4), 1))
	word := func(v ...int32) []byte {
		var list []byte
		for _, x := range v {
			list = binary.LittleEndian.AppendUint32(list, uint32(x))
		}
		return list
	}
	for _, c := range []struct {
		name    string
		id      KernelAttribute
		initial []byte
		value   []byte
		want    Error
		now     []byte
	}{
		{"priority", 8, word(0), word(-3), Success, word(-3)},
		{"priority beyond the highest", 8, word(-3), word(-30), Success, word(-5)},
		{"cooperative", 2, word(0), word(1), Success, word(1)},
		{"cluster", 4, word(0, 0, 0), word(2, 1, 1), Success, word(2, 1, 1)},
		{"placing of clusters", 5, word(0), word(2), Success, word(2)},
		{"no such placing", 5, word(2), word(3), InvalidValue, word(2)},
		{"domain", 10, word(0), word(1), Success, word(1)},
		{"no such domain", 10, word(1), word(2), InvalidValue, word(1)},
		{"too short", 4, word(2, 1, 1), word(1), InvalidValue, word(2, 1, 1)},
	} {
		got := make([]byte, c.id.Bytes())
		b.want(c.name, b.KernelNodeAttribute(n, c.id, got), Success)
		if !slices.Equal(got, c.initial) {
			t.Errorf("%s: %v, want %v", c.name, got, c.initial)
		}
		b.want(c.name, b.SetKernelNodeAttribute(n, c.id, c.value), c.want)
		b.want(c.name, b.KernelNodeAttribute(n, c.id, got), Success)
		if !slices.Equal(got, c.now) {
			t.Errorf("%s: then %v, want %v", c.name, got, c.now)
		}
	}
	for _, id := range []KernelAttribute{0, 3, 6, 99} {
		b.want(fmt.Sprint("attribute ", id), b.SetKernelNodeAttribute(n, id, make([]byte, id.Bytes())), InvalidValue)
	}
	other := b.node(g, store(b.malloc(4), 1))
	b.want("copy", b.CopyKernelNodeAttributes(other, n), Success)
	got := make([]byte, 4)
	if b.KernelNodeAttribute(other, 8, got); !slices.Equal(got, word(-5)) {
		t.Errorf("the priority was not copied: %v", got)
	}
	if b.KernelNodeAttribute(other, 10, got); !slices.Equal(got, word(1)) {
		t.Errorf("the domain was not copied: %v", got)
	}
	b.want("to another kind", b.CopyKernelNodeAttributes(b.node(g, EmptyNode()), n), InvalidValue)
	b.want("of another kind", b.SetKernelNodeAttribute(b.node(g, EmptyNode()), 8, word(0)), InvalidValue)
	large := Call{Grid: Dim3{X: 1 << 20, Y: 1, Z: 1}, Block: Dim3{X: 32, Y: 1, Z: 1}}
	b.want("cooperative and too large", b.SetKernelNodeAttribute(b.node(g, KernelNode(kernel("spin"), large, false, args())), 2, word(1)), CooperativeTooLarge)
}

// TestSetParamsKeepsAttributes: new parameters of a kernel's node leave its attributes as
// they are (CUDA runtime API, cudaGraphKernelNodeSetParams), in a graph and in an executable
// one.
func TestSetParamsKeepsAttributes(t *testing.T) {
	word := func(n int32) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }
	set := map[KernelAttribute][]byte{
		kernelTogether: word(1), kernelCluster: slices.Concat(word(1), word(1), word(1)), kernelSpread: word(2), kernelPriority: word(-3), 10: word(1),
	}
	large := KernelNode(kernel("spin"), Call{Grid: Dim3{X: 1 << 20, Y: 1, Z: 1}, Block: Dim3{X: 32, Y: 1, Z: 1}}, false, args())
	for _, c := range []struct {
		name    string
		set     func(b *bench, x, node uint64, what Work) Error
		changed func(b *bench, x, node uint64) *kernelWork
	}{
		{
			"graph", func(b *bench, x, node uint64, what Work) Error { return b.NodeSet(node, what) },
			func(b *bench, x, node uint64) *kernelWork { return b.r.nodes[node].work.(*kernelWork) },
		},
		{
			"executable graph", func(b *bench, x, node uint64, what Work) Error { return b.ExecSet(x, node, what) },
			func(b *bench, x, node uint64) *kernelWork { return b.r.execs[x].order.nodes[0].work.(*kernelWork) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := start(t, nil)
			d := b.malloc(8)
			g, _ := b.GraphCreate(0)
			n := b.node(g, store(d, 5))
			for a, v := range set {
				b.want(fmt.Sprint("attribute ", a), b.SetKernelNodeAttribute(n, a, v), Success)
			}
			x := b.exec(g, 0)
			b.want("new parameters", c.set(b, x, n, store(d+4, 7)), Success)
			b.want("too large for a cooperative launch", c.set(b, x, n, large), CooperativeTooLarge)
			for a, v := range set {
				if got := c.changed(b, x, n).value(a); !slices.Equal(got, v) {
					t.Errorf("attribute %d is %v afterwards, want %v", a, got, v)
				}
			}
			b.want("clear", b.Fill(d, 0, line(8), 0), Success)
			b.want("launch", b.ExecLaunch(b.exec(g, 0), 0), Success)
			b.want("launch", b.ExecLaunch(x, 0), Success)
			if got := b.see(d+4, 1); got[0] != 7 {
				t.Errorf("stored %d, want 7", got[0])
			}
		})
	}
}

// TestNodePriority: with cudaGraphInstantiateFlagUseNodePriority, of two equal kernels that
// fill the machine the one with the higher priority ends first.
func TestNodePriority(t *testing.T) {
	for _, c := range []struct {
		flags uint64
		first int // the node that ends first
	}{{0, 0}, {instantiateOwnPriority, 1}} {
		b := start(t, timing)
		g, _ := b.GraphCreate(0)
		fills := Call{Grid: Dim3{X: 65, Y: 1, Z: 1}, Block: Dim3{X: 512, Y: 1, Z: 1}}
		b.node(g, KernelNode(kernel("turns"), fills, false, args(short)))
		last := b.node(g, KernelNode(kernel("turns"), fills, false, args(short)))
		b.want("priority", b.SetKernelNodeAttribute(last, 8, []byte{0xfb, 0xff, 0xff, 0xff}), Success)
		b.want("launch", b.ExecLaunch(b.exec(g, c.flags), 0), Success)
		b.want("wait", b.Synchronize(), Success)
		var ends [2]uint64
		for _, k := range b.r.Result().Kernels {
			ends[k.Launch] = k.EndCycle
		}
		if ends[c.first] >= ends[1-c.first] {
			t.Errorf("flags %d: the kernels end at %v, want number %d first", c.flags, ends, c.first)
		}
	}
}

// TestCaptureTo: a capture that adds to a graph of the program.
func TestCaptureTo(t *testing.T) {
	b := start(t, nil)
	s, _ := b.StreamCreate(0, 0)
	d := b.malloc(8)
	g, _ := b.GraphCreate(0)
	n := b.node(g, store(d, 5))
	b.want("no graph", b.BeginCaptureTo(s, 0, nil, CaptureGlobal), InvalidValue)
	b.want("no such graph", b.BeginCaptureTo(s, 77, nil, CaptureGlobal), InvalidValue)
	b.want("no such node", b.BeginCaptureTo(s, g, []uint64{77}, CaptureGlobal), InvalidValue)
	b.want("begin", b.BeginCaptureTo(s, g, []uint64{n}, CaptureGlobal), Success)
	other, _ := b.StreamCreate(0, 0)
	b.want("twice", b.BeginCaptureTo(other, g, nil, CaptureGlobal), InvalidValue)
	b.want("launch", b.run("scale", 1, s, d), Success)
	end, err := b.EndCapture(s)
	if end != g || err != Success {
		t.Errorf("the graph is %#x, %v; want %#x", end, err, g)
	}
	if from, to, _ := b.GraphEdges(g); len(from) != 1 || from[0] != n || to[0] == n {
		t.Errorf("edges from %v to %v", from, to)
	}
	b.want("launch", b.ExecLaunch(b.exec(g, 0), 0), Success)
	if got := b.see(d, 1); got[0] != 15 {
		t.Errorf("stored %d", got[0])
	}
	b.want("begin", b.BeginCaptureTo(s, g, nil, CaptureGlobal), Success)
	b.want("spoil", b.Synchronize(), StreamCaptureUnsupported)
	_, err = b.EndCapture(s)
	b.want("end", err, StreamCaptureInvalidated)
	_, err = b.GraphNodes(g, false)
	b.want("the graph stays", err, Success)
}

// TestConditional: bodies run as values say, which kernels set.
func TestConditional(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		for _, c := range []struct {
			name    string
			kind    ConditionalKind
			size    uint32
			value   uint64
			counted []uint32 // how often each body runs
		}{
			{"if", ConditionalIf, 1, 9, []uint32{1}},
			{"if not", ConditionalIf, 1, 0, []uint32{0}},
			{"else", ConditionalIf, 2, 0, []uint32{0, 1}},
			{"not else", ConditionalIf, 2, 1, []uint32{1, 0}},
			{"switch 0", ConditionalSwitch, 3, 0, []uint32{1, 0, 0}},
			{"switch 2", ConditionalSwitch, 3, 2, []uint32{0, 0, 1}},
			{"switch beyond", ConditionalSwitch, 3, 3, []uint32{0, 0, 0}},
			{"while", ConditionalWhile, 1, 4, []uint32{4}},
			{"while not", ConditionalWhile, 1, 0, []uint32{0}},
		} {
			b := start(t, mode)
			d := b.malloc(32)
			g, _ := b.GraphCreate(0)
			h, err := b.ConditionCreate(g, 1, assignInitial)
			b.want("handle", err, Success)
			set := b.node(g, store(h, c.value))
			n := b.node(g, ConditionalNode(h, c.kind, c.size), set)
			info, err := b.NodeInfo(n)
			if err != Success || info.Kind != NodeConditional || len(info.Bodies) != int(c.size) || info.Conditional != c.kind {
				t.Fatalf("%s: %+v, %v", c.name, info, err)
			}
			b.node(g, store(d+4*uint64(c.size), 77), n)
			for i, body := range info.Bodies { // they count down, and end the loop
				b.node(body, lower(h), b.node(body, lower(d+4*uint64(i))))
			}
			x := b.exec(g, 0)
			b.want("destroy", b.GraphDestroy(g), Success)
			for range 2 {
				b.want("clear", b.Fill(d, 0, line(32), 0), Success)
				b.want("launch", b.ExecLaunch(x, 0), Success)
				got := b.see(d, int(c.size)+1)
				for i, n := range c.counted {
					if -got[i] != n {
						t.Errorf("%s: body %d ran %d times, want %d\n%s", c.name, i, -got[i], n, b.log)
					}
				}
				if got[c.size] != 77 {
					t.Errorf("%s: what comes after did not run", c.name)
				}
			}
		}
		b := start(t, mode)
		g, _ := b.GraphCreate(0)
		other, _ := b.GraphCreate(0)
		h, _ := b.ConditionCreate(g, 2, assignInitial)
		_, err := b.GraphAdd(other, nil, ConditionalNode(h, ConditionalIf, 1))
		b.want("a value of another graph", err, InvalidValue)
		_, err = b.GraphAdd(g, nil, ConditionalNode(h, ConditionalWhile, 2))
		b.want("two loops", err, InvalidValue)
		n := b.node(g, ConditionalNode(h, ConditionalWhile, 1))
		_, err = b.GraphAdd(g, nil, ConditionalNode(h, ConditionalIf, 1))
		b.want("a value of another node", err, InvalidValue)
		_, err = b.GraphInstantiate(g, 0)
		b.want("an endless loop", err, InvalidValue)
		info, _ := b.NodeInfo(n)
		nested, _ := b.ConditionCreate(g, 1, assignInitial)
		in := b.node(info.Bodies[0], ConditionalNode(nested, ConditionalIf, 1))
		info, _ = b.NodeInfo(in)
		d := b.malloc(4)
		b.want("clear", b.Fill(d, 0, line(4), 0), Success)
		b.node(info.Bodies[0], lower(h), b.node(info.Bodies[0], lower(d)))
		b.want("launch", b.ExecLaunch(b.exec(g, 0), 0), Success)
		if got := -b.see(d, 1)[0]; got != 2 {
			t.Errorf("a node within a loop ran %d times, want 2", got)
		}
		_, err = b.ConditionCreate(g, 0, 2)
		b.want("flags", err, InvalidValue)
		_, err = b.ConditionCreate(5, 0, 0)
		b.want("no graph", err, InvalidValue)
	})
}

// TestMemoryOps: the conditions of waits (CUDA driver API, CUstreamWaitValue_flags), and
// values that are written.
func TestMemoryOps(t *testing.T) {
	for _, c := range []struct {
		op   MemoryOp
		now  uint64
		want bool
	}{
		{MemoryOp{Kind: WaitWord, Value: 5, Flags: waitAtLeast}, 5, true},
		{MemoryOp{Kind: WaitWord, Value: 5, Flags: waitAtLeast}, 4, false},
		{MemoryOp{Kind: WaitWord, Value: 0xffff_fff0, Flags: waitAtLeast}, 3, true}, // it wraps around
		{MemoryOp{Kind: WaitWord, Value: 3, Flags: waitAtLeast}, 0xffff_fff0, false},
		{MemoryOp{Kind: WaitWord, Value: 5, Flags: waitEqual}, 5 | 7<<32, true},
		{MemoryOp{Kind: WaitWord, Value: 5, Flags: waitEqual | waitFlush}, 6, false},
		{MemoryOp{Kind: WaitLong, Value: 5, Flags: waitEqual}, 5 | 7<<32, false},
		{MemoryOp{Kind: WaitLong, Value: 1 << 40, Flags: waitAtLeast}, 1<<40 + 1, true},
		{MemoryOp{Kind: WaitLong, Value: 1 << 40, Flags: waitAtLeast}, 1 << 39, false},
		{MemoryOp{Kind: WaitWord, Value: 6, Flags: waitAnd}, 2, true},
		{MemoryOp{Kind: WaitWord, Value: 6, Flags: waitAnd}, 1, false},
		{MemoryOp{Kind: WaitWord, Value: 0xf0, Flags: waitNor}, 0xffff_ff0f, false},
		{MemoryOp{Kind: WaitWord, Value: 0xf0, Flags: waitNor}, 0xffff_ff0e, true},
		{MemoryOp{Kind: WaitLong, Value: 0xffff_ffff, Flags: waitNor}, 7, true},
	} {
		if got := c.op.holds(binary.LittleEndian.AppendUint64(nil, c.now)); got != c.want {
			t.Errorf("%+v of %#x: %v, want %v", c.op, c.now, got, c.want)
		}
	}
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		d := b.malloc(16)
		s, _ := b.StreamCreate(nonBlocking, 0)
		other, _ := b.StreamCreate(nonBlocking, 0)
		b.want("clear", b.Fill(d, 0, line(16), 0), Success)
		b.want("work", b.run("turns", 32, other, long), Success)
		b.want("work", b.run("add", 1, other, d, 3), Success)
		b.want("wait for another stream", b.MemoryOps(s, []MemoryOp{{WaitWord, d, 3, waitEqual}}), Success)
		b.want("write", b.MemoryOps(s, []MemoryOp{{WriteWord, d + 4, 8, 0}, {Kind: MemoryOpBarrier}, {WriteLong, d + 8, 9 | 1<<32, 0}}), Success)
		b.want("then", b.run("scale", 2, s, d), Success)
		b.want("wait", b.StreamSynchronize(s), Success)
		if got := b.see(d, 4); !slices.Equal(got, []uint32{9, 24, 9, 1}) {
			t.Errorf("memory is %v", got)
		}
		for _, o := range []MemoryOp{{WaitWord, d + 2, 0, 0}, {WaitLong, d + 4, 0, 0}, {WaitWord, stack, 0, 0}, {WriteWord, d + 16, 0, 0}, {WriteWord, d, 0, 2}, {WaitWord, d, 0, 4}, {9, d, 0, 0}} {
			b.want(fmt.Sprintf("%+v", o), b.MemoryOps(s, []MemoryOp{o}), InvalidValue)
		}
		b.want("too many", b.MemoryOps(s, make([]MemoryOp, 257)), InvalidValue)

		g, _ := b.GraphCreate(0)
		first := b.node(g, store(d, 1))
		n := b.node(g, MemoryNode([]MemoryOp{{WaitWord, d, 1, waitEqual}, {WriteWord, d + 4, 5, 0}}), first)
		last := b.node(g, KernelNode(kernel("scale"), warp(2), false, args(d)), n)
		if info, _ := b.NodeInfo(n); info.Kind != NodeMemory || len(info.Ops) != 2 || info.Ops[1].Value != 5 {
			t.Errorf("the node is %+v", info)
		}
		x := b.exec(g, 0)
		b.want("launch", b.ExecLaunch(x, s), Success)
		b.want("set", b.ExecSet(x, n, MemoryNode([]MemoryOp{{WriteWord, d + 4, 6, 0}})), Success)
		b.want("wait", b.StreamSynchronize(s), Success)
		if got := b.see(d, 2); !slices.Equal(got, []uint32{3, 15}) {
			t.Errorf("memory is %v", got)
		}
		b.want("switch off", b.ExecEnable(x, last, false), Success)
		b.want("launch", b.ExecLaunch(x, s), Success)
		b.want("wait", b.StreamSynchronize(s), Success)
		if got := b.see(d, 2); !slices.Equal(got, []uint32{1, 6}) {
			t.Errorf("memory is %v", got)
		}
		b.want("what nothing writes", b.MemoryOps(s, []MemoryOp{{WaitWord, d, 1000, waitEqual}}), NotSupported)
		if !strings.Contains(b.log.String(), "nothing submitted before it writes") {
			t.Errorf("the message is %s", b.log)
		}
	})
}

// TestUserObjects: an object is destroyed when neither the program nor a graph refers to it.
func TestUserObjects(t *testing.T) {
	b := start(t, nil)
	var gone []uint64
	b.host.calls = []func(uint64){func(data uint64) {
		gone = append(gone, data)
		if _, err := b.r.Thread(1).GraphCreate(0); err != NotPermitted {
			t.Errorf("a call within the function returns %v", err)
		}
	}}
	check := func(what string, want ...uint64) {
		t.Helper()
		if !slices.Equal(gone, want) {
			t.Errorf("%s: destroyed %v, want %v", what, gone, want)
		}
	}
	create := func(data uint64) uint64 {
		h, err := b.UserObjectCreate(data, 1, 1, 1)
		b.want("create", err, Success)
		return h
	}
	a := create(10)
	b.want("retain", b.UserObjectRetain(a, 2), Success)
	b.want("release", b.UserObjectRelease(a, 2), Success)
	check("one reference is left")
	b.want("too many", b.UserObjectRelease(a, 2), InvalidValue)
	b.want("the last", b.UserObjectRelease(a, 1), Success)
	check("none is left", 10)
	b.want("after that", b.UserObjectRelease(a, 1), InvalidValue)

	c := create(20)
	g, _ := b.GraphCreate(0)
	b.want("of the program", b.GraphRetain(g, c, 1, moveReferences), Success)
	x := b.exec(g, 0)
	clone, _ := b.GraphClone(g)
	b.want("destroy", b.GraphDestroy(g), Success)
	check("an executable graph and a clone have it", 10)
	b.want("destroy", b.GraphDestroy(clone), Success)
	check("an executable graph has it", 10)
	b.want("destroy", b.ExecDestroy(x), Success)
	check("nothing has it", 10, 20)

	d := create(30)
	g, _ = b.GraphCreate(0)
	b.want("a new one", b.GraphRetain(g, d, 2, 0), Success)
	b.want("release", b.UserObjectRelease(d, 1), Success)
	b.want("too many of the graph", b.GraphRelease(g, d, 3), InvalidValue)
	b.want("of the graph", b.GraphRelease(g, d, 1), Success)
	check("the graph has one", 10, 20)
	b.want("reset", b.Reset(), Success)
	check("the reset destroys the graph", 10, 20, 30)

	_, err := b.UserObjectCreate(1, 0, 1, 1)
	b.want("no function", err, InvalidValue)
	_, err = b.UserObjectCreate(1, 1, 0, 1)
	b.want("no reference", err, InvalidValue)
	_, err = b.UserObjectCreate(1, 1, 1, 0)
	b.want("no flag", err, InvalidValue)
	g, _ = b.GraphCreate(0)
	b.want("no object", b.GraphRetain(g, 5, 1, 0), InvalidValue)
	b.want("no graph", b.GraphRetain(5, create(40), 1, 0), InvalidValue)
}

// TestUserObjectInUse: an object that an executable graph keeps alive lives until the
// launches of a destroyed one have ended (CUDA driver API, cuGraphExecDestroy).
func TestUserObjectInUse(t *testing.T) {
	b := start(t, timing)
	gone := false
	b.host.calls = []func(uint64){func(uint64) { gone = true }}
	o, err := b.UserObjectCreate(0, 1, 1, 1)
	b.want("object", err, Success)
	g := b.diamond()
	b.want("retain", b.GraphRetain(g, o, 1, moveReferences), Success)
	x := b.exec(g, 0)
	b.want("destroy the graph", b.GraphDestroy(g), Success)
	b.want("launch", b.ExecLaunch(x, 0), Success)
	b.want("destroy", b.ExecDestroy(x), Success)
	b.want("query", b.StreamQuery(0), NotReady)
	if gone {
		t.Error("the object is gone while the graph runs")
	}
	b.want("wait", b.Synchronize(), Success)
	if !gone {
		t.Error("the object is still there")
	}
}

// TestCapturedNodesStay: while a capture adds to a graph, neither the graph nor its nodes
// can be destroyed (CUDA runtime API, cudaStreamGetCaptureInfo).
func TestCapturedNodesStay(t *testing.T) {
	b := start(t, nil)
	d := b.malloc(4)
	s, _ := b.StreamCreate(0, 0)
	g, _ := b.GraphCreate(0)
	b.want("begin", b.BeginCaptureTo(s, g, nil, CaptureGlobal), Success)
	b.want("fill", b.Fill(d, 1, line(4), s), Success)
	nodes, err := b.GraphNodes(g, false)
	b.want("nodes", err, Success)
	b.want("destroy the node", b.NodeDestroy(nodes[0]), InvalidValue)
	b.want("destroy the graph", b.GraphDestroy(g), InvalidValue)
	b.want("fill", b.Fill(d, 2, line(4), s), Success)
	_, err = b.EndCapture(s)
	b.want("end", err, Success)
	clone, err := b.GraphClone(g)
	b.want("clone", err, Success)
	if from, to, err := b.GraphEdges(clone); len(from) != 1 || len(to) != 1 || err != Success {
		t.Errorf("edges %v, %v, %v; want one", from, to, err)
	}
	b.want("destroy the node", b.NodeDestroy(nodes[0]), Success)
	b.want("destroy the graph", b.GraphDestroy(g), Success)
}

// TestSetForeignEvent: a node that records an event stays on its device.
func TestSetForeignEvent(t *testing.T) {
	b := several(t, 2, timing)
	own, _ := b.EventCreate(0)
	other, _ := b.EventCreate(0)
	b.use(1)
	foreign, _ := b.EventCreate(0)
	b.use(0)
	g, _ := b.GraphCreate(0)
	n := b.node(g, EventNode(own, NodeEventRecord))
	x := b.exec(g, 0)
	for _, set := range []func(Work) Error{
		func(w Work) Error { return b.NodeSet(n, w) },
		func(w Work) Error { return b.ExecSet(x, n, w) },
	} {
		b.want("an event of the device", set(EventNode(other, NodeEventRecord)), Success)
		b.want("an event of another device", set(EventNode(foreign, NodeEventRecord)), InvalidValue)
	}
	b.want("launch", b.ExecLaunch(x, 0), Success)
	b.want("wait", b.EventSynchronize(other), Success)
}

// TestGraphDot: the nodes, edges and bodies of a graph as text for Graphviz.
func TestGraphDot(t *testing.T) {
	b := start(t, nil)
	d := b.malloc(4)
	g, _ := b.GraphCreate(0)
	first := b.node(g, store(d, 1))
	inside, _ := b.GraphCreate(0)
	b.node(inside, EmptyNode())
	child := b.node(g, ChildNode(inside), first)
	b.node(g, FillNode(d, []byte{1}, line(4)), first, child)
	got, err := b.GraphDot(g)
	b.want("dot", err, Success)
	want := strings.NewReplacer("ADDRESS", fmt.Sprintf("%#x", d)).Replace(`digraph graph_1 {
  node [shape=box];
  node_1 [label="add\n<<<(1,1,1), (1,1,1), 0>>>"];
  node_2 [label="graph"];
  subgraph cluster_node_2_0 {
    label="node_2 0";
    node_3 [label="empty"];
  }
  node_4 [label="fill of 4 bytes\nADDRESS"];
  node_1 -> node_2;
  node_1 -> node_4;
  node_2 -> node_4;
}
`)
	if got != want {
		t.Errorf("the text is\n%s\nwant\n%s", got, want)
	}
	if in, number, err := b.NodePlace(child); in != g || number != 1 || err != Success {
		t.Errorf("the second node is number %d of %#x, %v", number, in, err)
	}
	if got := dotText("a\"b\\c\nd"); got != `"a\"b\\c\nd"` {
		t.Errorf("quoted: %s", got)
	}
}
