package core

// Never is the result of NextEvent if only a reply or a block can wake the core.
const Never = ^uint64(0)

// Sleep is the sleep state of a core. If a cycle ends with nothing to do before tick T
// except wait, the cycles up to T are counted but not simulated. This changes no
// counter: what they would have counted is added when the core wakes.
type Sleep struct {
	wake  uint64 // tick before which nothing happens, 0 if awake
	slept uint64 // ticks not yet accounted for
	awake bool   // never sleeps
}

// Asleep reports whether the next cycle may be counted without being simulated.
func (s *Sleep) Asleep() bool { return s.wake != 0 }

// Pass counts the next cycle after tick and the cycles slept if the core sleeps in it,
// and reports whether it does.
func (s *Sleep) Pass(tick uint64) bool {
	if tick+s.slept+1 >= s.wake {
		return false
	}
	s.slept++
	return true
}

// Doze puts the core to sleep until a tick, unless it stays awake or the tick is
// the next one.
func (s *Sleep) Doze(tick, until uint64) {
	if until > tick+1 && !s.awake {
		s.wake = until
	}
}

// StayAwake turns sleeping off, so that every cycle is simulated.
func (s *Sleep) StayAwake() { s.awake = true }

// Awake reports whether sleeping is turned off.
func (s *Sleep) Awake() bool { return s.awake }

// Wake ends the sleep and returns the ticks slept that have not been accounted
// for.
func (s *Sleep) Wake() uint64 {
	n := s.slept
	s.wake, s.slept = 0, 0
	return n
}

// Next returns the first cycle after now, the cycle of the last call, in which a core
// at tick may do anything by itself.
func (s *Sleep) Next(now, tick uint64) uint64 {
	switch s.wake {
	case 0:
		return now + 1
	case Never:
		return Never
	}
	return now + s.wake - tick - s.slept
}

// More adds cycles to a sleep and reports whether there is one.
func (s *Sleep) More(n uint64) bool {
	if s.wake == 0 {
		return false
	}
	s.slept += n
	return true
}
