package dram

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/plug"
)

// rowFirst is FRFCFS as a plug-in.
type rowFirst struct{}

func (rowFirst) Next(c *Channel) int {
	for k := range c.Banks {
		b := (c.Turn + k) % len(c.Banks)
		oldest := -1
		for i := range c.Waiting {
			w := &c.Waiting[i]
			if w.Bank != b || c.Banks[b].Busy {
				continue
			}
			if w.Row == c.Banks[b].Row {
				return i
			}
			if oldest < 0 {
				oldest = i
			}
		}
		if oldest >= 0 {
			return oldest
		}
	}
	return -1
}

// answer returns the test's choice, and records its input.
type answer struct {
	next int
	seen []Channel
}

func (a *answer) Next(c *Channel) int {
	copy := *c
	copy.Waiting = append([]Queued(nil), c.Waiting...)
	copy.Banks = append([]State(nil), c.Banks...)
	a.seen = append(a.seen, copy)
	return a.next
}

// The numbers of these tests' schedulers in settings.
const (
	openRowFirst Scheduler = plug.First + iota
	answering
)

var answers *answer // of the last channel made

func init() {
	Schedulers.Register("open row first", func(int) Policy { return rowFirst{} })
	Schedulers.Register("answering", func(int) Policy {
		answers = &answer{next: -1}
		return answers
	})
}

// A scheduler sees the requests in order and the state of the banks, and is not
// called while all requests wait for busy banks. Its choice goes to its bank.
func TestPolicySees(t *testing.T) {
	p, _ := Named("gddr6")
	p.Config.Scheduler = answering
	d, err := New(p.Config)
	if err != nil {
		t.Fatal(err)
	}
	a := answers
	d.Cycle(0)
	if len(a.seen) != 0 {
		t.Fatal("it was called without requests")
	}
	for i, bank := range []int32{3, 3, 5} {
		d.Push(&mem.Req{Size: 32, Bank: bank, Row: uint32(10 + i), Write: i == 1}, 100+uint64(i))
	}
	d.Cycle(103) // none
	a.next = 1
	d.Cycle(104)
	if len(a.seen) != 2 || len(a.seen[1].Waiting) != 3 || a.seen[1].Banks[3].Busy {
		t.Fatalf("seen: %+v", a.seen)
	}
	w := a.seen[1].Waiting[1]
	w.entry = 0
	if want := (Queued{Bank: 3, Row: 11, Write: true, Since: 101}); w != want {
		t.Errorf("the second request is %+v, want %+v", w, want)
	}
	a.next = -1
	d.Cycle(105)
	c := a.seen[2]
	if len(c.Waiting) != 2 || c.Waiting[0].Row != 10 || c.Waiting[1].Row != 12 || !c.Banks[3].Busy || c.Cycle != 3 {
		t.Errorf("after one has gone to bank 3: %+v", c)
	}
	if !c.Banks[3].Open || c.Banks[3].Row != 11 {
		t.Errorf("bank 3 is %+v, want row 11 open", c.Banks[3])
	}
	a.next = 1
	d.Cycle(106)
	asked := len(a.seen)
	d.Cycle(107)
	if len(a.seen) != asked {
		t.Error("it was called although the only request waits for a busy bank")
	}
}

// An index without a request, or of one whose bank is busy, panics: only a fault in
// the program can cause that. Settings cannot: unknown numbers are refused.
func TestPolicyAnswersWrong(t *testing.T) {
	p, _ := Named("gddr6")
	p.Config.Scheduler = answering
	for _, next := range []int{-2, 2, 0} {
		func() {
			d, err := New(p.Config)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "answering") {
					t.Errorf("request %d: %q, want a message with the name of the scheduler", next, s)
				}
			}()
			for _, bank := range []int32{1, 1, 2} {
				d.Push(&mem.Req{Size: 32, Bank: bank}, 0)
			}
			answers.next = 0
			d.Cycle(0)
			answers.next = next // the bank of 0 is busy now
			d.Cycle(1)
		}()
	}
	p.Config.Scheduler = plug.First + 100
	if err := p.Config.Check(); err == nil {
		t.Error("an unknown scheduler was accepted")
	}
	p.Config.Scheduler, p.Config.Writes = openRowFirst, WriteQueue{Enabled: true, Size: 8, High: 4, Low: 2}
	if err := p.Config.Check(); err == nil || !strings.Contains(err.Error(), "not open row first") {
		t.Errorf("a separate write queue: %v, want it refused by name", err)
	}
}
