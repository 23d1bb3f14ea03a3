package run

import (
	"testing"
)

func TestSelection(t *testing.T) {
	for _, c := range []struct{ text, picks string }{
		{"0", "0"}, {"1-3", "123"}, {"3-", "345"}, {"0,2,4-", "0245"}, {"/^b/", "135"}, {"/a,?/,5", "0245"}, {"/x/", ""},
	} {
		sel, err := ParseSelection(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got := ""
		for i := range 6 {
			if sel.Has(i, []string{"aaa", "bbb"}[i%2]) {
				got += string(rune('0' + i))
			}
		}
		if got != c.picks {
			t.Errorf("%s picks %s, want %s", c.text, got, c.picks)
		}
	}
	for _, bad := range []string{"", "x", "-1", "3-1", "1,,2", "/a", "/(/", "/a/b", "1 2", "1-x"} {
		if _, err := ParseSelection(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestSettings(t *testing.T) {
	var s Settings
	for _, ok := range []string{"run.caches=warm", "run.icache = cold", "run.copies_fill_l2=true", "run.launch_latency=0", "run.idle_skip=false", "functional.memory=3MiB", "functional.heap=4096"} {
		if err := s.Set(ok); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	if s.Memory != 3<<20 || s.Heap != 4096 || len(s.Conditions) != 7 {
		t.Errorf("%+v", s)
	}
	for _, bad := range []string{"run.caches", "run.caches=", "run.icache=hot", "run.launch_latency=-1", "run.idle_skip=1", "functional.heap=", "functional.heap=x", "functional.heap=0", "functional.memory=99999999TiB", "=", "x=y"} {
		if err := s.Set(bad); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
