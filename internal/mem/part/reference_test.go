package part

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
)

// channelCounts are counters of a channel that GPGPU-Sim prints: n_act, n_pre,
// n_req, n_activity, bw_util in cycles, util_bw, Wasted_Col, Wasted_Row,
// RCDc_limit, and for the first banks the reads and the "maximum concurrent
// accesses to same row".
type channelCounts struct {
	activates, precharges, requests, active, data, used, lostColumn, lostRow, heldRCD uint64

	reads, rowUses []uint64
}

// TestPointerChase follows the rings of GPGPU-Sim's reference runs through the
// partitions, one dependent load after the other, and compares what a cold L2
// costs: the difference of the run's cycles with a cold and with a warm L2, in
// which everything outside the partition cancels out. Reads, activates and row hits
// must be equal, the difference within 0.2 %.
func TestPointerChase(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "testdata", "reference", "gpgpusim")
	hbm, _ := dram.Named("hbm2")
	qv100 := testConfig()
	qv100.Channels, qv100.Mapping, qv100.Indexing = 32, layoutHBM, IPolyIndex
	qv100.ROPLatency, qv100.DRAMLatency, qv100.DRAM = 160, 100, hbm.Config
	qv100.L2, _ = cache.ParseConfig("S:32:128:24,L:B:m:L:P,A:192:4,32:0,32")
	const base = 0xc0000000 // where the runs put their first buffer
	for _, v := range []struct {
		name      string
		cfg       Config
		core      float64 // MHz
		dram      float64
		file      string
		steps     int
		between   int // core cycles from a reply to the next entry
		hitL1     int // cycles of a load that finds its sector in the L1
		cost      int // cycles of the cold run less those of the warm one
		reads     uint64
		activates uint64
		rowHits   uint64
		channels  []channelCounts // the first ones
	}{
		{"rtx2060 large", testConfig(), 1365, 3500.5, "chase_large", 384, 53, 0, 144969 - 100480, 384, 226, 284, []channelCounts{
			{27, 12, 38, 2636, 152, 152, 648, 288, 648, []uint64{5, 4, 3, 6, 1, 3, 3, 1, 1, 3, 1, 1, 0, 1, 3, 2}, []uint64{1, 1, 2, 1, 0, 0}},
			{17, 3, 31, 1706, 124, 124, 408, 72, 408, []uint64{2, 4, 1, 5, 1, 2, 1, 1, 3, 1, 2, 2, 3, 3, 0, 0}, []uint64{0, 0, 0, 2, 0, 1}},
		}},
		{"rtx2060 small", testConfig(), 1365, 3500.5, "chase_small", 1500, 53, 48, 152836 - 124716, 256, 24, 256, nil},
		{"qv100 large", qv100, 1132, 850, "chase_large", 384, 40, 0, 132922 - 82770, 384, 212, 172, nil},
		{"qv100 small", qv100, 1132, 850, "chase_small", 1500, 40, 36, 129693 - 97966, 256, 32, 224, nil},
	} {
		t.Run(v.name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(dir, v.file+".ring.in.bin"))
			if err != nil {
				t.Fatal(err)
			}
			chase := func(warm bool) (int, *Memory) {
				c := newChip(t, v.cfg)
				if warm {
					c.m.Warm(base, uint64(len(raw)), 0)
				}
				var coreAt, dramAt float64 // microseconds
				seen := map[uint64]bool{}
				off, due := uint64(0), uint64(0)
				waiting := false
				for step := 0; step < v.steps || waiting; {
					at := min(coreAt, dramAt)
					core, dev := coreAt <= at, dramAt <= at
					if core {
						c.replies()
						if waiting && len(c.got[1]) > 0 {
							waiting, due = false, c.now+uint64(v.between)
							delete(c.got, 1)
						}
					}
					if dev {
						dramAt += 1 / v.dram
						c.m.DRAMTick(c.now)
					}
					if !core {
						continue
					}
					coreAt += 1 / v.core
					if !waiting && c.now >= due && step < v.steps {
						addr := base + off
						off = binary.LittleEndian.Uint64(raw[off:])
						step++
						if sector := addr &^ 31; seen[sector] {
							due = c.now + uint64(v.hitL1)
						} else {
							seen[sector], waiting = true, true
							r := c.request(1, mem.GlobalRead, sector, 32)
							c.m.Enter(int(r.Sub), r, c.now)
						}
					}
					c.m.BeginL2()
					for sub := range c.m.Subs() {
						c.m.CacheCycle(sub, c.now)
					}
					c.m.EndL2()
					c.now++
				}
				return int(c.now), c.m
			}
			cold, m := chase(false)
			warm, _ := chase(true)
			var reads, activates, hits uint64
			for ch := range m.Channels() {
				s := m.DRAM(ch).Stats()
				reads += s.Reads
				activates += s.Activates
				hits += s.RowHits
			}
			if reads != v.reads || activates != v.activates || hits != v.rowHits {
				t.Errorf("%d reads, %d activates, %d row hits; GPGPU-Sim %d, %d, %d",
					reads, activates, hits, v.reads, v.activates, v.rowHits)
			}
			for ch, want := range v.channels {
				d := m.DRAM(ch)
				s := d.Stats()
				got := channelCounts{
					s.Activates, s.Precharges, s.Requests, s.Active, s.DataCycles, s.Used, s.LostColumn, s.LostRow, s.Held.RCD, nil, nil,
				}
				for b := range want.reads {
					got.reads = append(got.reads, d.Bank(b).Reads)
				}
				for b := range want.rowUses {
					got.rowUses = append(got.rowUses, d.Bank(b).RowUsesMax)
				}
				if d := cmp.Diff(want, got, cmp.AllowUnexported(channelCounts{})); d != "" {
					t.Errorf("channel %d (-GPGPU-Sim +here):\n%s", ch, d)
				}
			}
			if got := cold - warm; got < v.cost*998/1000 || got > v.cost*1002/1000 {
				t.Errorf("a cold L2 costs %d cycles, %.1f a miss; GPGPU-Sim %d, %.1f",
					got, float64(got)/float64(v.reads), v.cost, float64(v.cost)/float64(v.reads))
			} else {
				t.Logf("a cold L2 costs %d cycles, GPGPU-Sim %d", got, v.cost)
			}
		})
	}
}
