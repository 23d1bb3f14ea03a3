package cuda

import "testing"

// TestLaunchBlocking: with CUDA_LAUNCH_BLOCKING launches of kernels and graphs return when their work has
// completed; without it, and for other work, they do not wait.
func TestLaunchBlocking(t *testing.T) {
	graph := func(b *bench, s uint64) Error {
		b.want("begin", b.BeginCapture(s, CaptureGlobal), Success)
		b.want("node", b.run("spin", 1, s), Success)
		g, err := b.EndCapture(s)
		b.want("end", err, Success)
		x, err := b.GraphInstantiate(g, 0)
		b.want("instantiate", err, Success)
		return b.ExecLaunch(x, s)
	}
	for _, c := range []struct {
		name     string
		blocking bool
		give     func(b *bench, s uint64) Error
		want     Error // of a query
	}{
		{"a kernel", true, func(b *bench, s uint64) Error { return b.run("spin", 1, s) }, Success},
		{"a graph", true, graph, Success},
		{"a kernel without it", false, func(b *bench, s uint64) Error { return b.run("spin", 1, s) }, NotReady},
		{"a graph without it", false, graph, NotReady},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := start(t, func(o *Options) { o.Timing, o.Blocking = true, c.blocking })
			s, err := b.StreamCreate(0, 0)
			b.want("stream", err, Success)
			b.want("work", c.give(b, s), Success)
			b.want("query", b.StreamQuery(s), c.want)
		})
	}
}
