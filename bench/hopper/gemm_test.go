package hopper

import (
	"strings"
	"testing"
)

// tiles is the main loop of a product of matrices as Triton makes it for an H200, in blocks of 128 x 128 x 64 with two
// stages: the copies of the next tile are issued when the product before has ended, so that a tile takes as long as its
// copies. That these are the tile and the loop follows from 65,552 bytes of shared memory and 154 registers of
// 128 threads, which FlashGPU-Sim states; the code is not published. It times eight tiles.
func tiles(grid int) probe {
	const n, warm = 12, 4
	body := `
	mov.b64 %a0, ` + "4295491584" + `;
	mov.u32 %r0, s; mov.u32 %r1, bars;
	@%first mbarrier.init.shared.b64 [%r1], 1;
	@%first mbarrier.init.shared.b64 [%r1+8], 1;
	shr.u32 %r2, %r63, 4; and.b32 %r3, %r63, 15;
	mul.wide.u32 %a1, %r2, 1048576; add.u64 %a1, %in, %a1;
	mul.wide.u32 %a2, %r3, 1048576; add.u64 %a2, %in, %a2; add.u64 %a2, %a2, 25165824;
	bar.sync 0;
	`
	load := func(i int) string {
		return fill(`@%first mbarrier.arrive.expect_tx.shared.b64 _, [%r1+$1], 32768;
	@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0+$2], [%a1+$4], 16384, [%r1+$1];
	@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0+$3], [%a2+$4], 16384, [%r1+$1];
	`, 8*(i%2), 32768*(i%2), 32768*(i%2)+16384, i*16384)
	}
	body += load(0)
	for i := range n {
		if i == warm {
			body += start
		}
		body += wait(fill("w$1", i), fill("%r1+$1", 8*(i%2)), i/2%2) + load(i+1) + groupFence + strings.Repeat(product(128), 8) + groupWait + "bar.sync 0;\n"
	}
	return probe{gpu: "h200", block: 128, grid: grid, shared: 64 << 10, in: 64 << 20, body: body + stop}
}

func mean(p probe, of float64) func(t testing.TB) float64 {
	return func(t testing.TB) float64 {
		list, sum := p.run(t), 0.0
		for _, x := range list {
			sum += x
		}
		return sum / float64(len(list)) / of
	}
}
