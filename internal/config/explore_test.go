package config_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var explored = map[string]load{}

func init() {
	for n := range bodies {
		switch {
		case strings.HasPrefix(n, "chain_"):
			explored[n] = load{kernel: n, blocks: 1, threads: 32}
		case strings.HasPrefix(n, "flood_"):
			explored[n] = load{kernel: n, blocks: 4, threads: 256}
		case n == "hang" || n == "stuck":
			explored[n] = load{kernel: n, blocks: 1, threads: 128}
		default:
			explored[n] = load{kernel: n, blocks: 8, threads: 128}
			explored[n+".one"] = load{kernel: n, blocks: 1, threads: 32}
			explored[n+".many"] = load{kernel: n, blocks: 40, threads: 64}
			explored[n+".twice"] = load{kernel: n, blocks: 6, threads: 96, launches: 2, copies: true, back: true}
			explored[n+".streams"] = load{kernel: n, blocks: 3, threads: 64, launches: 2, streams: 3}
			explored[n+".big"] = load{kernel: n, blocks: 8, threads: 128, registers: 63, shared: 9000}
		}
	}
}

func TestExplore(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("EXPLORE"))
	if err != nil {
		t.Skip()
	}
	names := []string{}
	for n := range explored {
		names = append(names, n)
	}
	slices.Sort(names)
	cache := map[string]outcome{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		with, set, ok := strings.Cut(line, "=>")
		if !ok {
			with, set = "", line
		}
		with, set = strings.ReplaceAll(with, ";", "\n"), strings.ReplaceAll(set, ";", "\n")
		if strings.TrimSpace(set) == "" {
			continue
		}
		var felt []string
		n := 0
		t.Run(set, func(t *testing.T) {
			a, b := base(t, with), base(t, with+"\n"+set)
			for _, n := range names {
				key := with + "|" + n
				before, ok := cache[key]
				if !ok {
					start := time.Now()
					before = perform(t, a, explored[n])
					if d := time.Since(start); d > 200*time.Millisecond {
						fmt.Println("SLOW", n, d, before.end, before.cycles)
					}
					cache[key] = before
				}
				var after outcome
				func() {
					defer func() {
						if p := recover(); p != nil {
							after.end = fmt.Sprint("PANIC ", p)
						}
					}()
					after = perform(t, b, explored[n])
				}()
				if d := int64(after.cycles) - int64(before.cycles); d != 0 || before.end != after.end {
					felt = append(felt, fmt.Sprintf("%s:%+d%s", n, d, strings.TrimSpace(" "+after.end)))
				} else if !equal(before, after) {
					felt = append(felt, n+":~")
				}
			}
		})
		n = len(felt)
		if n > 9 {
			slices.SortFunc(felt, func(a, b string) int { return len(b) - len(a) })
			felt = felt[:9]
		}
		fmt.Printf("%-60s %d %s\n", strings.ReplaceAll(line, "\n", ";"), n, strings.Join(felt, " "))
	}
}

func equal(a, b outcome) bool {
	if a.end != b.end || len(a.numbers) != len(b.numbers) {
		return false
	}
	for k, v := range a.numbers {
		if b.numbers[k] != v {
			return false
		}
	}
	return true
}
