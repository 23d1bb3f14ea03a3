package ring

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRing compares a queue with a slice over random operations.
func TestRing(t *testing.T) {
	for _, c := range []struct {
		name string
		make func() Ring[int]
	}{
		{"without a bound", func() Ring[int] { return Ring[int]{} }},
		{"of at most 5", func() Ring[int] { return New[int](5) }},
		{"of at most 20, which grows", func() Ring[int] { return New[int](20) }},
		{"in a buffer of 7", func() Ring[int] { return Of(make([]int, 7)) }},
		{"in a buffer of 1", func() Ring[int] { return Of(make([]int, 1)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := c.make()
			var want []int
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 20000 {
				switch op := r.IntN(20); {
				case op < 9:
					if full := q.Limit() > 0 && len(want) >= q.Limit(); full != q.Full() || full == q.Room(1) {
						t.Fatalf("%d of %d entries: Full %v, Room(1) %v", len(want), q.Limit(), q.Full(), q.Room(1))
					}
					if !q.Full() {
						q.Push(i)
						want = append(want, i)
					}
				case len(want) == 0:
				case op < 17:
					if v := q.Pop(); v != want[0] {
						t.Fatalf("Pop is %d, want %d", v, want[0])
					}
					want = want[1:]
				case op < 18:
					q.Drop()
					want = want[:len(want)-1]
				case op < 19:
					k := r.IntN(len(want))
					if v := q.Remove(k); v != want[k] {
						t.Fatalf("Remove(%d) is %d, want %d", k, v, want[k])
					}
					want = slices.Delete(slices.Clone(want), k, k+1)
				case r.IntN(50) == 0:
					q.Clear()
					want = nil
				}
				if q.Len() != len(want) {
					t.Fatalf("%d entries, want %d", q.Len(), len(want))
				}
				for k, v := range want {
					if *q.At(k) != v {
						t.Fatalf("entry %d is %d, want %d", k, *q.At(k), v)
					}
				}
				if len(want) > 0 && *q.Front() != want[0] {
					t.Fatalf("Front is %d, want %d", *q.Front(), want[0])
				}
			}
		})
	}
}

// TestRingForgets checks that a queue does not hold on to removed entries.
func TestRingForgets(t *testing.T) {
	q := Of(make([]*int, 4))
	for range 3 {
		q.Push(new(int))
	}
	q.Pop()
	q.Remove(1)
	q.Drop()
	for i, p := range q.buf {
		if p != nil {
			t.Errorf("place %d still holds an entry", i)
		}
	}
}
