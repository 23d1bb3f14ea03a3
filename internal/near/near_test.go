package near

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	names := []string{"l2.ways", "l2.sets", "run.caches", "mov", "setp", "launches", "buffers"}
	for word, want := range map[string]string{
		"l2.way": "l2.ways", "l2.wasy": "l2.ways", "L2.WAYS": "l2.ways", "12.ways": "l2.ways", "run.cache": "run.caches",
		"mvo": "mov", "setpp": "setp", "bufers": "buffers", "launch": "launches",
		"": "", "x": "", "xyz": "", "abcdefg": "", "completely_else": "", strings.Repeat("l", 200): "",
	} {
		if got := Name(word, names); got != want {
			t.Errorf("the name nearest to %.20q is %q, want %q", word, got, want)
		}
	}
	if got := Name("bd", []string{"ba", "bc"}); got != "ba" {
		t.Errorf("of two as near %q is taken, want the first", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"ca", "abc", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
