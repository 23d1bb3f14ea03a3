// Package ring implements the queue used throughout the machine: first in, first out, in a
// circular buffer. It knows nothing about the entries.
package ring

// Ring is a first-in, first-out queue. The zero value is empty and unbounded. It allocates
// only when it grows.
type Ring[T any] struct {
	buf     []T
	head, n int
	limit   int // 0: none
}

// New returns an empty queue of at most limit entries, or unbounded if limit is 0. It grows up
// to its limit as it is used.
func New[T any](limit int) Ring[T] { return Ring[T]{limit: limit} }

// Of returns an empty queue that keeps its entries in buf, and is full with len(buf) entries.
func Of[T any](buf []T) Ring[T] { return Ring[T]{buf: buf, limit: len(buf)} }

// Len returns the number of entries.
func (q *Ring[T]) Len() int { return q.n }

// Limit returns the bound, 0 if there is none.
func (q *Ring[T]) Limit() int { return q.limit }

// Full reports whether nothing more fits.
func (q *Ring[T]) Full() bool { return q.limit > 0 && q.n >= q.limit }

// Room reports whether k more entries fit.
func (q *Ring[T]) Room(k int) bool { return q.limit <= 0 || q.n+k <= q.limit }

// Push appends an entry. Callers check for room first: the limit is not enforced here.
func (q *Ring[T]) Push(v T) {
	if q.n == len(q.buf) {
		q.grow()
	}
	i := q.head + q.n
	if i >= len(q.buf) {
		i -= len(q.buf)
	}
	q.buf[i] = v
	q.n++
}

func (q *Ring[T]) grow() {
	bigger := make([]T, max(8, 2*len(q.buf)))
	n := copy(bigger, q.buf[q.head:])
	copy(bigger[n:], q.buf[:q.head])
	q.buf, q.head = bigger, 0
}

// Front returns the oldest entry; there must be one.
func (q *Ring[T]) Front() *T { return &q.buf[q.head] }

// At returns the i-th oldest entry; there must be more than i.
func (q *Ring[T]) At(i int) *T {
	if i += q.head; i >= len(q.buf) {
		i -= len(q.buf)
	}
	return &q.buf[i]
}

// Pop removes the oldest entry and returns it; there must be one.
func (q *Ring[T]) Pop() T {
	p := &q.buf[q.head]
	v := *p
	var zero T
	*p = zero // release what it points to
	if q.head++; q.head == len(q.buf) {
		q.head = 0
	}
	q.n--
	return v
}

// Drop removes the newest entry; there must be one.
func (q *Ring[T]) Drop() {
	var zero T
	q.n--
	*q.At(q.n) = zero
}

// Remove takes out the i-th oldest entry; there must be more than i.
func (q *Ring[T]) Remove(i int) T {
	v := *q.At(i)
	for ; i < q.n-1; i++ {
		*q.At(i) = *q.At(i + 1)
	}
	q.Drop()
	return v
}

// Clear removes all entries.
func (q *Ring[T]) Clear() {
	clear(q.buf)
	q.head, q.n = 0, 0
}
