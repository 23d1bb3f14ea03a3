package ml

import (
	"errors"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// two are two devices: the first is a GeForce RTX 2060 as NVIDIA's data sheet has it.
func two() []Device {
	memory := func() (free, total uint64) { return 5 << 30, 6 << 30 }
	return []Device{
		{BusID: "0000:00:00.0", Free: memory, Properties: cuda.Properties{
			Name: "rtx-2060", Major: 7, Minor: 5, SMs: 30, CoreKHz: 1365000, MemoryKHz: 3500500, BusBits: 192,
		}},
		{BusID: "0001:0a:1f.0", Free: memory, Properties: cuda.Properties{Index: 1, Name: "mine", Major: 99, SMs: 1, CoreKHz: 1000}},
	}
}

// TestDevice: the values of both devices.
func TestDevice(t *testing.T) {
	list := two()
	type values struct {
		uuid, address, old           string
		arch, brand                  uint32
		cores, bus, graphics, memory uint32 // 0: not supported
	}
	for i, want := range []values{
		{"GPU-7274782d-3230-3630-0000-000000000000", "00000000:00:00.0", "0000:00:00.0", 6, 15, 1920, 192, 1365, 3500},
		{"GPU-6d696e65-0000-0000-0000-000000000001", "00000001:0A:1F.0", "0001:0A:1F.0", unknownArchitecture, 0, 0, 0, 1, 0},
	} {
		d := &list[i]
		number := func(n uint32, res Result) uint32 {
			if (res == Success) != (n > 0) || res != Success && res != NotSupported {
				t.Errorf("%s: %d, %v", d.Name, n, res)
			}
			return n
		}
		got := values{
			d.UUID(), d.Address(8), d.Address(4), d.Architecture(), d.Brand(),
			number(d.Cores()), number(d.MemoryBus()), number(d.MHz(GraphicsClock)), number(d.MHz(MemoryClock)),
		}
		if got != want {
			t.Errorf("%s: %+v; want %+v", d.Name, got, want)
		}
		if _, res := d.MHz(VideoClock); res != NotSupported {
			t.Errorf("%s: the video clock: %v", d.Name, res)
		}
		if _, res := d.MHz(4); res != InvalidArgument {
			t.Errorf("%s: clock 4: %v", d.Name, res)
		}
	}
}

// TestGenerations: NVML's numbers of architectures.
func TestGenerations(t *testing.T) {
	for capability, want := range map[[2]int]uint32{{3, 5}: 2, {5, 2}: 3, {6, 1}: 4, {7, 0}: 5, {7, 5}: 6, {8, 0}: 7, {8, 6}: 7, {8, 9}: 8, {9, 0}: 9, {12, 0}: 10} {
		d := Device{Properties: cuda.Properties{Major: capability[0], Minor: capability[1]}}
		if n := d.Architecture(); n != want {
			t.Errorf("%v: %d, want %d", capability, n, want)
		}
	}
}

// TestLibrary: handles, and calls in the wrong order.
func TestLibrary(t *testing.T) {
	l := New(two)
	ok := func(*Device) Result { return Success }
	if _, res := l.ByIndex(0); res != Uninitialized || l.Shutdown() != Uninitialized || l.On(firstHandle, ok) != Uninitialized {
		t.Errorf("before Init: %v", res)
	}
	l.Init()
	l.Init()
	l.Shutdown()
	for _, c := range []struct {
		name string
		find func() (uint64, Result)
		want Result
		h    uint64
	}{
		{"index 0", func() (uint64, Result) { return l.ByIndex(0) }, Success, firstHandle},
		{"index 1", func() (uint64, Result) { return l.ByIndex(1) }, Success, 2 * firstHandle},
		{"index 2", func() (uint64, Result) { return l.ByIndex(2) }, InvalidArgument, 0},
		{"index -1", func() (uint64, Result) { return l.ByIndex(1<<32 - 1) }, InvalidArgument, 0},
		{"UUID", func() (uint64, Result) { return l.ByUUID("gpu-6D696E65-0000-0000-0000-000000000001") }, Success, 2 * firstHandle},
		{"no UUID", func() (uint64, Result) { return l.ByUUID("") }, NotFound, 0},
		{"bus", func() (uint64, Result) { return l.ByBus("00000001:0a:1F.0") }, Success, 2 * firstHandle},
		{"short bus", func() (uint64, Result) { return l.ByBus("0:0") }, Success, firstHandle},
		{"other bus", func() (uint64, Result) { return l.ByBus("0000:01:00.0") }, NotFound, 0},
		{"no bus", func() (uint64, Result) { return l.ByBus("bus") }, InvalidArgument, 0},
		{"odd bus", func() (uint64, Result) { return l.ByBus("0:x:0") }, InvalidArgument, 0},
		{"long bus", func() (uint64, Result) { return l.ByBus("1:2:3:4") }, InvalidArgument, 0},
	} {
		if h, res := c.find(); res != c.want || h != c.h {
			t.Errorf("%s: %#x, %v; want %#x, %v", c.name, h, res, c.h, c.want)
		}
	}
	for _, h := range []uint64{0, 1, firstHandle + 1, 3 * firstHandle, ^uint64(0)} {
		if res := l.On(h, ok); res != InvalidArgument {
			t.Errorf("handle %#x: %v", h, res)
		}
	}
	if l.Shutdown() != Success || l.On(firstHandle, ok) != Uninitialized || l.Shutdown() != Uninitialized {
		t.Error("the last Shutdown ends the library")
	}
}

// TestSMI: what nvidia-smi prints.
func TestSMI(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-L", "GPU 0: rtx-2060 (UUID: GPU-7274782d-3230-3630-0000-000000000000)\nGPU 1: mine (UUID: GPU-6d696e65-0000-0000-0000-000000000001)\n"},
		{"-L -i 1", "GPU 1: mine (UUID: GPU-6d696e65-0000-0000-0000-000000000001)\n"},
		{"--query-gpu=name,memory.total,temperature.gpu,power.draw --format=csv", "name, memory.total [MiB], temperature.gpu, power.draw [W]\nrtx-2060, 6144 MiB, [N/A], [N/A]\nmine, 6144 MiB, [N/A], [N/A]\n"},
		{"--query-gpu=index,memory.used,clocks.mem --format=csv,noheader -i 0,1", "0, 1024 MiB, 3500 MHz\n1, 1024 MiB, [N/A]\n"},
		{"--query-gpu gpu_name,compute_cap,count,pci.bus_id --format csv,noheader,nounits --id=0", "rtx-2060, 7.5, 2, 00000000:00:00.0\n"},
	} {
		var b strings.Builder
		if err := SMI(&b, "heddle", two(), strings.Fields(c.args)); err != nil || b.String() != c.want {
			t.Errorf("nvidia-smi %s: %v\n%swant\n%s", c.args, err, &b, c.want)
		}
	}
	for args, lines := range map[string][]string{
		"": {
			"| NVIDIA-SMI (heddle)               Driver Version: 595.45.04      CUDA Version: 13.2     |",
			"|   0  rtx-2060                       Off |   00000000:00:00.0 Off |                  Off |",
			"| N/A   N/A    P0              N/A /  N/A |    1024MiB /   6144MiB |     N/A      Default |",
			"|  No running processes found                                                             |",
		},
		"-q":        {"Attached GPUs                                    : 2", "    Product Name                                 : rtx-2060", "        Total                                    : 6144 MiB", "        GPU Current Temp                         : N/A"},
		"--version": {"CUDA Version        : 13.2"},
		"--help":    {"It describes the simulated GPU in place of NVIDIA's program. Fields without a value in a"},
	} {
		var b strings.Builder
		err := SMI(&b, "heddle", two(), strings.Fields(args))
		for _, line := range lines {
			if err != nil || !strings.Contains("\n"+b.String(), "\n"+line+"\n") {
				t.Errorf("nvidia-smi %s: %v\n%sis missing\n%s", args, err, &b, line)
			}
		}
		if args == "" {
			for line := range strings.Lines(b.String()) {
				if line = strings.TrimSuffix(line, "\n"); line != "" && len(line) != 91 {
					t.Errorf("a line of the table has %d characters: %s", len(line), line)
				}
			}
		}
	}
	for args, says := range map[string]string{
		"--query-gpu=nam --format=csv":          `field "nam" is not a valid field to query; did you mean "name"?`,
		"--query-gpu=name":                      "want csv",
		"--query-gpu=name --format=xml":         "want csv",
		"--query-gpu=name --format=csv,nothing": "want csv",
		"--format=csv":                          "--format needs --query-gpu",
		"--query-gpu":                           "a value is missing",
		"-i 7":                                  "no device 7; there are 2, from 0",
		"--qery-gpu=name":                       "did you mean --query-gpu?",
		"dmon":                                  "dmon is not supported; see nvidia-smi -h",
	} {
		var b strings.Builder
		err := SMI(&b, "heddle", two(), strings.Fields(args))
		if use := (*UsageError)(nil); !errors.As(err, &use) || !strings.Contains(err.Error(), says) || b.Len() > 0 {
			t.Errorf("nvidia-smi %s: %v\n%swant %q", args, err, &b, says)
		}
	}
}

func TestResults(t *testing.T) {
	for r, want := range map[Result]string{0: "Success", 3: "Not Supported", 7: "Insufficient Size", 25: "Argument version mismatch", 999: "Unknown Error", -1: "Unknown Error"} {
		if r.String() != want {
			t.Errorf("%d is %q, want %q", int32(r), r, want)
		}
	}
}
