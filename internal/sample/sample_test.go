package sample

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// launches makes a run: the true cycles of each launch follow from its kernel.
type launches struct {
	list   []Launch
	cycles []uint64
}

func (l *launches) add(kernel string, insts uint64, cycles float64) {
	l.list = append(l.list, Launch{Kernel: kernel, WarpInsts: insts, ThreadInsts: 32 * insts})
	l.cycles = append(l.cycles, uint64(math.Round(cycles)))
}

// sum returns the true sum of all cycles.
func (l *launches) sum() (n float64) {
	for _, c := range l.cycles {
		n += float64(c)
	}
	return n
}

// through samples a run, and returns which launches were simulated.
func (l *launches) through(t *testing.T, s *Sampler) (timed []int) {
	t.Helper()
	for i, x := range l.list {
		if s.MayPass(x.Kernel) {
			if c, pass := s.Pass(x); pass {
				if c == 0 {
					t.Fatalf("launch %d: no cycles", i)
				}
				continue
			}
		}
		s.Timed(x, l.cycles[i])
		timed = append(timed, i)
	}
	return timed
}

// TestSampling: what is simulated of runs of one kind, and that the interval holds the truth.
func TestSampling(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(rnd *rand.Rand, l *launches)
		most  int // launches simulated
		least int
	}{
		{"the same launch a thousand times", func(_ *rand.Rand, l *launches) {
			for range 1000 {
				l.add("k", 1000, 5000)
			}
		}, 8, 4},
		{"the first launch finds nothing in the caches", func(_ *rand.Rand, l *launches) {
			l.add("k", 1000, 10_000)
			for i := range 999 {
				l.add("k", 1000, 5000+float64(i%2))
			}
		}, 8, 4},
		{"two kernels in turn", func(_ *rand.Rand, l *launches) {
			for range 500 {
				l.add("a", 1000, 5000)
				l.add("b", 50, 1000)
			}
		}, 16, 8},
		{"a kernel whose work alternates", func(_ *rand.Rand, l *launches) {
			for range 500 {
				l.add("k", 1000, 5000)
				l.add("k", 4000, 9000) // fewer cycles an instruction
			}
		}, 16, 8},
		{"cycles that differ by 2 %", func(rnd *rand.Rand, l *launches) {
			for range 1000 {
				l.add("k", 1000, 5000*(1+0.02*rnd.NormFloat64()))
			}
		}, 60, 5},
		{"cycles that differ by 20 %", func(rnd *rand.Rand, l *launches) {
			for range 2000 {
				l.add("k", 1000, 5000*(1+0.2*rnd.NormFloat64()))
			}
		}, 1000, 200},
		{"a group that is hardly of account may differ more", func(rnd *rand.Rand, l *launches) {
			for range 1000 {
				l.add("long", 100_000, 500_000)
				l.add("short", 100, 500*(1+0.2*rnd.NormFloat64()))
			}
		}, 60, 8},
		{"every launch is another", func(_ *rand.Rand, l *launches) {
			n := 1000.0
			for range 100 {
				l.add("k", uint64(n), 5*n)
				n *= 1.2
			}
		}, 100, 100},
		{"few launches", func(_ *rand.Rand, l *launches) {
			l.add("k", 1000, 5000)
			l.add("k", 1000, 5000)
		}, 2, 2},
		{"launches without instructions", func(_ *rand.Rand, l *launches) {
			for range 100 {
				l.add("k", 0, 400)
			}
		}, 100, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l launches
			c.make(rand.New(rand.NewPCG(1, 2)), &l)
			s := New(Options{Target: 0.02})
			timed := l.through(t, s)
			if len(timed) < c.least || len(timed) > c.most {
				t.Errorf("%d of %d launches simulated; want %d to %d", len(timed), len(l.list), c.least, c.most)
			}
			r := s.Result()
			if int(r.Launches) != len(l.list) || int(r.Timed) != len(timed) {
				t.Errorf("%d launches, %d simulated; want %d, %d", r.Launches, r.Timed, len(l.list), len(timed))
			}
			if got, want := float64(r.TimedCycles+r.EstimatedCycles), l.sum(); math.Abs(got-want) > r.Margin+float64(len(l.list)) {
				t.Errorf("%.0f cycles ± %.0f, in truth %.0f", got, r.Margin, want)
			}
			var again Sampler = *New(Options{Target: 0.02})
			if x := l.through(t, &again); !reflect.DeepEqual(x, timed) {
				t.Errorf("again others are simulated: %v, %v", x, timed)
			}
		})
	}
}

// TestIntervals: of 400 runs whose launches' cycles differ at random, at least 95 % have the truth
// in the interval, and the errors stay near the target.
func TestIntervals(t *testing.T) {
	for _, spread := range []float64{0.01, 0.05, 0.2} {
		inside, squares := 0, 0.0
		const runs = 400
		for seed := range uint64(runs) {
			var l launches
			rnd := rand.New(rand.NewPCG(seed, 7))
			for range 300 {
				l.add("a", 1000, 5000*math.Exp(spread*rnd.NormFloat64()))
				l.add("b", 300, 900*math.Exp(spread*rnd.NormFloat64()))
			}
			s := New(Options{Target: 0.02, Seed: seed})
			l.through(t, s)
			r := s.Result()
			off := float64(r.TimedCycles+r.EstimatedCycles) - l.sum()
			if math.Abs(off) <= r.Margin {
				inside++
			}
			squares += off * off / l.sum() / l.sum()
		}
		if inside < runs*95/100 {
			t.Errorf("spread of %.2f: the interval holds the truth in %d of %d runs", spread, inside, runs)
		}
		if e := math.Sqrt(squares / runs); e > 0.02 {
			t.Errorf("spread of %.2f: root mean square error %.4f, beyond the target", spread, e)
		}
	}
}

