package param

import (
	"fmt"
	"testing"
)

// Options that set one parameter are in its declaration.
func TestOptions(t *testing.T) {
	type order uint8
	var root struct {
		Width   int    `want:"1..64" from:"-width=4 -old_width"`
		Queue   int    `want:"1..64" from:"-queue +1"`
		Cold    bool   `from:"!-warm=1 not"`
		Order   order  `enum:"fifo|lifo|random" from:"-order=0"`
		Map     order  `enum:"slots|rows" from:"-map rows||slots"`
		Letters string `from:"-letters"`
		Own     int    `want:"1..64"`
	}
	options := map[string]Option{}
	for _, p := range Of(&root, "m.", false) {
		for _, o := range p.Options() {
			options[o.Name] = o
		}
	}
	for _, tc := range []struct{ option, value, want string }{
		{"-width", "8", "m.width = 8"}, {"-old_width", " 9", "m.width = 9"}, {"-width", "x", `"x": want a whole number`},
		{"-queue", "4", "m.queue = 5"},
		{"-warm", "1", "m.cold = false"}, {"-warm", "0", "m.cold = true"}, {"-warm", "2", `want 0 or 1, not "2"`},
		{"-order", "2", "m.order = random"}, {"-order", "3", "3 has no meaning here"}, {"-order", "-1", "-1 has no meaning here"},
		{"-map", "2", "m.map = slots"}, {"-map", "1", "1 has no meaning here"},
		{"-letters", "RRCC", "m.letters = RRCC"},
	} {
		t.Run(tc.option+" "+tc.value, func(t *testing.T) {
			got := ""
			err := options[tc.option].Set(tc.value, func(key string, v any) error {
				got = fmt.Sprint(key, " = ", v)
				return nil
			})
			if err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("sets %s, want %s", got, tc.want)
			}
		})
	}
	if o := options["-warm"]; !o.Required || o.Default != "1" || options["-width"].Default != "4" || options["-old_width"].Default != "" || len(options) != 7 {
		t.Errorf("options %v", options)
	}
}
