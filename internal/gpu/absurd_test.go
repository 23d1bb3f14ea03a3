package gpu_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// TestAbsurdValues gives every key every absurd value. Either the value is refused,
// or the chip needs little memory and runs a kernel to its end, to its limit, or to
// an explained error.
func TestAbsurdValues(t *testing.T) {
	alltests.Only(t, "a value out of the ordinary for every key")
	mod, err := ptx.Parse("micro.ptx", []byte(microPTX))
	if err != nil {
		t.Fatal(err)
	}
	prog, err := xptx.Link(mod)
	if err != nil {
		t.Fatal(err)
	}
	values := []string{"0", "-1", "1", "3", "64", "1000000", "1000000000000000000", "9223372036854775807", "1e300", "nan", "-inf", "", "no such thing", "true", "[]"}
	if !alltests.On() {
		values = []string{"3"}
	}
	refused, ended := 0, map[string]int{}
	var c *config.GPU // reloaded once a value was accepted
	for _, key := range config.Keys() {
		for _, v := range values {
			if c == nil {
				c = smallChip(t)
			}
			what := key.Name + "=" + v
			was, _ := c.Value(key.Name)
			err := c.Set(what)
			if now, _ := c.Value(key.Name); err != nil && now != was {
				t.Errorf("%s: refused, but the value is now %s", what, now)
			}
			taken := c
			if err == nil {
				c = nil
				err = taken.Check()
			}
			if err != nil {
				if refused++; !strings.Contains(err.Error(), key.Name) {
					t.Errorf("%s: refused without naming the key: %v", what, err)
				}
				continue
			}
			end := try(t, what, prog, taken)
			if ended[end]++; end != "done" {
				t.Logf("%s: %s", what, end)
			}
		}
	}
	t.Logf("%d values refused; the others: %v", refused, ended)
	if refused == 0 || ended["done"] == 0 {
		t.Errorf("%d refused, %d ran", refused, ended["done"])
	}
}

// smallChip returns the settings of a chip that is quick to make and run.
func smallChip(t *testing.T) *config.GPU {
	t.Helper()
	c, err := config.Load("rtx-2060")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"chip.clusters=2", "run.launch_latency=0"} {
		if err := c.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// try runs a small kernel on a machine and returns how it ended.
func try(t *testing.T, what string, prog *xptx.Program, c *config.GPU) (end string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v", what, p)
			end = "panic"
		}
	}()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	cfg := c.ChipConfig()
	if m := cfg.Run.MaxCycles; m == 0 || m > 50_000 {
		cfg.Run.MaxCycles = 50_000
	}
	chip, err := gpu.New(cfg)
	if err != nil {
		t.Errorf("%s: passed the check, but refused: %v", what, err)
		return "refused"
	}
	dev := device.New(device.Config{})
	m, err := xptx.NewMachine(prog, dev)
	if err != nil {
		t.Fatal(err)
	}
	at, err := dev.Alloc(1<<16, "data")
	if err != nil {
		t.Fatal(err)
	}
	k, _ := prog.Kernel("stride")
	p := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, at), 36)
	l := xptx.Launch{Kernel: k, Grid: exec.Dim3{X: 5, Y: 1, Z: 1}, Block: exec.Dim3{X: 70, Y: 1, Z: 1}, Params: p}
	err = chip.Add(&gpu.Op{Kind: gpu.OpLaunch, Make: func(bool) (exec.Work, error) { return m.NewWork(l, nil) }})
	if err == nil {
		err = chip.Finish(t.Context())
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 600<<20 {
		t.Errorf("%s: takes %d MiB of memory", what, n>>20)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("%s: takes %v", what, d)
	}
	var (
		limit  *exec.LimitError
		stuck  *exec.StuckError
		launch *exec.LaunchError
	)
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &limit):
		return "limit"
	case errors.As(err, &stuck):
		if len(stuck.Waits) == 0 {
			t.Errorf("%s: stuck without an explanation", what)
		}
		return "stuck"
	case errors.As(err, &launch):
		return "launch refused"
	}
	t.Errorf("%s: %v", what, err)
	return "error"
}

// numbersIn calls f with every number of a struct that can be set.
func numbersIn(v reflect.Value, name string, f func(name string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				numbersIn(v.Field(i), name+"."+v.Type().Field(i).Name, f)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			numbersIn(v.Index(i), fmt.Sprintf("%s[%d]", name, i), f)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f(name, v)
	}
}

// TestAbsurdConfig gives every number of a chip's settings absurd values that no
// file could contain: New either refuses them with a message or makes a chip, and
// is quick in both cases.
func TestAbsurdConfig(t *testing.T) {
	alltests.Only(t, "chips at their limits")
	refused, made := 0, 0
	for _, name := range []string{"rtx-2060", "gtx-480"} {
		g, err := config.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"chip.clusters=2", "chip.channels=2", "l1d.adaptive=true", "l1d.unified=96", "l1d.shared_sizes=32,64"} {
			if err := g.Set(s); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range alltests.Some([]int64{0, -1, 1<<63 - 1, -1 << 63, 1, 3, 1_000_000, 1_000_000_000_000_000_000}, 4) {
			var fields int
			cfg := g.ChipConfig()
			numbersIn(reflect.ValueOf(&cfg).Elem(), "", func(string, reflect.Value) { fields++ })
			for i := range fields {
				cfg := g.ChipConfig()
				at, what := 0, ""
				numbersIn(reflect.ValueOf(&cfg).Elem(), "", func(name string, v reflect.Value) {
					if at == i {
						what = fmt.Sprintf("%s = %d", name, n)
						if v.CanInt() {
							v.SetInt(n)
						} else {
							v.SetUint(uint64(n))
						}
					}
					at++
				})
				func() {
					defer func() {
						if p := recover(); p != nil {
							t.Errorf("%s: %s: panic: %v", name, what, p)
						}
					}()
					start := time.Now()
					_, err := gpu.New(cfg)
					if err == nil {
						made++
					} else if refused++; strings.TrimSpace(err.Error()) == "" {
						t.Errorf("%s: %s: refused without a message", name, what)
					}
					if d := time.Since(start); d > 10*time.Second {
						t.Errorf("%s: %s: takes %v", name, what, d)
					}
				}()
			}
		}
	}
	t.Logf("%d refused, %d made", refused, made)
	if refused < 500 || made < 500 {
		t.Errorf("%d refused, %d made", refused, made)
	}
}
