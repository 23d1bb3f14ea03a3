package part

import (
	"errors"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/plug"
)

// constant puts everything into one place.
type constant struct{ Place }

func (c constant) Find(uint64) Place      { return c.Place }
func (constant) Local(addr uint64) uint64 { return addr }

// made is the space of these tests' mapping.
var made struct {
	space Space
	place Place
	err   error
}

func init() {
	Mappings.Register("test", func(s Space) (Mapping, error) {
		made.space = s
		return constant{made.place}, made.err
	})
}

// A mapping gets its space and needs no letters. The slice determines the channel,
// and no hash changes the bank. A place that the chip does not have panics: only a
// fault in the program can cause that.
func TestPluggedMapping(t *testing.T) {
	c := Config{Channels: 3, Subs: 2, Indexing: plug.First, BankHash: BankXor}
	c.DRAM.Banks = 4
	for _, v := range []struct {
		name  string
		place Place
		err   error
		ok    bool
	}{
		{"the last place", Place{Sub: 5, Bank: 3, Row: 7, Col: 9}, nil, true},
		{"a slice too many", Place{Sub: 6}, nil, false},
		{"a negative slice", Place{Sub: -1}, nil, false},
		{"a bank too many", Place{Bank: 4}, nil, false},
		{"a negative bank", Place{Bank: -1}, nil, false},
		{"a refusal", Place{}, errors.New("I want four channels"), false},
	} {
		t.Run(v.name, func(t *testing.T) {
			made.place, made.err = v.place, v.err
			m, err := NewAddrMap(&c)
			if v.err != nil {
				if err == nil || !strings.Contains(err.Error(), "indexing: I want four channels") {
					t.Errorf("%v, want the refusal and the setting", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := (Space{3, 2, 4}); made.space != want {
				t.Errorf("made for %+v, want %+v", made.space, want)
			}
			defer func() {
				if bad := recover() != nil; bad == v.ok {
					t.Errorf("panicked: %v", bad)
				}
			}()
			p := m.Find(0x1234)
			if want := (Place{Chan: 2, Sub: 5, Bank: 3, Row: 7, Col: 9}); p != want {
				t.Errorf("%+v, want %+v", p, want)
			}
			if b := m.device(p); b != 3 {
				t.Errorf("bank %d of the device, want 3", b)
			}
			if l := m.Local(0x1234); l != 0x1234 {
				t.Errorf("local %#x", l)
			}
		})
	}
	c.Indexing = plug.First + 100
	if _, err := NewAddrMap(&c); err == nil {
		t.Error("an unknown mapping was accepted")
	}
}
