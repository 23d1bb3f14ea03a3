package libs_test

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/libs"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// TestMemory: what an object holds on a device is gone when that device was reset, and only
// then, whichever device is current.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		name   string
		resets []int // of devices, after the object was made on device 0
		lost   bool
	}{
		{"none", nil, false},
		{"its own", []int{0}, true},
		{"another device's", []int{1}, false},
		{"both", []int{1, 0}, true},
	} {
		g := libstest.New(t, "rtx-2060", func(o *cuda.Options) { o.Devices = 2 })
		g.Must(g.SetDevice(1))
		g.Must(g.Reset()) // the devices differ in the number of their resets
		g.Must(g.SetDevice(0))
		m := libs.NewMemory(g.Thread)
		at := libstest.Put(g, []byte{1})
		m.Hold(at)
		for _, d := range c.resets {
			g.Must(g.SetDevice(d))
			g.Must(g.Reset())
		}
		for d := range 2 {
			g.Must(g.SetDevice(d))
			if got := m.Lost(g.Thread); got != c.lost {
				t.Errorf("%s, with device %d current: lost %v, want %v", c.name, d, got, c.lost)
			}
		}
		if c.lost {
			continue
		}
		g.Must(m.FreeAll(g.Thread))
		if err := g.Free(at); err != cuda.InvalidValue {
			t.Errorf("%s: freed again: %v", c.name, err)
		}
	}
}
