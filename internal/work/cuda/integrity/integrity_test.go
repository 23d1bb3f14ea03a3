package integrity

import (
	"encoding/hex"
	"testing"
)

// The digests are those of RFC 1319, appendix A.5.
func TestMD2(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "8350e5a3e24c153df2275c9f80692773"},
		{"a", "32ec01ec4a6dac72c0ab96fb34c0b5d1"},
		{"abc", "da853b0d3f88d99b30283a69e6ded6bb"},
		{"message digest", "ab4f496bfb2a530b219ff33031fe06b0"},
		{"abcdefghijklmnopqrstuvwxyz", "4e8ddff3650292ab5a4108c3aa47940b"},
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "da33def2a42df13975352846c30338cd"},
		{"12345678901234567890123456789012345678901234567890123456789012345678901234567890", "d5976f79d83d3a0dc9806c3c66f3efd8"},
	} {
		m := new(md2)
		for _, b := range []byte(c.text) { // byte by byte, as blocks may not be the caller's
			_, _ = m.Write([]byte{b})
		}
		if got := hex.EncodeToString(m.Sum(nil)); got != c.want {
			t.Errorf("MD2(%q) = %s, want %s", c.text, got, c.want)
		}
		if got := hex.EncodeToString(m.Sum(nil)); got != c.want {
			t.Errorf("MD2(%q) = %s the second time: Sum has changed the state", c.text, got)
		}
	}
}

func TestAnswer(t *testing.T) {
	q := Question{Version: 11062, Seconds: 1, Driver: 13000, Process: 2, Thread: 3, Runtime: 4, Table: 5, Function: 6}
	devices := []Device{{UUID: [16]byte{1}, Domain: 0, Bus: 1, Slot: 0}}
	answer := func(edit func(q *Question)) string {
		other := q
		edit(&other)
		a := Answer(other, devices)
		return hex.EncodeToString(a[:])
	}
	for _, c := range []struct {
		name    string
		version uint32
		want    string
	}{
		{"first", 11060, "5c67cb031c184133e8d14c1faa83d38e"},
		{"second", 11061, "5c67cb031c184118e8d14c1faa83d38e"},
	} {
		if got := answer(func(q *Question) { q.Version = c.version }); got != c.want {
			t.Errorf("the %s answer is %s, want %s", c.name, got, c.want)
		}
	}
	seen := map[string]string{}
	for name, edit := range map[string]func(q *Question){
		"nothing":  func(*Question) {},
		"version":  func(q *Question) { q.Version = 12082 },
		"seconds":  func(q *Question) { q.Seconds++ },
		"driver":   func(q *Question) { q.Driver++ },
		"process":  func(q *Question) { q.Process++ },
		"thread":   func(q *Question) { q.Thread++ },
		"runtime":  func(q *Question) { q.Runtime++ },
		"table":    func(q *Question) { q.Table++ },
		"function": func(q *Question) { q.Function++ },
	} {
		got := answer(edit)
		if other, ok := seen[got]; ok {
			t.Errorf("the answers for another %s and another %s are the same: %s", name, other, got)
		}
		seen[got] = name
	}
	before := answer(func(*Question) {})
	devices[0].Bus = 2
	if answer(func(*Question) {}) == before {
		t.Error("the answer does not depend on the devices")
	}
}
