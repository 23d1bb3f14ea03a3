package cuda

import "testing"

// BenchmarkCopy copies 16 MiB each way and waits for it.
func BenchmarkCopy(b *testing.B) {
	for _, mode := range []struct {
		name string
		set  func(*Options)
	}{{"functional", nil}, {"timing", timing}} {
		b.Run(mode.name, func(b *testing.B) {
			const n = 16 << 20
			x := start(b, mode.set)
			x.host.pieces[1<<40] = make([]byte, n)
			d := x.malloc(n)
			b.SetBytes(2 * n)
			for b.Loop() {
				x.want("to the device", x.Copy(d, 1<<40, n, HostToDevice, 0, false), Success)
				x.want("to the host", x.Copy(1<<40, d, n, DeviceToHost, 0, false), Success)
			}
		})
	}
}

// BenchmarkLaunch launches empty kernels, in loops of 1000 that wait at the end.
func BenchmarkLaunch(b *testing.B) {
	for _, mode := range []struct {
		name string
		set  func(*Options)
	}{{"functional", nil}, {"timing", timing}} {
		b.Run(mode.name, func(b *testing.B) {
			x := start(b, func(o *Options) {
				o.Threads = 1
				if mode.set != nil {
					mode.set(o)
				}
			})
			for b.Loop() {
				for range 1000 {
					x.want("launch", x.run("many", 32, 0), Success)
				}
				x.want("wait", x.Synchronize(), Success)
			}
		})
	}
}
