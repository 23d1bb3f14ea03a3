package gpu

import (
	"math"

	"github.com/heddle-sim/heddle/internal/param"
)

// domain is a clock domain.
type domain uint8

const (
	coreDomain domain = iota
	netDomain
	l2Domain
	dramDomain
	domains
)

// clock decides which domains fire in a tick. Times are in a unit in which every
// period is a whole number.
type clock struct {
	at     [domains]uint64 // when each fires next
	period [domains]uint64

	rounded *roundedClock // keeps the time instead, if not nil
}

// newClock finds the common unit of four frequencies.
func newClock(c Clocks) (clock, error) {
	f := [domains]int64{c.Core, c.Net, c.L2, c.DRAM}
	g := int64(0)
	for i, v := range f {
		if v < 1 || v > maxClock {
			return clock{}, param.Clash("clocks."+[domains]string{"core", "noc", "l2", "dram"}[i], "clock of the %s is %d Hz: want 1 to %g", [domains]string{"core", "network", "L2", "DRAM"}[i], v, float64(maxClock))
		}
		g = gcd(g, v)
	}
	// The unit is 1/lcm of the frequencies, so that a period is lcm/f.
	lcm := uint64(1)
	for _, v := range f {
		u := uint64(v / g)
		step := u / uint64(gcd(int64(lcm), int64(u)))
		if lcm > maxUnit/step {
			return clock{}, param.Clash("clocks.core clocks.noc clocks.l2 clocks.dram", "clocks %d, %d, %d, %d Hz have no common unit of time; round them to MHz", f[0], f[1], f[2], f[3])
		}
		lcm *= step
	}
	var k clock
	for i, v := range f {
		k.period[i] = lcm / uint64(v/g)
	}
	return k, nil
}

// maxUnit bounds a period, so that times are seldom rebased.
const maxUnit = 1 << 52

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// restart puts all domains at phase zero.
func (k *clock) restart() {
	k.at = [domains]uint64{}
	if k.rounded != nil {
		k.rounded.at = [domains]rounded{}
	}
}

// fired is a set of domains, a bit each.
type fired uint8

func (f fired) has(d domain) bool { return f>>d&1 != 0 }

// tick advances to the next time at which a domain fires. If the L2 is not
// later than all others it fires, alone if it is earlier (GPGPU-Sim).
func (k *clock) tick() fired {
	if k.rounded != nil {
		return k.rounded.tick()
	}
	s := min(k.at[coreDomain], k.at[netDomain], k.at[dramDomain])
	if s > math.MaxUint64/2 {
		k.rebase()
		s = min(k.at[coreDomain], k.at[netDomain], k.at[dramDomain])
	}
	var f fired
	if t := k.at[l2Domain]; t <= s {
		s = t
		f = 1 << l2Domain
		k.at[l2Domain] = t + k.period[l2Domain]
	}
	for _, d := range [...]domain{coreDomain, netDomain, dramDomain} {
		if k.at[d] <= s {
			f |= 1 << d
			k.at[d] += k.period[d]
		}
	}
	return f
}

// skip ticks until the core has fired n times, and returns how often the other
// domains have fired. Everything up to the core's last time fires: domains that are
// due at the same time fire in the same tick.
func (k *clock) skip(n uint64) (net, l2, dram uint64) {
	const far = 1 << 62
	if k.at[coreDomain] > far {
		k.rebase()
	}
	if k.rounded != nil || n == 0 || k.at[coreDomain] > far || n > far/k.period[coreDomain] {
		for n > 0 {
			f := k.tick()
			dram += uint64(f >> dramDomain & 1)
			l2 += uint64(f >> l2Domain & 1)
			net += uint64(f >> netDomain & 1)
			n -= uint64(f >> coreDomain & 1)
		}
		return net, l2, dram
	}
	last := k.at[coreDomain] + (n-1)*k.period[coreDomain]
	var fires [domains]uint64
	for d := range domains {
		if k.at[d] <= last {
			fires[d] = (last-k.at[d])/k.period[d] + 1
			k.at[d] += fires[d] * k.period[d]
		}
	}
	return fires[netDomain], fires[l2Domain], fires[dramDomain]
}

// rebase subtracts the smallest time from all times.
func (k *clock) rebase() {
	s := min(k.at[coreDomain], k.at[netDomain], k.at[l2Domain], k.at[dramDomain])
	for i := range k.at {
		k.at[i] -= s
	}
}
