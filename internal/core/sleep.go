package core

// Never is the result of NextEvent if only a reply or a block can wake the core.
const Never = ^uint64(0)

// Sleep is the sleep state of a core. If a cycle ends with nothing to do before tick T
// except wait, the cycles up to T are counted but not simulated. This changes no
// counter: what they would have counted is added when the core wakes. A chip passes
// cycles of its cores itself (Pass), which is why the states of all cores are together
// and not in the cores (Env.Sleep).
type Sleep struct {
	left  uint64 // further cycles that can pass, Never if only the owner ends the sleep
	slept uint64 // cycles passed and not yet accounted for
	room  int    // bytes for which the network must have no room; 0 if that does not matter
	awake bool   // never sleeps
}

// Asleep reports whether the core sleeps, or has slept and not accounted for it.
func (s *Sleep) Asleep() bool { return s.left|s.slept != 0 }

// Room returns the bytes for which the network must still have no room for the next
// cycle to pass, 0 if it does not matter.
func (s *Sleep) Room() int {
	if s.left == 0 {
		return 0
	}
	return s.room
}

// Pass counts the next cycle if the core sleeps in it, and reports whether it does. If
// Room is not 0, callers first ask the network, once.
func (s *Sleep) Pass() bool {
	if s.left == 0 {
		return false
	}
	s.slept++
	if s.left != Never {
		s.left--
	}
	return true
}

// Doze puts the core to sleep from tick until another one, unless it stays awake or
// that is the next one. If room is not 0, it wakes as soon as the network has room for a
// packet of as many bytes.
func (s *Sleep) Doze(tick, until uint64, room int) {
	s.room = room
	switch {
	case s.awake || until <= tick+1:
	case until == Never:
		s.left = Never
	default:
		s.left = until - tick - 1
	}
}

// StayAwake turns sleeping off, so that every cycle is simulated.
func (s *Sleep) StayAwake() { s.awake = true }

// Awake reports whether sleeping is turned off.
func (s *Sleep) Awake() bool { return s.awake }

// Wake ends the sleep and returns the cycles slept that have not been accounted for.
func (s *Sleep) Wake() uint64 {
	n := s.slept
	s.left, s.slept, s.room = 0, 0, 0
	return n
}

// Next returns the first cycle after now, the cycle of the last call, in which a core
// may do anything by itself.
func (s *Sleep) Next(now uint64) uint64 {
	switch {
	case s.room > 0:
		return now + 1
	case s.left == Never:
		return Never
	}
	return now + 1 + s.left
}

// More adds n cycles, at most as many as can pass, to a sleep and reports whether there
// is one.
func (s *Sleep) More(n uint64) bool {
	if !s.Asleep() {
		return false
	}
	s.slept += n
	if s.left != Never {
		s.left -= n
	}
	return true
}
