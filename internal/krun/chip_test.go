package krun_test

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/krun"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/sm/kepler"
)

// onChip returns a run of a program on warps 0 and 1 of two SMs with caches.
func onChip(t *testing.T, text string) *krun.Run {
	t.Helper()
	cfg := kepler.ConfigFor(kepler.Datasheet)
	for _, s := range []string{"kepler.sms=2", "kepler.l1.on=true", "kepler.l2.on=true"} {
		key, value, _ := strings.Cut(s, "=")
		if err := cfg.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	p, err := kasm.Assemble("t.kasm", text, kasm.RTL)
	if err != nil {
		t.Fatal(err)
	}
	k := kepler.New(cfg)
	if err := k.Load(p.Words, 0, 1); err != nil {
		t.Fatal(err)
	}
	for w := range 2 {
		if err := k.Start(w, 0, ^uint32(0)); err != nil {
			t.Fatal(err)
		}
	}
	return &krun.Run{Name: "t.kasm", Core: k, Programs: []*kasm.Program{p}, Limit: 5000}
}

// A run on a chip ends in the core that it was made of, and its result says what
// machine it was and what the memory system did.
func TestChip(t *testing.T) {
	const text = "LDR R1, [R63]\nADD R2, R1, R63, 1\nLDR R3, [R2 + 3]\nATOM.ADD R4, [R63 + 8], R2\nEXIT"
	r := onChip(t, text)
	if err := r.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	res := r.Result("t")
	if res.SMs != 2 || res.Conditions["kepler.sms"] != 2 || res.Conditions["kepler.conform"] != "datasheet" || res.WarpInstructions != 10 {
		t.Errorf("%d SMs, %v, %d instructions", res.SMs, res.Conditions, res.WarpInstructions)
	}
	m := res.Kernels[0].Memory
	if m.L1.Accesses != 4 || m.L1.Hits != 2 || m.L1.Misses != 2 || m.L2.Accesses != 4 || m.Network.RequestPackets != 4 || m.Network.ReplyPackets != 4 || m.Replies != 6 {
		t.Errorf("%+v", m)
	}
	if r.Core.Memory(8) != 64 {
		t.Errorf("the counter is %d", r.Core.Memory(8))
	}
	var twice report.Memory
	r.AddMemory(&twice)
	r.AddMemory(&twice)
	if twice.L1.Accesses != 8 || twice.Replies != 12 || twice.MeanLatencyCycles != m.MeanLatencyCycles || twice.DRAM.BytesRead != 2*m.DRAM.BytesRead || m.DRAM.BytesRead != 128 {
		t.Errorf("twice: %+v", twice)
	}
}

// Runs on a chip that do not come to their end say why, with the line.
func TestChipEnds(t *testing.T) {
	for _, c := range []struct{ text, kind, want string }{
		{"NOP\nLDR R1, [R2 + 2]\nEXIT", "fault", "t.kasm:2: misaligned access to memory at 0x2: warp 0, lane 0, pc 1: LDR R1, [R2 + 2]"},
		{"loop: BRA loop", "limit", "t.kasm: stopped after 5000 cycles, the limit"},
		{"NOP", "stuck", "t.kasm: no forward progress after cycle"},
	} {
		r := onChip(t, c.text)
		err := r.Do(t.Context())
		e, ok := err.(*krun.Error)
		if !ok || e.Kind != c.kind || !strings.HasPrefix(e.Msg, c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	cfg := kepler.ConfigFor(kepler.Datasheet)
	if err := krun.Alone(&cfg, "--step"); err != nil {
		t.Error(err)
	}
}