// TestDrift: launches that get slower are noticed by those that are simulated later.
func TestDrift(t *testing.T) {
	var l launches
	for i := range 1000 {
		l.add("k", 1000, 5000*(1+float64(i)/2000))
	}
	s := New(Options{Target: 0.02})
	l.through(t, s)
	r := s.Result()
	if off := math.Abs(float64(r.TimedCycles+r.EstimatedCycles)/l.sum() - 1); off > 0.1 || off*l.sum() > r.Margin {
		t.Errorf("off by %.1f %%, the interval is ± %.1f %%", 100*off, 100*r.Margin/l.sum())
	}
}

// TestStudent holds the quantiles against tables of Student's distribution.
func TestStudent(t *testing.T) {
	for n, want := range map[uint64]float64{1: 12.706, 2: 4.303, 10: 2.228, 11: 2.201, 15: 2.131, 30: 2.042, 120: 1.980, 1 << 40: 1.960} {
		if got := student(n); math.Abs(got-want) > 0.0015 {
			t.Errorf("%d degrees of freedom: %.4f, want %.3f", n, got, want)
		}
	}
}

// TestStep: where cycles double at once, between two launches that are simulated, the interval
// holds the truth wherever that is.
func TestStep(t *testing.T) {
	for at := 20; at < 200; at += 7 {
		var l launches
		for i := range 200 {
			if i < at {
				l.add("k", 1000, 5000)
			} else {
				l.add("k", 1000, 10000)
			}
		}
		s := New(Options{Target: 0.02})
		timed := l.through(t, s)
		if timed[len(timed)-1] < at {
			continue // nothing has seen it
		}
		r := s.Result()
		if off := math.Abs(float64(r.TimedCycles+r.EstimatedCycles) - l.sum()); off > r.Margin {
			t.Errorf("from launch %d on: off by %.0f, the interval is ± %.0f", at, off, r.Margin)
		}
	}
}

// TestAfter: what is simulated after launches that were passed over finds other caches than in a whole run, so that the
// interval has a part of it; what is simulated before them finds the same.
func TestAfter(t *testing.T) {
	one := Launch{Kernel: "k", WarpInsts: 1000, ThreadInsts: 32000}
	other := Launch{Kernel: "other", WarpInsts: 500, ThreadInsts: 16000}
	for _, c := range []struct {
		name          string
		before, after func(s *Sampler)
		more          float64 // of the interval
	}{
		{"nothing else", func(*Sampler) {}, func(*Sampler) {}, 0},
		{"alone, before", func(s *Sampler) { s.Timed(other, 40_000) }, func(*Sampler) {}, 0},
		{"beside others, before", func(s *Sampler) { s.Beside(other, 40_000) }, func(*Sampler) {}, 0},
		{"alone, after", func(*Sampler) {}, func(s *Sampler) { s.Timed(other, 40_000) }, 400},
		{"beside others, after", func(*Sampler) {}, func(s *Sampler) { s.Beside(other, 40_000) }, 400},
	} {
		s := New(Options{Target: 0.02})
		c.before(s)
		s.Timed(one, 5000)
		s.Timed(one, 5000)
		if _, ok := s.Pass(one); !ok {
			t.Fatal("the third launch is not passed over")
		}
		c.after(s)
		if got, want := s.Result().Margin, 150+c.more; math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: ± %.1f cycles, want %.1f", c.name, got, want)
		}
	}
}

// TestSlowFew: each eighth launch of a kernel is slower, and launches shrink, so that few of a size are simulated: of most
// sizes no slow one. The interval holds the truth wherever the slow ones are.
func TestSlowFew(t *testing.T) {
	for phase := range 8 {
		var l launches
		for i := range 176 {
			insts := 26_000 - 130*uint64(i)
			slower := 1.0
			if i%8 == phase {
				slower = 1.4
			}
			l.add("k", insts, 4*float64(insts)*slower)
		}
		s := New(Options{Target: 0.02})
		timed := l.through(t, s)
		r := s.Result()
		if off := float64(r.TimedCycles+r.EstimatedCycles) - l.sum(); math.Abs(off) > r.Margin {
			t.Errorf("slow from launch %d on, %d simulated: off by %.0f, the interval is ± %.0f", phase, len(timed), off, r.Margin)
		}
	}
}

// TestSlowly: launches take longer little by little, by less than what a look notices; the first one finds its code in no
// cache. The interval holds the truth wherever the looks are.
func TestSlowly(t *testing.T) {
	var l launches
	rnd := rand.New(rand.NewPCG(3, 4))
	l.add("k", 8500, 9850)
	for i := range 551 {
		l.add("k", 8544-uint64(i)/8, 9100+float64(i)/2+30*rnd.NormFloat64())
	}
	inside := 0
	for seed := range uint64(100) {
		s := New(Options{Target: 0.02, Seed: seed})
		l.through(t, s)
		r := s.Result()
		if off := float64(r.TimedCycles+r.EstimatedCycles) - l.sum(); math.Abs(off) <= r.Margin {
			inside++
		}
	}
	if inside < 95 {
		t.Errorf("the interval holds the truth for %d of 100 seeds", inside)
	}
}
