package kepler_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/param"
)

func TestKeys(t *testing.T) {
	c := kepler.ConfigFor(kepler.Datasheet)
	if c.Chip.Wanted() || len(c.Conditions()) != 1 {
		t.Error("several SMs or caches by default")
	}
	seen := map[string]bool{}
	for _, k := range kepler.Keys() {
		if seen[k.Name] || k.Help == "" || k.Source == "" || !strings.HasPrefix(k.Name, "kepler.") {
			t.Errorf("%+v", k)
		}
		seen[k.Name] = true
		if err := c.Set(k.Name, "x"); err == nil {
			t.Errorf("%s=x is accepted", k.Name)
		}
		// The default and both bounds are accepted, values beyond them are not.
		values := []string{fmt.Sprint(k.Value(&c))}
		if k.Kind == param.Int {
			for _, n := range []int64{k.Min, k.Max} {
				values = append(values, fmt.Sprint(n))
			}
			for _, n := range []int64{k.Min - 1, k.Max + 1} {
				if err := c.Set(k.Name, fmt.Sprint(n)); err == nil {
					t.Errorf("%s=%d is accepted", k.Name, n)
				}
			}
		} else {
			values = append(values, k.Enum...)
			if k.Kind == param.Bool {
				values = append(values, "true", "false")
			}
		}
		for _, v := range values {
			changed := c
			if err := changed.Set(k.Name, v); err != nil || fmt.Sprint(k.Value(&changed)) != v {
				t.Errorf("%s=%s: %v, %v", k.Name, v, err, k.Value(&changed))
			}
		}
	}
	for _, tc := range []struct{ key, value, want string }{
		{"kepler.sms", "0", `kepler.sms = 0 is out of bounds: want 1 to 24`},
		{"kepler.l1.sets", "12", `kepler.l1.sets = 12 is out of bounds: want a power of two from 1 to 1024`},
		{"kepler.l2.on", "yes", `kepler.l2.on = "yes" is invalid; want true or false`},
		{"kepler.l3.on", "true", `there is no key "kepler.l3.on"`},
		{"kepler.conform", "x", `kepler.conform = "x" is invalid; want "rtl", "datasheet"`},
		{"kepler.switch.greedy", "1", `kepler.switch.greedy = "1" is invalid; want true or false`},
	} {
		if err := c.Set(tc.key, tc.value); err == nil || err.Error() != tc.want {
			t.Errorf("%s=%s: %v, want %s", tc.key, tc.value, err, tc.want)
		}
	}
}

