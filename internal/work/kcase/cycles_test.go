package kcase_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/work/kcase"
)

// The cycles of the datasheet's three programs stand in the documentation: as
// the testbench counts them, and what each switch has to do with the
// differences between the levels.
func TestCyclesInDocs(t *testing.T) {
	docs, err := os.ReadFile("../../../docs/kepler.md")
	if err != nil {
		t.Fatal(err)
	}
	line := func(cells ...string) {
		if want := "| " + strings.Join(cells, " | ") + " |"; !strings.Contains(string(docs), "\n"+want+"\n") {
			t.Errorf("docs/kepler.md lacks %s", want)
		}
	}
	programs := []string{"test_app_matmul", "test_perspective_cube", "test_parallel_cube"}
	last := func(cfg kepler.Config) (cycles [3]int) {
		for i, name := range programs {
			c, progs := assembled(t, name)
			k, err := c.Core(cfg, progs)
			if err != nil {
				t.Fatal(err)
			}
			if !k.Run(c.Limit()) {
				t.Fatalf("%s does not end: %v %v", name, k.Fault(), k.Waiting())
			}
			for w := range kepler.Warps {
				cycles[i] = max(cycles[i], int(k.ExitCycle(w)))
			}
		}
		return cycles
	}
	// printed is what a testbench prints: frames from the poke in cycle 5 to the
	// exit, or ten cycles more than the last exit.
	printed := func(program, exit int) string {
		if program == 0 {
			return fmt.Sprint(exit + 10)
		}
		return thousands(48 * (exit - 5))
	}
	rtl, sheet := last(kepler.ConfigFor(kepler.RTL)), last(kepler.ConfigFor(kepler.Datasheet))
	for i, row := range [][]string{
		{"8×8 matrix product, two warps", "487"}, {"cube, one lane", "99,312"}, {"cube, eight lanes", "34,368"},
	} {
		c, _ := assembled(t, programs[i])
		recorded := 0
		for _, n := range c.RTL.ExitCycle {
			recorded = max(recorded, int(n))
		}
		line(row[0], row[1], printed(i, recorded), printed(i, rtl[i]), printed(i, sheet[i]))
	}

	cfg := kepler.ConfigFor(kepler.RTL)
	was := rtl
	row := func(name string, now [3]int) {
		cells := []string{name}
		for i := range now {
			d := now[i] - was[i]
			cell := strings.Replace(fmt.Sprintf("%+d", d), "-", "−", 1)
			if d == 0 {
				cell = "0"
			}
			cells = append(cells, cell)
		}
		line(cells...)
		was = now
	}
	total := func(level kepler.Level, c [3]int) {
		line(fmt.Sprintf("level `%v`", level), thousands(c[0]), thousands(c[1]), thousands(c[2]))
	}
	total(kepler.RTL, rtl)
	turnOn := func(name string) string {
		if err := cfg.Set(kepler.SwitchTable+name, "true"); err != nil {
			t.Fatal(err)
		}
		return "`" + name + "`"
	}
	row(turnOn("patient_exit"), last(cfg))
	turnOn("no_side_effects") // a register that is not waited for must not be written
	if now := last(cfg); now != was {
		t.Errorf("no_side_effects changes cycles: %v, before %v", now, was)
	}
	for _, name := range []string{"full_scoreboard", "own_transactions", "one_response", "greedy", "rendezvous"} {
		row(turnOn(name), last(cfg))
	}
	row("all others", sheet)
	total(kepler.Datasheet, sheet)
}

// assembled returns a recorded case and its programs.
func assembled(t testing.TB, name string) (*kcase.Case, kcase.Assembled) {
	t.Helper()
	text, err := os.ReadFile("testdata/programs/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	c, err := kcase.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	progs, err := c.Assemble(name, func(file string) (string, error) {
		b, err := os.ReadFile("testdata/programs/" + file)
		return string(b), err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, progs
}

// thousands writes a number with commas.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
