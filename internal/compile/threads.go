package compile

import "github.com/heddle-sim/heddle/internal/isa/sass"

// This file: kernels of a module that are compiled side by side. What they share is written by one goroutine, in the
// order of the module, so that the result is the same for any number of them.

// inOrder calls do for the numbers below n on as many goroutines, and use for what it returns, in order, on its own.
// No more than threads and one wait to be used, which bounds the memory.
func inOrder[T any](n, threads int, do func(i int) T, use func(x T)) {
	if threads < 2 {
		for i := range n {
			use(do(i))
		}
		return
	}
	queue := make(chan chan T, threads)
	go func() {
		defer close(queue)
		for i := range n {
			c := make(chan T, 1)
			queue <- c
			go func() { c <- do(i) }()
		}
	}()
	for c := range queue {
		use(<-c)
	}
}

// fork is the module for a kernel that is compiled beside others: it does not change what they share.
func (m *module) fork() *module {
	own := *m
	own.wanted = &addresses{at: map[addressKey]int64{}}
	return &own
}

// addresses are those that a kernel needs in the bank of addresses. As long as kernels before it may put others
// there, they have places of their own, one after the other.
type addresses struct {
	at    map[addressKey]int64
	keys  []addressKey
	list  []sass.Address
	final []int64 // by place: where it is in the bank in the end
}

// add returns the place of an address.
func (w *addresses) add(k addressKey, a sass.Address) int64 {
	at, ok := w.at[k]
	if !ok {
		at = 8 * int64(len(w.list))
		w.at[k] = at
		w.keys, w.list = append(w.keys, k), append(w.list, a)
	}
	return at
}

// place is where a byte of the kernel's bank is in the end.
func (w *addresses) place(at int64) int64 {
	if w == nil {
		return at
	}
	return w.final[at/8] + at%8
}

// admit puts what a kernel needs into the bank of addresses. It reports whether the kernel's code is the same there:
// not if instructions cannot reach it.
func (m *module) admit(w *addresses) bool {
	if w == nil {
		return true
	}
	for i, k := range w.keys {
		w.final = append(w.final, m.bank(k, w.list[i]))
	}
	return len(m.file.Banks[addressBank]) <= 1<<16
}
