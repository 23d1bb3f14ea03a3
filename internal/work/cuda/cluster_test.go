package cuda

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
)

// TestClusters: the sizes of clusters that launches, the nodes of graphs and the occupancy accept, by GPU.
func TestClusters(t *testing.T) {
	line := func(n uint32) Dim3 { return Dim3{X: n, Y: 1, Z: 1} }
	for _, c := range []struct {
		name, gpu   string
		own         int // .reqnctapercluster; 0 without
		grid        uint32
		launch      Dim3
		chosen      int32 // FunctionClusterWidth
		nonPortable int32
		want        Error
		occupancy   Error
		largest     int
	}{
		{"two on Hopper", "h100-pcie", 0, 4, line(2), 0, 0, Success, Success, 8},
		{"nine", "h100-pcie", 0, 9, line(9), 0, 0, InvalidClusterSize, InvalidClusterSize, 8},
		{"nine that are permitted", "h100-pcie", 0, 9, line(9), 0, 1, Success, Success, 16},
		{"2^64", "h100-pcie", 0, 2, Dim3{X: 1 << 22, Y: 1 << 21, Z: 1 << 21}, 0, 1, InvalidClusterSize, InvalidClusterSize, 16},
		{"indivisible", "h100-pcie", 0, 3, line(2), 0, 0, OutOfResources, Success, 8},
		{"the kernel's own", "h100-pcie", 16, 16, Dim3{}, 0, 0, InvalidClusterSize, InvalidClusterSize, 8},
		{"the kernel's own, permitted", "h100-pcie", 16, 16, Dim3{}, 0, 1, Success, Success, 16},
		{"the function's", "h100-pcie", 0, 16, Dim3{}, 16, 0, InvalidClusterSize, InvalidClusterSize, 8},
		{"none", "h100-pcie", 0, 3, Dim3{}, 0, 0, Success, Success, 8},
		{"two before Hopper", "rtx-2060", 0, 4, line(2), 0, 0, NotSupported, NotSupported, 0},
		{"the function's before Hopper", "rtx-2060", 0, 4, Dim3{}, 2, 0, NotSupported, NotSupported, 0},
		{"one before Hopper", "rtx-2060", 0, 4, line(1), 0, 0, Success, NotSupported, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			image := fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry many() { ret; }")}
			if c.own > 0 {
				image.SM, image.Data = 90, fmt.Appendf(nil, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry many() .reqnctapercluster %d { ret; }", c.own)
			}
			b := start(t, func(o *Options) { o.GPU = c.gpu }, image)
			k := kernel("many")
			b.want("set", b.SetFunctionAttribute(k, FunctionClusterWidth, c.chosen), Success)
			b.want("set", b.SetFunctionAttribute(k, FunctionNonPortable, c.nonPortable), Success)
			call := Call{Grid: line(c.grid), Block: line(32), Cluster: c.launch}
			b.want("launch", b.Launch(k, call, false, nil), c.want)
			active, largest, err := b.Clusters(k, call)
			b.want("occupancy", err, c.occupancy)
			if largest != c.largest || err == Success && active == 0 {
				t.Errorf("%d clusters are resident, the largest has %d blocks, want %d", active, largest, c.largest)
			}
			if c.launch == (Dim3{}) || c.want == OutOfResources {
				return
			}
			f, err := b.r.function(k)
			b.want("function", err, Success)
			le := binary.LittleEndian
			_, err = (&kernelWork{f: f}).with(b.r, kernelCluster, le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, c.launch.X), c.launch.Y), c.launch.Z))
			b.want("node", err, c.want)
		})
	}
}