// settings changes settings, all of which must be accepted.
func settings(t *testing.T, c *kepler.Config, assignments ...string) {
	t.Helper()
	for _, a := range assignments {
		key, value, _ := strings.Cut(a, "=")
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
}

// Every switch has its own key, which changes nothing else; a level sets all switches
// and nothing else.
func TestSwitchKeys(t *testing.T) {
	for i, name := range switchNames() {
		var words []string // OwnTransactions becomes own_transactions
		for _, r := range name {
			if up := r >= 'A' && r <= 'Z'; up && (len(words) == 0 || strings.ToUpper(words[len(words)-1]) != words[len(words)-1]) {
				words = append(words, "")
			}
			words[len(words)-1] += string(r)
		}
		key := "kepler.switch." + strings.ToLower(strings.Join(words, "_"))
		for level, value := range map[kepler.Level]bool{kepler.RTL: true, kepler.Datasheet: false} {
			c := kepler.ConfigFor(level)
			settings(t, &c, fmt.Sprintf("%s=%v", key, value))
			want := kepler.ConfigFor(level)
			reflect.ValueOf(&want.Switches).Elem().Field(i).SetBool(value)
			if c != want {
				t.Errorf("%s=%v: %+v, want %+v", key, value, c, want)
			}
			if m := c.Conditions(); len(m) != 2 || m["kepler.conform"] != level.String() || m[key] != value {
				t.Errorf("%s=%v: conditions %v", key, value, m)
			}
		}
	}
	c := kepler.ConfigFor(kepler.Datasheet)
	settings(t, &c, "kepler.sms=3", "kepler.memory.delay=9", "kepler.switch.greedy=false", "kepler.conform=rtl")
	want := kepler.ConfigFor(kepler.RTL)
	want.Chip.SMs, want.Delay = 3, 9
	if c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	n := 0
	for _, k := range kepler.Keys() {
		if strings.HasPrefix(k.Name, kepler.SwitchTable) {
			n++
		}
	}
	if n != len(switchNames()) {
		t.Errorf("%d keys for %d switches", n, len(switchNames()))
	}
}

// Contradictory settings are refused with the reason.
func TestCheck(t *testing.T) {
	for _, tc := range []struct{ set, want string }{
		{"", ""},
		{"kepler.conform=rtl", ""},
		{"kepler.sms=2", ""},
		{"kepler.memory.delay=10000", ""},
		{"kepler.conform=rtl kepler.switch.own_transactions=true kepler.l2.on=true", ""},
		{"kepler.switch.extras=false kepler.switch.one_response=false", ""},
		{"kepler.conform=rtl kepler.sms=2", "several SMs and caches need kepler.switch.own_transactions"},
		{"kepler.conform=rtl kepler.l1.on=true", "several SMs and caches need kepler.switch.own_transactions"},
		{"kepler.l2.on=true kepler.memory.delay=5", "kepler.memory.delay has no effect with several SMs or caches"},
		{"kepler.switch.one_response=false", "kepler.switch.extras needs"},
		{"kepler.switch.own_transactions=false", "kepler.switch.extras needs"},
		{"kepler.conform=rtl kepler.switch.extras=true", "kepler.switch.extras needs"},
	} {
		c := kepler.ConfigFor(kepler.Datasheet)
		settings(t, &c, strings.Fields(tc.set)...)
		switch err := c.Check(); {
		case tc.want == "" && err != nil, tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)):
			t.Errorf("%s: %v, want %q", tc.set, err, tc.want)
		}
	}
}

// Needs names the setting to turn on, and nothing once it is on.
func TestNeeds(t *testing.T) {
	plain := kepler.ConfigFor(kepler.Datasheet)
	for _, tc := range []struct{ key, want string }{
		{"kepler.sms", ""}, {"kepler.switch.ieee", ""}, {"kepler.memory.delay", ""}, {"kepler.l1.on", ""},
		{"kepler.l1.ways", "kepler.l1.on=true"}, {"kepler.l1.latency", "kepler.l1.on=true"}, {"kepler.l2.misses", "kepler.l2.on=true"},
		{"kepler.l2.latency", "kepler.sms=2 or kepler.l2.on=true"}, {"kepler.l2.slices", "kepler.sms=2 or kepler.l2.on=true"},
		{"kepler.dram.latency", "kepler.sms=2 or kepler.l2.on=true"},
	} {
		got := plain.Needs(tc.key)
		if got != tc.want {
			t.Errorf("%s needs %q, want %q", tc.key, got, tc.want)
		}
		for _, more := range strings.Split(got, " or ") {
			if c := plain; more != "" {
				if settings(t, &c, more); c.Needs(tc.key) != "" {
					t.Errorf("with %s %s still needs %q", more, tc.key, c.Needs(tc.key))
				}
			}
		}
	}
}

// A load's dependent is fetched 11 cycles plus the memory's delay after it. A configured
// delay applies to every request.
func TestDelay(t *testing.T) {
	for level := range kepler.Datasheet + 1 {
		for _, d := range []int{1, 6, 400, 3000} {
			for skew := range 3 {
				k := start(t, level, strings.Repeat("NOP rd=9\n", skew)+"LDR R1, [R2]\nADD R4, R1, R5\nEXIT", 5)
				settings(t, k.Config(), fmt.Sprint("kepler.memory.delay=", d))
				if !k.Run(5000) {
					t.Fatalf("level %v, delay %d: not done: %v", level, d, k.Waiting())
				}
				if got := fetchOf(t, k, 5, skew+1) - fetchOf(t, k, 5, skew); got != uint64(11+d) {
					t.Errorf("level %v, delay %d: %d cycles later", level, d, got)
				}
			}
		}
	}
}
