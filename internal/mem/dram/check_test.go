package dram

import (
	"fmt"
	"strings"
	"testing"
)

// rule is a minimum distance between two commands, as in a data sheet.
type rule struct {
	name        string
	first, then Kind
	scope       scope
	cycles      int
}

type scope int

const (
	anyBank scope = iota
	otherBank
	sameBank
	sameGroup
)

// rulesOf lists the data sheet of a configuration as distances between commands,
// independently of the device's implementation.
func rulesOf(c Config) []rule {
	burst := c.BurstLength / c.DataRatio
	rules := []rule{
		{"RRD", Activate, Activate, otherBank, c.RRD},
		{"RC", Activate, Activate, sameBank, c.RC},
		{"RAS", Activate, Precharge, sameBank, c.RAS},
		{"RP", Precharge, Activate, sameBank, c.RP},
		{"RCD", Activate, Read, sameBank, c.RCD},
		{"RCDWR", Activate, Write, sameBank, c.RCD - c.WL - 1},
		{"CCD", Read, Read, anyBank, c.CCD}, {"CCD", Read, Write, anyBank, c.CCD},
		{"CCD", Write, Read, anyBank, c.CCD}, {"CCD", Write, Write, anyBank, c.CCD},
		{"CCDL", Read, Read, sameGroup, c.CCDL}, {"CCDL", Read, Write, sameGroup, c.CCDL},
		{"CCDL", Write, Read, sameGroup, c.CCDL}, {"CCDL", Write, Write, sameGroup, c.CCDL},
		{"burst before precharge", Read, Precharge, sameBank, burst},
		{"RTPL", Read, Precharge, sameGroup, c.RTPL},
		{"WR", Write, Precharge, sameBank, c.WL + burst + c.WR},
		{"RP before refresh", Precharge, Refresh, anyBank, c.RP},
		{"RC before refresh", Activate, Refresh, anyBank, c.RC},
		{"RFC", Refresh, Activate, anyBank, c.RFC}, {"RFC", Refresh, Refresh, anyBank, c.RFC},
	}
	if !c.NoTurnaround {
		rules = append(rules,
			rule{"RTW", Read, Write, anyBank, c.CL + burst + 2 - c.WL},
			rule{"WTR", Write, Read, anyBank, c.WL + burst + c.CDLR})
	}
	return rules
}

// checkLog checks a command log and returns the violated rules.
func checkLog(c Config, log []Command) []string {
	var bad []string
	say := func(i int, format string, a ...any) {
		if len(bad) < 5 {
			bad = append(bad, fmt.Sprintf("command %d (%+v): %s", i, log[i], fmt.Sprintf(format, a...)))
		}
	}
	group := func(b int) int {
		if c.GroupBy == GroupByLowBits {
			return b % c.Groups
		}
		return b * c.Groups / c.Banks
	}
	rules := rulesOf(c)
	longest := 0
	for _, r := range rules {
		longest = max(longest, r.cycles)
	}
	open := map[int]uint32{}
	for i, x := range log {
		if i > 0 && x.Cycle < log[i-1].Cycle {
			say(i, "goes back in time")
		}
		column, row := 0, 0
		for j := i; j >= 0 && log[j].Cycle+uint64(longest) >= x.Cycle; j-- {
			y := log[j]
			if y.Cycle == x.Cycle {
				if y.Kind == Read || y.Kind == Write {
					column++
				} else {
					row++
				}
			}
			if j == i {
				continue
			}
			for _, r := range rules {
				if r.first != y.Kind || r.then != x.Kind || int(x.Cycle-y.Cycle) >= r.cycles {
					continue
				}
				in := true
				switch r.scope {
				case otherBank:
					in = x.Bank != y.Bank
				case sameBank:
					in = x.Bank == y.Bank
				case sameGroup:
					in = group(x.Bank) == group(y.Bank)
				}
				if in {
					say(i, "%s: %d cycles after command %d (%+v), %d needed", r.name, x.Cycle-y.Cycle, j, y, r.cycles)
				}
			}
		}
		if column > 1 || row > 1 || !c.DualCommand && !c.Compat.ColumnBehindRow && column+row > 1 {
			say(i, "%d column and %d row commands in one cycle", column, row)
		}
		is, isOpen := open[x.Bank]
		switch x.Kind {
		case Activate:
			if isOpen {
				say(i, "opens a bank whose row %d is open", is)
			}
			open[x.Bank] = x.Row
		case Precharge:
			if !isOpen {
				say(i, "closes a closed bank")
			}
			delete(open, x.Bank)
		case Read, Write:
			if !isOpen || is != x.Row {
				say(i, "meets row %d (open: %v)", is, isOpen)
			}
		case Refresh:
			if len(open) > 0 {
				say(i, "refreshes with %d banks open", len(open))
			}
		}
	}
	if c.REFI > 0 && len(log) > 0 {
		// A refresh may be late by the time that closing the banks takes, no more.
		last, slack := uint64(0), uint64(c.REFI+c.RAS+c.RP+c.RC+c.RFC+c.WL+c.WR+c.BurstCycles()+c.Banks)
		for i, x := range log {
			if x.Cycle > last+slack {
				say(i, "no refresh since cycle %d", last)
				break
			}
			if x.Kind == Refresh {
				last = x.Cycle
			}
		}
	}
	return bad
}

