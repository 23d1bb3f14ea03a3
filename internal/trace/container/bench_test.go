package container

import (
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/text"
	"github.com/heddle-sim/heddle/internal/trace/tracetest"
)

// walk reads all blocks of all launches and returns the number of records.
func walk(t testing.TB, set *trace.Set) (n int) {
	t.Helper()
	for _, c := range set.Commands {
		if c.Launch == nil {
			continue
		}
		k, err := c.Launch.Open()
		if err != nil {
			t.Fatal(err)
		}
		for i := range k.Present {
			b, err := k.Blocks.Block(i)
			if err != nil {
				t.Fatal(err)
			}
			n += len(b.Insts)
			k.Blocks.Free(b)
		}
		if err := k.Blocks.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// BenchmarkRead reads whole traces, from file to records.
func BenchmarkRead(b *testing.B) {
	for _, r := range real {
		b.Run(r.name, func(b *testing.B) {
			out := filepath.Join(b.TempDir(), "x"+Ending)
			set, err := text.Open(tracetest.Folder(b, r.name))
			if err != nil {
				b.Fatal(err)
			}
			if err := Write(out, set, nil); err != nil {
				b.Fatal(err)
			}
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				set, err := Open(out)
				if err != nil {
					b.Fatal(err)
				}
				n += walk(b, set)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
		})
	}
}

// BenchmarkText reads the same traces as text packed by xz.
func BenchmarkText(b *testing.B) {
	for _, r := range real {
		b.Run(r.name, func(b *testing.B) {
			set, err := text.Open(tracetest.Folder(b, r.name))
			if err != nil {
				b.Fatal(err)
			}
			dir := b.TempDir()
			if err := text.Write(dir, set, text.Options{Packing: "xz"}, nil); err != nil {
				b.Fatal(err)
			}
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				set, err := text.Open(dir)
				if err != nil {
					b.Fatal(err)
				}
				n += walk(b, set)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
		})
	}
}

// BenchmarkWrite writes them.
func BenchmarkWrite(b *testing.B) {
	for _, r := range real {
		b.Run(r.name, func(b *testing.B) {
			set, err := text.Open(tracetest.Folder(b, r.name))
			if err != nil {
				b.Fatal(err)
			}
			n := walk(b, set)
			out := filepath.Join(b.TempDir(), "x"+Ending)
			for b.Loop() {
				if err := Write(out, set, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
		})
	}
}
