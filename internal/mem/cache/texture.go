package cache

import (
	"github.com/heddle-sim/heddle/internal/mem"

	"github.com/heddle-sim/heddle/internal/ring"
)

// fragment is an accepted texture access in the latency FIFO.
type fragment struct {
	r    *mem.Req
	miss bool
}

// reorder is a miss whose data are on their way.
type reorder struct {
	r       *mem.Req
	addr    uint64
	size    uint32
	pending int32
	back    bool
}

// Texture is a texture cache: tags change at the access, as if the data arrived at
// once, and every access, hit or miss, then passes a FIFO in order, where a miss
// waits for its data. Its owner calls it like a Cache.
type Texture struct {
	cfg   Config
	pool  *mem.Pool
	tags  *Cache
	Stats Stats

	fragments ring.Ring[fragment]
	reorders  ring.Ring[reorder]
	results   ring.Ring[*mem.Req]
	requests  mem.Queue
}

// NewTexture returns an empty texture cache. Pieces of replies return to the pool.
func NewTexture(cfg Config, pool *mem.Pool) (*Texture, error) {
	if err := usable(&cfg, true); err != nil {
		return nil, err
	}
	plain := cfg
	plain.MSHR, plain.Entries = Assoc, 1
	tags, err := New(plain, pool)
	if err != nil {
		return nil, err
	}
	return &Texture{
		cfg: cfg, pool: pool, tags: tags,
		fragments: ring.Of(make([]fragment, cfg.Entries)),
		reorders:  ring.Of(make([]reorder, cfg.MissQueue)),
		results:   ring.Of(make([]*mem.Req, cfg.ResultQueue)),
		requests:  mem.NewQueue(cfg.Merge),
	}, nil
}

// Config returns the settings.
func (t *Texture) Config() *Config { return &t.cfg }

// Probe returns Hit for a line whose data are present or on their way, else
// Miss.
func (t *Texture) Probe(r *mem.Req) Status { return t.tags.Probe(r) }

// Access looks a request up: HitReserved for a line whose data are present or
// on their way, Miss for one that must be read, Fail if a FIFO is full. It is
// never Hit: every accepted request comes out of PopReady, in order.
func (t *Texture) Access(now uint64, r *mem.Req) Status {
	got := HitReserved
	switch {
	case t.fragments.Full() || t.requests.Full() || t.reorders.Full():
		got = Fail
		t.Stats.Fails[r.Kind][MissQueueFull]++
	default:
		c := t.tags
		set, tag := c.where(r)
		st, i := c.look(set, tag, 1, false)
		i, _ = c.use(st, i, set, tag, 1, now)
		if st == Miss {
			got = Miss
			c.put(i, 1, mem.ByteMask{})
			t.reorders.Push(reorder{r: r, addr: r.Addr, size: r.Size})
			r.Addr, r.Size = tag, uint32(t.cfg.Line)
			t.requests.Push(r)
		}
		t.fragments.Push(fragment{r, st == Miss})
	}
	t.Stats.Accesses[r.Kind][got]++
	return got
}

// MissHead returns the oldest request that waits for the next level, nil if there
// is none.
func (t *Texture) MissHead() *mem.Req { return t.requests.Head() }

// PopMiss removes and returns MissHead.
func (t *Texture) PopMiss() *mem.Req { return t.requests.Pop() }

// Tick ends a cycle: the oldest access moves to the results if its data have
// arrived and a result entry is free.
func (t *Texture) Tick() {
	t.Stats.Cycles++
	if !t.moves() {
		return
	}
	f := t.fragments.Front()
	if f.miss {
		t.reorders.Pop()
	}
	t.results.Push(f.r)
	t.fragments.Pop()
}

// moves reports whether Tick would move an access.
func (t *Texture) moves() bool {
	return t.fragments.Len() > 0 && !t.results.Full() && (!t.fragments.Front().miss || t.reorders.Front().back)
}

// Quiet reports whether nothing is to be sent, moved or popped.
func (t *Texture) Quiet() bool { return t.requests.Len() == 0 && t.results.Len() == 0 && !t.moves() }

// Skip has the effect of n Ticks; the cache must be Quiet.
func (t *Texture) Skip(n uint64) { t.Stats.Cycles += n }

// DataPortFree is true: a texture cache has no port to wait for.
func (t *Texture) DataPortFree() bool { return true }

// FillPortFree is true: see DataPortFree.
func (t *Texture) FillPortFree() bool { return true }

// pendingFor returns the reorder entry that a reply or a piece of one is for.
func (t *Texture) pendingFor(r *mem.Req) *reorder {
	for i := range t.reorders.Len() {
		if o := t.reorders.At(i); !o.back && (o.r == r || o.r == r.Orig) {
			return o
		}
	}
	return nil
}

// WaitsFor reports whether a reply, or the request of which it is a piece, was sent
// by this cache.
func (t *Texture) WaitsFor(r *mem.Req) bool { return t.pendingFor(r) != nil }

// Fill takes a reply or a 32-byte piece of one, as Cache.Fill does.
func (t *Texture) Fill(_ uint64, r *mem.Req) bool {
	o := t.pendingFor(r)
	if o == nil {
		return false
	}
	if r != o.r {
		t.pool.Put(r)
		if o.pending == 0 {
			o.pending = int32(t.cfg.Line / mem.SectorBytes)
		}
		o.pending--
		if o.pending > 0 {
			return true
		}
	}
	o.r.Addr, o.r.Size = o.addr, o.size
	o.back = true
	return true
}

// Ready reports whether an answered request waits to be popped.
func (t *Texture) Ready() bool { return t.results.Len() > 0 }

// PopReady returns the next answered request, nil if there is none.
func (t *Texture) PopReady() *mem.Req {
	if t.results.Len() == 0 {
		return nil
	}
	r := *t.results.Front()
	t.results.Pop()
	return r
}

// Invalidate empties the tags; accesses in progress are not affected.
func (t *Texture) Invalidate() { t.tags.Invalidate() }

// Flush does nothing: nothing is ever modified.
func (t *Texture) Flush() {}
