package config

import (
	"strings"
	"testing"
)

// TestRefusalsNameTheirKeys gives every key absurd values, alone. What is
// refused is refused with the key and a reason.
func TestRefusalsNameTheirKeys(t *testing.T) {
	numbers := []string{"0", "-1", "1", "3", "64", "1000000", "1000000000000000000", "9223372036854775808", "1e6", "nan", "inf", "-0.5", "", "x"}
	refused, passed := 0, 0
	for _, name := range []string{"rtx-2060", "gtx-480", "v100"} {
		base, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range keys() {
			k := &keys()[i]
			values := append([]string{"true", "false"}, numbers...)
			for _, v := range append(values, k.Enum...) {
				g := base.clone()
				err := g.Set(k.Name + "=" + v)
				if err == nil {
					err = g.Check()
				}
				if err == nil {
					passed++
					continue
				}
				refused++
				msg := err.Error()
				if !strings.Contains(msg, k.Name) || len(msg) < len(k.Name+v)+12 {
					t.Errorf("%s: %s=%s is refused with: %s", name, k.Name, v, msg)
				}
			}
		}
	}
	if refused < 1000 || passed < 1000 {
		t.Errorf("%d values are refused, %d are not", refused, passed)
	}
}
