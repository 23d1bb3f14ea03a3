package kepler_test

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/sm/kepler"
)

func TestKeys(t *testing.T) {
	c := kepler.ConfigFor(kepler.Datasheet)
	if c.Chip.Wanted() || len(c.Chip.Settings()) != 0 {
		t.Error("several SMs or caches without being asked for")
	}
	for _, key := range kepler.Keys {
		if err := c.Set(key, "x"); err == nil {
			t.Errorf("%s=x is taken", key)
		}
	}
	for _, tc := range []struct{ key, value, want string }{
		{"kepler.sms", "0", `kepler.sms is a number from 1 to 24, not "0"`},
		{"kepler.l1.sets", "12", `kepler.l1.sets is a number from 1 to 1024 that is a power of two, not "12"`},
		{"kepler.l2.on", "yes", `kepler.l2.on is true or false, not "yes"`},
		{"kepler.l3.on", "true", `there is no key "kepler.l3.on"`},
		{"kepler.conform", "x", `there is no conformance level "x"; there are rtl and datasheet`},
	} {
		if err := c.Set(tc.key, tc.value); err == nil || err.Error() != tc.want {
			t.Errorf("%s=%s: %v, want %s", tc.key, tc.value, err, tc.want)
		}
	}
	rtl := kepler.ConfigFor(kepler.RTL)
	if err := rtl.Set("kepler.sms", "2"); err == nil || err.Error() != "several SMs and caches are for kepler.conform=datasheet" {
		t.Errorf("at level rtl: %v", err)
	}
	if err := c.Set("kepler.sms", "3"); err != nil || c.Chip.SMs != 3 || !c.Chip.Wanted() || c.Chip.Settings()["kepler.sms"] != 3 {
		t.Errorf("kepler.sms=3: %v, %+v", err, c.Chip)
	}
}
