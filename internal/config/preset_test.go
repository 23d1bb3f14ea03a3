package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/mem/dram"
)

// Each kind of memory gives a valid GPU with the bandwidth of all pins at the
// vendor's rate.
func TestPresets(t *testing.T) {
	for _, tt := range []struct {
		preset   string
		channels int
		pins     int // of the whole chip
		gbps     string
		want     string // GB/s: pins times rate over 8
	}{
		{"gddr5", 6, 384, "3.696", "177.4"},    // GeForce GTX 480
		{"gddr5x", 12, 384, "10", "480.0"},     // Titan X (Pascal)
		{"gddr6", 12, 192, "14.002", "336.0"},  // GeForce RTX 2060
		{"hbm2", 32, 4096, "1.7", "870.4"},     // V100, at 850 MHz
		{"hbm3", 160, 5120, "5.238", "3352.3"}, // H100 SXM5: five stacks
	} {
		text := fmt.Sprintf("extends = \"v100\"\nname = \"x\"\n[chip]\nchannels = %d\nslices_per_channel = 2\n[dram]\nqueue = 48\npreset = %q\n", tt.channels, tt.preset)
		g, err := ReadTOML("x.toml", text)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Check(); err != nil {
			t.Errorf("%s: %v", tt.preset, err)
		}
		d := g.DRAMConfig()
		if pins := 8 * d.BusBytes * d.Chips * g.Chip.Channels; pins != tt.pins {
			t.Errorf("%s: %d pins, want %d", tt.preset, pins, tt.pins)
		}
		if rate := fmt.Sprint(float64(g.Clocks.DRAM) * float64(d.DataRatio) / 1e9); rate != tt.gbps {
			t.Errorf("%s: %s Gb/s of a pin, want %s", tt.preset, rate, tt.gbps)
		}
		if got := g.DRAMBandwidth(); got != tt.want {
			t.Errorf("%s: %s GB/s, want %s", tt.preset, got, tt.want)
		}
		// Values in the file override those of the preset, wherever they are; the
		// others have the preset as their source.
		if g.DRAM.Queue != 48 || g.Source("dram.queue") != "x.toml:7" || !strings.HasPrefix(g.Source("dram.timing.rcd"), "dram.preset "+tt.preset) {
			t.Errorf("%s: queue %d (%s), RCD from %s", tt.preset, g.DRAM.Queue, g.Source("dram.queue"), g.Source("dram.timing.rcd"))
		}
		checkSurvives(t, g)
		p, _ := dram.Named(tt.preset)
		want := p.Config
		want.QueueSize, want.Writes, want.Compat = 48, d.Writes, d.Compat
		if d != want {
			t.Errorf("%s: settings\n%+v, want\n%+v", tt.preset, d, want)
		}
	}
	if len(dram.Presets) != len(keyAt(presetKey).Enum)-1 {
		t.Errorf("%d presets, %s has %v", len(dram.Presets), presetKey, keyAt(presetKey).Enum)
	}
	g, err := Load("rtx-2060")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"dram.preset=hbm2", "dram.timing.rcd=13"} {
		if err := g.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	if g.DRAM.Timing.RCD != 13 || g.DRAM.BusBytes != 16 || g.Clocks.DRAM != 850e6 {
		t.Errorf("RCD %d, %d bytes, %d Hz", g.DRAM.Timing.RCD, g.DRAM.BusBytes, g.Clocks.DRAM)
	}
}
