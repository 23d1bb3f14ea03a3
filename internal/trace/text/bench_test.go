package text

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/internal/trace"
)

// generated returns a trace of version 5 with the given number of blocks of eight
// warps, with addresses in all modes.
func generated(blocks, loops int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	fmt.Fprintf(&b, "-kernel name = k\n-kernel id = 1\n-grid dim = (%d,1,1)\n-block dim = (256,1,1)\n-shmem = 0\n-nregs = 32\n-binary version = 80\n"+
		"-cuda stream id = 0\n-shmem base_addr = 0x00007f5e00000000\n-local mem base_addr = 0x00007f5ddd000000\n-nvbit version = 1.7.4\n"+
		"-accelsim tracer version = 5\n-enable lineinfo = 0\n\n#traces format = %s\n\n\n", blocks, formatNote(5)[1:])
	for i := range blocks {
		fmt.Fprintf(&b, "\n#BEGIN_TB\n\nthread block = %d,0,0\n\n", i)
		for w := range 8 {
			fmt.Fprintf(&b, "warp = %d\ninsts = %d\n", w, 7*loops+1)
			for range loops {
				a := 0x7f0000000000 + r.Uint64N(1<<20)*32
				b.WriteString("0010 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0 0 \n0020 ffffffff 1 R6 IADD3 3 R6 R5 R255 0 16 \n")
				fmt.Fprintf(&b, "0030 ffffffff 1 R8 LDG.E 1 R4 4 1 0x%x 4 0 \n", a)
				fmt.Fprintf(&b, "0040 0000000f 1 R9 LDG.E.64 1 R4 8 2 0x%x %d -%d 8 0 \n", a, r.IntN(4000), r.IntN(4000))
				b.WriteString("0050 ffffffff 1 R3 FFMA 3 R3 R8 R9 0 0 \n")
				fmt.Fprintf(&b, "0060 00000003 0 STG.E 2 R4 R3 4 0 0x%016x 0x%016x 0 \n", a, a+64)
				b.WriteString("0070 ffffffff 0 BRA 0 0 -96 \n")
			}
			b.WriteString("0080 ffffffff 0 EXIT 0 0 0 \n\n")
		}
		b.WriteString("#END_TB\n")
	}
	return b.Bytes()
}

// BenchmarkScan measures the pass that finds code, blocks and errors, and keeps
// nothing.
// keeps nothing.
func BenchmarkScan(b *testing.B) {
	path := filepath.Join(b.TempDir(), "kernel-1.traceg")
	data := generated(64, 200)
	os.WriteFile(path, data, 0o666)
	b.SetBytes(int64(len(data)))
	var insts uint64
	for b.Loop() {
		k := openWith(b, path, 0)
		insts += k.WarpInsts
		k.Blocks.Close()
	}
	b.ReportMetric(float64(insts)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
}

// BenchmarkStream measures the second pass, which delivers blocks.
func BenchmarkStream(b *testing.B) {
	path := filepath.Join(b.TempDir(), "kernel-1.traceg")
	data := generated(64, 200)
	os.WriteFile(path, data, 0o666)
	k := openWith(b, path, 0)
	defer k.Blocks.Close()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var insts int
	for b.Loop() {
		for i := range k.Present {
			x, err := k.Blocks.Block(i)
			if err != nil {
				b.Fatal(err)
			}
			insts += len(x.Insts)
			k.Blocks.Free(x)
		}
	}
	b.ReportMetric(float64(insts)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
}

// BenchmarkWrite measures writing blocks that are already decoded.
func BenchmarkWrite(b *testing.B) {
	path := filepath.Join(b.TempDir(), "kernel-1.traceg")
	data := generated(64, 200)
	os.WriteFile(path, data, 0o666)
	k := openWith(b, path, 1<<30)
	defer k.Blocks.Close()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := WriteKernel(discard{}, k, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// discard drops what is written.
type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// openWith scans a launch and keeps the given number of bytes.
func openWith(t testing.TB, path string, keep int64) *trace.Kernel {
	t.Helper()
	k, err := sourceOf(path, keep).Open()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sourceOf(path string, keep int64) *source {
	room := &budget{}
	room.left.Store(keep)
	return &source{place: place{dir: filepath.Dir(path), name: filepath.Base(path)}, budget: room, insts: -1}
}
