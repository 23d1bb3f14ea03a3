package exec

import (
	"errors"
	"strings"
	"testing"
)

// kernel is a kernel for checking launches.
type kernel struct {
	params, threads, shared int
	bad                     []error
}

func (k *kernel) Name() string             { return "k" }
func (k *kernel) Params() []Param          { return nil }
func (k *kernel) ParamBytes() int          { return k.params }
func (k *kernel) AddressBytes() int        { return 8 }
func (k *kernel) MaxThreads() int          { return k.threads }
func (k *kernel) StaticShared() int        { return k.shared }
func (k *kernel) LocalBytes() int          { return 0 }
func (k *kernel) Registers() int           { return 16 }
func (k *kernel) RegistersEstimated() bool { return false }
func (k *kernel) Unusable() []error        { return k.bad }

// TestCheck checks each limit of a launch on both sides (CUDA programming guide, "Compute
// Capabilities", and "Execution Configuration").
func TestCheck(t *testing.T) {
	one, many := Dim3{1, 1, 1}, Dim3{32, 1, 1}
	plain := &kernel{}
	for _, c := range []struct {
		name string
		l    Launch
		says string // why it is refused; "" if it is not
	}{
		{"one thread", Launch{Kernel: plain, Grid: one, Block: one}, ""},
		{"no kernel", Launch{Grid: one, Block: one}, "not part of the program"},
		{"no block", Launch{Kernel: plain, Grid: Dim3{1, 0, 1}, Block: one}, "at least 1"},
		{"no thread", Launch{Kernel: plain, Grid: one, Block: Dim3{1, 1, 0}}, "at least 1"},
		{"1024 threads", Launch{Kernel: plain, Grid: one, Block: Dim3{32, 32, 1}}, ""},
		{"1056 threads", Launch{Kernel: plain, Grid: one, Block: Dim3{32, 33, 1}}, "1024 threads"},
		{"2^32 threads and one", Launch{Kernel: plain, Grid: one, Block: Dim3{1 << 16, 1 << 16, 1}}, "1024 threads"},
		{"64 in z", Launch{Kernel: plain, Grid: one, Block: Dim3{1, 1, 64}}, ""},
		{"65 in z", Launch{Kernel: plain, Grid: one, Block: Dim3{1, 1, 65}}, "64 in z"},
		{"2^31-1 blocks in x", Launch{Kernel: plain, Grid: Dim3{1<<31 - 1, 1, 1}, Block: one}, ""},
		{"2^31 blocks in x", Launch{Kernel: plain, Grid: Dim3{1 << 31, 1, 1}, Block: one}, "2147483647"},
		{"65535 blocks in y and z", Launch{Kernel: plain, Grid: Dim3{1, 65535, 65535}, Block: one}, ""},
		{"65536 blocks in y", Launch{Kernel: plain, Grid: Dim3{1, 65536, 1}, Block: one}, "65535"},
		{"65536 blocks in z", Launch{Kernel: plain, Grid: Dim3{1, 1, 65536}, Block: one}, "65535"},
		{"as many threads as the kernel allows", Launch{Kernel: &kernel{threads: 32}, Grid: one, Block: many}, ""},
		{"more threads than the kernel allows", Launch{Kernel: &kernel{threads: 31}, Grid: one, Block: many}, "at most 31"},
		{"all parameters", Launch{Kernel: &kernel{params: 32764}, Grid: one, Block: one, Params: make([]byte, 32764)}, ""},
		{"too few", Launch{Kernel: &kernel{params: 8}, Grid: one, Block: one, Params: make([]byte, 7)}, "8 bytes; got 7"},
		{"too many", Launch{Kernel: &kernel{params: 8}, Grid: one, Block: one, Params: make([]byte, 9)}, "8 bytes; got 9"},
		{"more than a kernel has", Launch{Kernel: &kernel{params: 32768}, Grid: one, Block: one, Params: make([]byte, 32768)}, "limit is 32764"},
		{"227 KiB shared", Launch{Kernel: &kernel{shared: 1 << 10}, Grid: one, Block: one, Shared: 226 << 10}, ""},
		{"a byte more", Launch{Kernel: &kernel{shared: 1 << 10}, Grid: one, Block: one, Shared: 226<<10 + 1}, "232448 bytes"},
		{"less than nothing", Launch{Kernel: plain, Grid: one, Block: one, Shared: -1}, "0 to"},
		{"a cluster of one", Launch{Kernel: plain, Grid: one, Block: one, Cluster: one}, ""},
		{"a cluster of two", Launch{Kernel: plain, Grid: Dim3{4, 1, 1}, Block: one, Cluster: Dim3{2, 1, 1}}, ""},
		{"a grid that is no multiple of its clusters", Launch{Kernel: plain, Grid: Dim3{4, 3, 1}, Block: one, Cluster: Dim3{2, 2, 1}}, "does not divide into clusters"},
		{"a cluster without height", Launch{Kernel: plain, Grid: one, Block: one, Cluster: Dim3{1, 0, 1}}, "at least 1"},
		{"a cluster of 32", Launch{Kernel: plain, Grid: Dim3{32, 32, 1}, Block: one, Cluster: Dim3{16, 2, 1}}, "the limit is 16 blocks"},
		{"a cluster of 2^64", Launch{Kernel: plain, Grid: one, Block: one, Cluster: Dim3{1 << 22, 1 << 21, 1 << 21}}, "the limit is 16 blocks"},
		{"a kernel that cannot run", Launch{Kernel: &kernel{bad: []error{errors.New("one"), errors.New("two")}}, Grid: one, Block: one}, "one\ntwo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Check[*kernel](&c.l)
			var le *LaunchError
			switch {
			case c.says == "" && err != nil:
				t.Error(err)
			case c.says != "" && (!errors.As(err, &le) || !strings.Contains(le.Msg, c.says)):
				t.Errorf("refused with %v, want %q", err, c.says)
			}
		})
	}
}
