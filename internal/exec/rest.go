package exec

// Rest are the blocks of a launch, or its clusters, that have not begun: whoever begins them gives some away to blocks
// that take over their work (PTX manual, clusterlaunchcontrol.try_cancel). The zero value has none.
type Rest struct{ next func() (n uint64, ok bool) }

// Give says who gives them away: next takes a block or cluster off the launch, which then counts as one that has run, and
// returns its number.
func (r *Rest) Give(next func() (n uint64, ok bool)) {
	if r != nil {
		r.next = next
	}
}

// Take takes a block or cluster that will not begin; ok is false if all have begun.
func (r *Rest) Take() (n uint64, ok bool) {
	if r == nil || r.next == nil {
		return 0, false
	}
	return r.next()
}