// TestChecker breaks each rule by one cycle and keeps it by none.
func TestChecker(t *testing.T) {
	p, _ := Named("gddr6")
	c := p.Refreshing()
	// A lawful log with everything in it: banks 0 and 4 share a group.
	lawful := []Command{
		{0, Activate, 0, 7},
		{12, Activate, 4, 8},  // RRD 12
		{24, Read, 0, 7},      // RCD 24
		{36, Read, 4, 8},      // RCD 24
		{42, Read, 0, 7},      // CCDL 6
		{64, Write, 0, 7},     // RTW 24+4+2-8 = 22
		{86, Read, 4, 8},      // WTR 8+4+10 = 22
		{90, Precharge, 4, 8}, // RTPL 4
		{108, Write, 0, 7},    // RTW 22
		{144, Precharge, 0, 7},
		{168, Activate, 0, 9}, // RP 24
		{183, Write, 0, 9},    // RCDWR 24-8-1 = 15
		{223, Precharge, 0, 9},
		{247, Refresh, 0, 0},
	}
	next := 247 + uint64(c.RFC)
	lawful = append(lawful, Command{next, Activate, 4, 8})
	if bad := checkLog(c, lawful); len(bad) > 0 {
		t.Fatalf("lawful log refused:\n%s", strings.Join(bad, "\n"))
	}
	for _, v := range []struct {
		name string
		at   int
		to   Command
		want string
	}{
		{"RRD", 1, Command{11, Activate, 4, 8}, "RRD"},
		{"RCD", 2, Command{23, Read, 0, 7}, "RCD"},
		{"CCDL", 4, Command{41, Read, 0, 7}, "CCDL"},
		{"RTW", 5, Command{63, Write, 0, 7}, "RTW"},
		{"WTR", 6, Command{85, Read, 4, 8}, "WTR"},
		{"RTPL", 7, Command{89, Precharge, 4, 8}, "RTPL"},
		{"WR", 9, Command{143, Precharge, 0, 7}, "WR"},
		{"RP", 10, Command{167, Activate, 0, 9}, "RP"},
		{"RCDWR", 11, Command{182, Write, 0, 9}, "RCDWR"},
		{"refresh too soon", 13, Command{246, Refresh, 0, 0}, "RP before refresh"},
		{"RFC", 14, Command{next - 1, Activate, 4, 8}, "RFC"},
		{"other row", 2, Command{24, Read, 0, 6}, "meets row"},
		{"closed bank", 2, Command{24, Read, 1, 7}, "meets row"},
		{"open twice", 10, Command{168, Activate, 0, 9}, ""},
		{"two at once", 1, Command{0, Activate, 4, 8}, "in one cycle"},
		{"no refresh", 14, Command{next + uint64(2*c.REFI), Activate, 4, 8}, "no refresh"},
	} {
		log := append([]Command(nil), lawful...)
		log[v.at] = v.to
		got := strings.Join(checkLog(c, log), "\n")
		if !strings.Contains(got, v.want) || (got == "") != (v.want == "") {
			t.Errorf("%s: checker says %q, want %q", v.name, got, v.want)
		}
	}
}
