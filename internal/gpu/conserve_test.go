package gpu_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/core/simt"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/mem"
)

// machine is a chip with the small kernels and some memory.
type machine struct {
	t    *testing.T
	chip *gpu.GPU
	ptx  *xptx.Machine
	prog *xptx.Program
	data uint64
}

func newMachine(t *testing.T, name string, bytes uint64, set ...string) *machine {
	t.Helper()
	c, err := config.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range set {
		if err := c.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	m := &machine{t: t}
	if m.chip, err = gpu.New(c.ChipConfig()); err != nil {
		t.Fatal(err)
	}
	mod, err := ptx.Parse("micro.ptx", []byte(microPTX))
	if err != nil {
		t.Fatal(err)
	}
	if m.prog, err = xptx.Link(mod); err != nil {
		t.Fatal(err)
	}
	dev := device.New(device.Config{})
	if m.ptx, err = xptx.NewMachine(m.prog, dev); err != nil {
		t.Fatal(err)
	}
	if m.data, err = dev.Alloc(bytes, "data"); err != nil {
		t.Fatal(err)
	}
	return m
}

// launch runs a kernel with the memory as its first parameter and numbers as the
// others.
func (m *machine) launch(kernel string, blocks, threads uint32, args ...uint32) *gpu.Kernel {
	m.t.Helper()
	o := m.op(0, kernel, blocks, threads, args...)
	m.finish(o)
	return o.Kernel
}

// finish adds actions to the chip and runs them to their end.
func (m *machine) finish(list ...*gpu.Op) {
	m.t.Helper()
	for _, o := range list {
		if err := m.chip.Add(o); err != nil {
			m.t.Fatal(err)
		}
	}
	if err := m.chip.Finish(context.Background()); err != nil {
		m.t.Fatal(err)
	}
}

// op is a launch on a stream.
func (m *machine) op(stream int64, kernel string, blocks, threads uint32, args ...uint32) *gpu.Op {
	m.t.Helper()
	k, ok := m.prog.Kernel(kernel)
	if !ok {
		m.t.Fatal("no kernel ", kernel)
	}
	p := binary.LittleEndian.AppendUint64(nil, m.data)
	for _, a := range args {
		p = binary.LittleEndian.AppendUint32(p, a)
	}
	l := xptx.Launch{Kernel: k, Grid: exec.Dim3{X: blocks, Y: 1, Z: 1}, Block: exec.Dim3{X: threads, Y: 1, Z: 1}, Params: p}
	return &gpu.Op{Kind: gpu.OpLaunch, Stream: stream, Make: func(bool) (exec.Work, error) { return m.ptx.NewWork(l, nil) }}
}

// TestConservation compares requests with replies, blocks and warps with their
// ends, and the states of warps with their lifetimes.
func TestConservation(t *testing.T) {
	alltests.Only(t, "requests counted at every station")
	names := config.Names()
	if !alltests.On() {
		names = []string{"gtx-480", "rtx-2060", "rtx-3070"}
	}
	for _, name := range names {
		for _, set := range []string{"chip.rotate_sms=true", "l1d.enabled=false", "l2.enabled=false", "dram.fixed_latency=true", "l1d.prefetcher=next-line", "l2.prefetcher=next-line"} {
			if name != "rtx-2060" && set != "chip.rotate_sms=true" {
				continue
			}
			sets := []string{set, "l1d.adaptive=false", "partition.indexing=consecutive"}
			if set == "chip.rotate_sms=true" {
				sets = sets[:1]
			}
			m := newMachine(t, name, 1<<22, sets...)
			for _, l := range []struct {
				kernel          string
				blocks, threads uint32
				args            []uint32
			}{
				{"stride", 100, 250, []uint32{4}}, {"stride", 33, 96, []uint32{132}}, {"count", 7, 256, []uint32{0, 3}},
				{"count", 100, 33, []uint32{64, 2}}, {"constants", 50, 64, []uint32{31, 64, 5}}, {"banks", 50, 32, []uint32{8, 20}},
			} {
				k := m.launch(l.kernel, l.blocks, l.threads, l.args...)
				what := name + " " + set + " " + l.kernel
				sm := &k.SM
				warps := uint64(l.blocks * ((l.threads + 31) / 32))
				if k.Blocks != uint64(l.blocks) || sm.BlocksDone != k.Blocks || sm.BlocksLaunched != k.Blocks || sm.WarpsLaunched != warps {
					t.Errorf("%s: %d of %d blocks ended, %d warps launched, want %d", what, sm.BlocksDone, sm.BlocksLaunched, sm.WarpsLaunched, warps)
				}
				var states uint64
				for _, n := range sm.States {
					states += n
				}
				if states != sm.WarpLife || states < k.WarpInsts/2 {
					t.Errorf("%s: the states of warps sum to %d cycles, their lifetimes to %d", what, states, sm.WarpLife)
				}
				if sm.WarpInsts != k.WarpInsts || sm.ThreadInsts != k.ThreadInsts || sm.Completed > sm.WarpInsts {
					t.Errorf("%s: the SMs issued %d and %d instructions, the blocks executed %d and %d", what, sm.WarpInsts, sm.ThreadInsts, k.WarpInsts, k.ThreadInsts)
				}
				got, want := uint64(0), uint64(0)
				switch own := k.Own.(type) {
				case *simt.Counters:
					got, want = own.Issues[0]+own.Issues[1], sm.Cycles*uint64(len(own.Slots))
					for _, by := range own.Slots {
						got += by[0] + by[1] + by[2]
					}
				case *modern.Counters:
					want = sm.Cycles * uint64(len(own.Slots))
					for _, by := range own.Slots {
						for _, n := range by {
							got += n
						}
					}
				}
				if got != want || want == 0 {
					t.Errorf("%s: schedulers account for %d cycles of %d", what, got, want)
				}
				settled(t, what, m)
			}
		}
	}
}

// settled waits until the memory system is idle, and checks that every request has
// come back.
func settled(t *testing.T, what string, m *machine) {
	t.Helper()
	m.launch("banks", 1, 32, 1, 1000)
	c := m.chip.Totals()
	var out, in uint64
	for k := range mem.Kinds {
		if k != mem.L1WriteBack && k != mem.L2WriteBack {
			out += c.SM.Packets[k]
			in += c.SM.ReplyPackets[k]
		}
	}
	if in < out || in > 4*out {
		t.Errorf("%s: %d requests, %d replies", what, out, in)
	}
	if c.Request.Packets != out+c.SM.Packets[mem.L1WriteBack] || c.Reply.Packets != in {
		t.Errorf("%s: the SMs sent %d and got %d, the network carried %d and %d", what, out, in, c.Request.Packets, c.Reply.Packets)
	}
	if n := m.chip.LiveRequests(); n != 0 {
		t.Errorf("%s: %d requests are still in flight", what, n)
	}
}
