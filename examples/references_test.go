package examples_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"slices"
)

// The references. Each computes in plain Go, and where a result has a tolerance
// in double precision, what the kernels are to compute; wherever there is another
// way to the same result than the kernel's, it takes that one. Sizes are those of
// the job files.

var examples = []example{
	{name: "bfs", files: bfsFiles, reference: bfsReference},
	{name: "bitonic", reference: bitonicReference},
	{name: "blackscholes", reference: blackScholesReference},
	{name: "collatz", reference: collatzReference},
	{name: "compact", reference: compactReference},
	{name: "convolution", reference: convolutionReference},
	{name: "cp-async", reference: pipelineReference},
	{name: "dp4a", reference: byteProductReference},
	{name: "funcptr", reference: funcptrReference},
	{name: "gaussian", reference: gaussianReference},
	{name: "gridsync", reference: gridsyncReference},
	{name: "half2", reference: halfLayersReference},
	{name: "heap", reference: heapReference},
	{name: "histogram", reference: histogramReference},
	{name: "hotspot", reference: hotspotReference},
	{name: "kmeans", reference: kmeansReference},
	{name: "lookback", reference: lookbackReference},
	{name: "lud", files: ludFiles, reference: ludReference},
	{name: "mandelbrot", reference: mandelbrotReference},
	{name: "matmul", reference: func(in *inputs) map[string]any {
		return map[string]any{"c": product(in.f32("a"), in.f32("b"), 128)}
	}},
	{name: "mbarrier", reference: mbarrierReference},
	{name: "mma-gemm", reference: func(in *inputs) map[string]any {
		return map[string]any{"c": product(in.f16("a"), in.f16("b"), 256)}
	}},
	{name: "nbody", reference: nbodyReference},
	{name: "needle", reference: needleReference},
	{name: "ntt", reference: nttReference},
	{name: "pathfinder", reference: pathfinderReference},
	{name: "printf", reference: primesReference, stdout: primesText},
	{name: "recursion", reference: recursionReference},
	{name: "reduction", reference: reductionReference},
	{name: "scan", reference: scanReference},
	{name: "sha256", reference: sha256Reference},
	{name: "spinlock", reference: spinlockReference},
	{name: "spmv", files: spmvFiles, reference: spmvReference},
	{name: "stencil3d", reference: stencilReference},
	{name: "streams", files: streamsFiles, reference: streamsReference},
	{name: "texref", reference: texrefReference},
	{name: "texture", files: textureFiles, reference: textureReference},
	{name: "transpose", reference: transposeReference},
	{name: "two-files", reference: crcReference},
	{name: "vecadd", reference: vecaddReference},
}

func vecaddReference(in *inputs) map[string]any {
	a, b := words[float32](in.bytes("a", "f32")), words[float32](in.bytes("b", "f32"))
	c := make([]float32, len(a))
	for i := range c {
		c[i] = a[i] + b[i]
	}
	return map[string]any{"c": c}
}

// product multiplies two n x n matrices.
func product(a, b []float64, n int) []float64 {
	c := make([]float64, n*n)
	for i := range n {
		for k := range n {
			for j := range n {
				c[i*n+j] += a[i*n+k] * b[k*n+j]
			}
		}
	}
	return c
}

func pipelineReference(in *inputs) map[string]any {
	const n = 128
	a, b, c := in.u32("a"), in.u32("b"), make([]uint32, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				c[i*n+j] += a[i*n+k] * b[k*n+j]
			}
		}
	}
	return map[string]any{"c": c}
}

func reductionReference(in *inputs) map[string]any {
	v := in.u32("in")
	var sum uint32
	for _, x := range v {
		sum += x
	}
	return map[string]any{"out": []uint32{sum, slices.Min(v), slices.Max(v)}}
}

func scanReference(in *inputs) map[string]any {
	v := in.u32("in")
	out := make([]uint32, len(v))
	var totals []uint32
	var sum uint32
	for i, x := range v {
		if i%1024 == 0 {
			totals = append(totals, sum)
		}
		out[i] = sum
		sum += x
	}
	return map[string]any{"out": out, "totals": totals}
}

func histogramReference(in *inputs) map[string]any {
	bins := make([]uint32, 256)
	for _, b := range in.u8("in") {
		bins[b]++
	}
	return map[string]any{"bins": bins}
}

func transposeReference(in *inputs) map[string]any {
	const width, height = 512, 256
	v, out := in.u32("in"), make([]uint32, width*height)
	for i, x := range v {
		out[i%width*height+i/width] = x
	}
	return map[string]any{"out": out}
}

const bfsNodes = 192 * 128

// bfsFiles makes a graph in CSR form: a grid of 192 x 128 nodes from which many
// edges are missing, with a few shortcuts. It has far ends and islands.
func bfsFiles() map[string]any {
	const width = 192
	rng := splitMix(1001)
	edges := make([][]uint16, bfsNodes)
	join := func(a, b int) {
		edges[a] = append(edges[a], uint16(b))
		edges[b] = append(edges[b], uint16(a))
	}
	for i := range bfsNodes {
		if i%width != width-1 && rng.below(100) < 62 {
			join(i, i+1)
		}
		if i+width < bfsNodes && rng.below(100) < 62 {
			join(i, i+width)
		}
		if rng.below(100) < 6 {
			join(i, rng.below(bfsNodes))
		}
	}
	row, col := []uint32{0}, []uint16{}
	for _, e := range edges {
		col = append(col, e...)
		row = append(row, uint32(len(col)))
	}
	return map[string]any{"row.bin": row, "col.bin": col}
}

// bfsReference walks the graph with a queue.
func bfsReference(in *inputs) map[string]any {
	row, col := in.u32("row"), in.u16("col")
	cost := slices.Repeat([]int32{-1}, bfsNodes)
	cost[0] = 0
	for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		for _, v := range col[row[i]:row[i+1]] {
			if cost[v] < 0 {
				cost[v] = cost[i] + 1
				queue = append(queue, int(v))
			}
		}
	}
	return map[string]any{
		"cost": cost, "go_on": []uint32{0},
		"frontier": make([]byte, bfsNodes), "next": make([]byte, bfsNodes),
	}
}

func hotspotReference(in *inputs) map[string]any {
	const n, k, rx, ry, rz, ambient = 128, 0.125, 1.0, 1.5, 0.0625, 300.0
	t, p := in.f32("temp"), in.f32("power")
	at := func(t []float64, x, y int) float64 {
		return t[min(max(y, 0), n-1)*n+min(max(x, 0), n-1)]
	}
	for range 16 {
		next := make([]float64, n*n)
		for y := range n {
			for x := range n {
				here := at(t, x, y)
				vertical := at(t, x, y-1) + at(t, x, y+1) - 2*here
				horizontal := at(t, x-1, y) + at(t, x+1, y) - 2*here
				next[y*n+x] = here + k*(p[y*n+x]+vertical*ry+horizontal*rx+(ambient-here)*rz)
			}
		}
		t = next
	}
	return map[string]any{"temp": t}
}

func pathfinderReference(in *inputs) map[string]any {
	const rows, cols = 65, 8192
	wall := in.s32("wall")
	cost := slices.Clone(wall[:cols])
	var before []int32
	for r := 1; r < rows; r++ {
		next := make([]int32, cols)
		for x := range cols {
			next[x] = wall[r*cols+x] + slices.Min(cost[max(x-1, 0):min(x+2, cols)])
		}
		if r == 56 {
			before = slices.Clone(next)
		}
		cost = next
	}
	return map[string]any{"even": before, "odd": cost}
}

func kmeansReference(in *inputs) map[string]any {
	const k, dim, rounds = 8, 4, 5
	point := in.s32("point")
	n := len(point) / dim
	centre := slices.Clone(point[:k*dim])
	label := make([]byte, n)
	for range rounds {
		var sum [k * dim]int64
		var members [k]int64
		for i := range n {
			nearest := int64(math.MaxInt64)
			for c := range k {
				var d2 int64
				for d := range dim {
					diff := int64(point[i*dim+d] - centre[c*dim+d])
					d2 += diff * diff
				}
				if d2 < nearest {
					nearest, label[i] = d2, byte(c)
				}
			}
			members[label[i]]++
			for d := range dim {
				sum[int(label[i])*dim+d] += int64(point[i*dim+d])
			}
		}
		for j := range centre {
			if m := members[j/dim]; m > 0 {
				centre[j] = int32(sum[j] / m)
			}
		}
	}
	return map[string]any{"label": label, "centre": centre, "sum": make([]int32, k*dim), "members": make([]uint32, k)}
}

// gaussianReference solves the system by Gauss-Jordan elimination with pivoting,
// which is not what the kernels do.
func gaussianReference(in *inputs) map[string]any {
	const n = 64
	flat, b := in.f32("a"), in.f32("b")
	a := make([][]float64, n)
	for i := range a {
		a[i] = append(slices.Clone(flat[i*n:(i+1)*n]), b[i])
		a[i][i] += n
	}
	for k := range n {
		pivot := k
		for i := k; i < n; i++ {
			if math.Abs(a[i][k]) > math.Abs(a[pivot][k]) {
				pivot = i
			}
		}
		a[k], a[pivot] = a[pivot], a[k]
		for j := n; j >= k; j-- {
			a[k][j] /= a[k][k]
		}
		for i := range a {
			if i == k {
				continue
			}
			for j := n; j >= k; j-- {
				a[i][j] -= a[i][k] * a[k][j]
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = a[i][n]
	}
	return map[string]any{"x": x}
}

const ludSize = 128

// ludFactors makes a lower matrix with ones on the diagonal and an upper one with
// powers of two there, both of small whole numbers.
func ludFactors() (lower, upper []float64) {
	rng := splitMix(1002)
	lower, upper = make([]float64, ludSize*ludSize), make([]float64, ludSize*ludSize)
	for i := range ludSize {
		for j := range ludSize {
			small := float64(rng.below(5) - 2)
			switch {
			case j < i:
				lower[i*ludSize+j] = small
			case j == i:
				lower[i*ludSize+j] = 1
				upper[i*ludSize+j] = float64(int(1) << rng.below(3))
			default:
				upper[i*ludSize+j] = small
			}
		}
	}
	return lower, upper
}

func ludFiles() map[string]any {
	lower, upper := ludFactors()
	a := product(lower, upper, ludSize)
	rounded := make([]float32, len(a))
	for i := range a {
		rounded[i] = float32(a[i] + 0) // whole numbers, and no negative zero
	}
	return map[string]any{"a.bin": rounded}
}

// ludReference knows the factors: the input was made from them.
func ludReference(*inputs) map[string]any {
	lower, upper := ludFactors()
	lu := slices.Clone(upper)
	for i := range ludSize {
		for j := range i {
			lu[i*ludSize+j] = lower[i*ludSize+j]
		}
	}
	return map[string]any{"a": lu}
}

func needleReference(in *inputs) map[string]any {
	const n, match, mismatch, gap = 512, 2, -1, 1
	a, b := in.u8("a"), in.u8("b")
	score := make([]int32, (n+1)*(n+1))
	at := func(y, x int) *int32 { return &score[y*(n+1)+x] }
	for y := range n + 1 {
		for x := range n + 1 {
			switch {
			case y == 0:
				*at(y, x) = int32(-gap * x)
			case x == 0:
				*at(y, x) = int32(-gap * y)
			default:
				step := int32(mismatch)
				if a[y-1] == b[x-1] {
					step = match
				}
				*at(y, x) = max(*at(y-1, x-1)+step, *at(y-1, x)-gap, *at(y, x-1)-gap)
			}
		}
	}
	return map[string]any{"score": score}
}

func stencilReference(in *inputs) map[string]any {
	const nx, ny, nz = 64, 64, 32
	centre, side := float64(float32(0.4)), float64(float32(0.1))
	v := in.f32("v")
	for range 4 {
		next := slices.Clone(v)
		for z := 1; z < nz-1; z++ {
			for y := 1; y < ny-1; y++ {
				for x := 1; x < nx-1; x++ {
					p := (z*ny+y)*nx + x
					next[p] = centre*v[p] + side*(v[p-1]+v[p+1]+v[p-nx]+v[p+nx]+v[p-nx*ny]+v[p+nx*ny])
				}
			}
		}
		v = next
	}
	return map[string]any{"v": v}
}

const spmvRows = 8192

// spmvFiles makes the row starts of a sparse matrix with empty and long rows.
func spmvFiles() map[string]any {
	rng := splitMix(1003)
	row := []uint32{0}
	for r := range spmvRows {
		length := 3 + rng.below(14)
		switch {
		case r%97 == 5:
			length = 0
		case r%501 == 7:
			length = 200 + rng.below(200)
		}
		row = append(row, row[r]+uint32(length))
	}
	return map[string]any{"row.bin": row}
}

func spmvReference(in *inputs) map[string]any {
	row, col, val, x := in.u32("row"), in.u32("col"), in.f32("val"), in.f32("x")
	if int(row[spmvRows]) != len(col) {
		in.t.Fatalf("the rows have %d entries, the job %d", row[spmvRows], len(col))
	}
	y := make([]float64, spmvRows)
	for r := range y {
		for e := row[r]; e < row[r+1]; e++ {
			y[r] += val[e] * x[col[e]]
		}
	}
	return map[string]any{"y": y}
}

// textureFiles makes an image of whole numbers below 256.
func textureFiles() map[string]any {
	rng := splitMix(1004)
	image := make([]float32, 64*64)
	for i := range image {
		image[i] = float32(rng.below(256))
	}
	return map[string]any{"image.bin": image}
}

// textureReference samples by the definition: the nearest texel, or the four
// around the point weighted by their distance from it.
func textureReference(in *inputs) map[string]any {
	const size, points = 64, 128
	image := in.f32("image")
	clamp := func(i int) int { return min(max(i, 0), size-1) }
	wrap := func(i int) int { return (i%size + size) % size }
	mirror := func(i int) int {
		if i = (i%(2*size) + 2*size) % (2 * size); i >= size {
			i = 2*size - 1 - i
		}
		return i
	}
	border := func(i int) int {
		if i < 0 || i >= size {
			return -1
		}
		return i
	}
	sampleAll := func(address func(int) int, linear bool) []float64 {
		texel := func(x, y int) float64 {
			x, y = address(x), address(y)
			if x < 0 || y < 0 {
				return 0
			}
			return image[y*size+x]
		}
		out := make([]float64, 0, points*points)
		for py := range points {
			for px := range points {
				x, y := -4+float64(px)*0.5625, -4+float64(py)*0.5625
				if !linear {
					out = append(out, texel(int(math.Floor(x)), int(math.Floor(y))))
					continue
				}
				fx, fy := math.Floor(x-0.5), math.Floor(y-0.5)
				ax, ay := x-0.5-fx, y-0.5-fy
				ix, iy := int(fx), int(fy)
				out = append(out, (1-ax)*(1-ay)*texel(ix, iy)+ax*(1-ay)*texel(ix+1, iy)+
					(1-ax)*ay*texel(ix, iy+1)+ax*ay*texel(ix+1, iy+1))
			}
		}
		return out
	}
	return map[string]any{
		"nearest": sampleAll(clamp, false), "smooth": sampleAll(clamp, true), "wrapped": sampleAll(wrap, true),
		"mirrored": sampleAll(mirror, true), "bordered": sampleAll(border, true),
	}
}

// recursionReference takes Fibonacci numbers from a loop and the integral from the
// arc tangent.
func recursionReference(*inputs) map[string]any {
	sequence := []uint32{0, 1}
	for len(sequence) < 17 {
		sequence = append(sequence, sequence[len(sequence)-1]+sequence[len(sequence)-2])
	}
	fib := make([]uint32, 512)
	for i := range fib {
		fib[i] = sequence[5+i%12]
	}
	area := make([]float64, 128)
	for i := range area {
		root := math.Sqrt(math.Ldexp(1, -(i % 16)))
		area[i] = (math.Atan(2/root) + math.Atan(1/root)) / root
	}
	return map[string]any{"fib": fib, "area": area}
}

func spinlockReference(*inputs) map[string]any {
	const blocks, threads, rounds, spread = 4, 64, 8, 2654435761
	own, common := make([]uint32, 4*blocks), make([]uint32, 4)
	for id := uint32(0); id < blocks*threads; id++ {
		mine := own[id/threads*4:][:4]
		for r := range uint32(rounds) {
			mine[1]++
			mine[2] += id
			mine[3] ^= id*spread + r
		}
		common[1]++
		common[2] += id
		common[3] ^= id * spread
	}
	return map[string]any{"own": own, "common": common}
}

func collatzReference(*inputs) map[string]any {
	steps := make([]uint16, 16384)
	for i := range steps {
		for v := i + 1; v != 1; steps[i]++ {
			if v%2 == 0 {
				v /= 2
			} else {
				v = 3*v + 1
			}
		}
	}
	return map[string]any{"steps": steps}
}

// primesReference uses a sieve.
func primesReference(*inputs) map[string]any {
	const blocks, each = 24, 1000
	var composite [blocks * each]bool
	found := make([]uint32, blocks)
	for v := 2; v < len(composite); v++ {
		if composite[v] {
			continue
		}
		found[v/each]++
		for m := 2 * v; m < len(composite); m += v {
			composite[m] = true
		}
	}
	return map[string]any{"found": found}
}

func primesText(out map[string]any) string {
	var text bytes.Buffer
	for b, n := range out["found"].([]uint32) {
		fmt.Fprintf(&text, "block %2d: %5d..%5d has %3d primes, %.2f%%\n", b, b*1000, b*1000+999, n, float64(n)/10)
	}
	return text.String()
}

func bitonicReference(in *inputs) map[string]any {
	data := in.u32("data")
	for chunk := range slices.Chunk(data, 2048) {
		slices.Sort(chunk)
	}
	return map[string]any{"data": data}
}

func funcptrReference(in *inputs) map[string]any {
	code, operand := in.u8("code"), in.u32("operand")
	out := make([]uint32, 4096)
	for i := range out {
		v := uint32(i)
		for s := range 40 {
			at := (i*7 + s) % 256
			switch x := operand[at]; code[at] {
			case 0:
				v += x
			case 1:
				v *= x | 1
			case 2:
				v ^= x
			case 3:
				v = bits.RotateLeft32(v, int(x%32))
			case 4:
				for x != 0 {
					v, x = x, v%x
				}
			}
		}
		out[i] = v
	}
	return map[string]any{"out": out}
}

func crcReference(in *inputs) map[string]any {
	var out []uint32
	for message := range slices.Chunk(in.u8("data"), 64) {
		out = append(out, crc32.ChecksumIEEE(message))
	}
	return map[string]any{"out": out, "calls": []uint32{uint32(len(in.u8("data")))}}
}

func nbodyReference(in *inputs) map[string]any {
	const n, dt, soft = 512, 0.001, 0.01
	body, vel := in.f64("body"), in.f64("vel")
	for range 3 {
		for i := range n {
			var force [3]float64
			for j := range n {
				var d [3]float64
				d2 := soft
				for k := range d {
					d[k] = body[4*j+k] - body[4*i+k]
					d2 += d[k] * d[k]
				}
				for k := range d {
					force[k] += body[4*j+3] * d[k] / math.Pow(d2, 1.5)
				}
			}
			for k, f := range force {
				vel[3*i+k] += dt * f
			}
		}
		for i := range n {
			for k := range 3 {
				body[4*i+k] += dt * vel[3*i+k]
			}
		}
	}
	return map[string]any{"body": body}
}

func compactReference(in *inputs) map[string]any {
	v := in.u32("in")
	out := make([]uint32, len(v))
	var kept []uint32
	for b := 0; b < len(v); b += 256 {
		at := b
		for _, x := range v[b : b+256] {
			if x < 1<<30 {
				out[at] = x
				at++
			}
		}
		kept = append(kept, uint32(at-b))
	}
	var answers []uint32
	for w := 0; w < 8192; w += 32 {
		var lane [32]uint32
		var oddSum, oddMax, oddHigh uint32
		all, some := uint32(1), uint32(0)
		for l := range lane {
			x := v[w+l] >> 28
			lane[l] = x
			if x == 15 {
				all, some = 0, 1
			}
			if x%2 == 1 {
				oddSum += x
				oddMax = max(oddMax, x)
				if x > 7 {
					oddHigh |= 1 << l
				}
			}
		}
		for l, x := range lane {
			var same uint32
			for other, y := range lane {
				if x == y {
					same |= 1 << other
				}
			}
			line := []uint32{all, some, same, lane[x], lane[l^5], 0, 0, 0}
			if x%2 == 1 {
				line[5], line[6], line[7] = oddSum, oddMax, oddHigh
			}
			answers = append(answers, line...)
		}
	}
	return map[string]any{"out": out, "kept": kept, "answers": answers}
}

// streamsFiles makes eighths.
func streamsFiles() map[string]any {
	x := make([]float32, 16384)
	for i := range x {
		x[i] = float32(i*37%64) / 8
	}
	return map[string]any{"x.bin": x}
}

func streamsReference(*inputs) map[string]any {
	x := streamsFiles()["x.bin"].([]float32)
	y1, y2, x2 := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		v := float64(x[i])
		y2[i] = float64(i) + 1.5*v
		y1[i] = float64(i) + 0.75*v + 2*y2[i]
		x2[i] = v + 0.5*y1[i]
	}
	return map[string]any{"x1": x, "y1": y1, "y2": y2, "x2": x2}
}

func convolutionReference(in *inputs) map[string]any {
	const size, radius, limit = 128, 3, 60000
	pixel, filter := in.u8("in"), in.f32("filter")
	out := make([]float64, size*size)
	clipped := uint32(0)
	for y := range size {
		for x := range size {
			sum := 0
			for k, weight := range filter {
				sy, sx := y+k/7-radius, x+k%7-radius
				if sy >= 0 && sy < size && sx >= 0 && sx < size {
					sum += int(weight) * int(pixel[sy*size+sx])
				}
			}
			if sum > limit {
				sum = limit
				clipped++
			}
			out[y*size+x] = float64(sum)
		}
	}
	return map[string]any{"out": out, "clipped": []uint32{clipped}}
}

func sha256Reference(in *inputs) map[string]any {
	var out []uint32
	for message := range slices.Chunk(in.bytes("in", "u32"), 8) {
		digest := sha256.Sum256(message)
		for word := range slices.Chunk(digest[:], 4) {
			out = append(out, binary.LittleEndian.Uint32(word))
		}
	}
	return map[string]any{"out": out}
}

// blackScholesReference takes the normal distribution from the error function.
func blackScholesReference(in *inputs) map[string]any {
	rate, volatility := float64(float32(0.02)), float64(float32(0.3))
	normal := func(d float64) float64 { return 0.5 * math.Erfc(-d/math.Sqrt2) }
	price, strike, years := in.f32("price"), in.f32("strike"), in.f32("years")
	call, put := make([]float64, len(price)), make([]float64, len(price))
	for i, s := range price {
		x, t := strike[i], years[i]
		d1 := (math.Log(s/x) + (rate+volatility*volatility/2)*t) / (volatility * math.Sqrt(t))
		d2 := d1 - volatility*math.Sqrt(t)
		discounted := x * math.Exp(-rate*t)
		call[i] = s*normal(d1) - discounted*normal(d2)
		put[i] = discounted*normal(-d2) - s*normal(-d1)
	}
	return map[string]any{"call": call, "put": put}
}

// mandelbrotReference rounds each operation to single precision, as the kernel does.
func mandelbrotReference(*inputs) map[string]any {
	const width, height, most = 192, 128, 200
	count := make([]byte, width*height)
	for i := range count {
		cx, cy := float32(i%width)/64-2, float32(i/width)/64-1
		var x, y float32
		for count[i] < most {
			xx, yy := float32(x*x), float32(y*y)
			if float32(xx+yy) > 4 {
				break
			}
			x, y = float32(float32(xx-yy)+cx), float32(float32(float32(2*x)*y)+cy)
			count[i]++
		}
	}
	return map[string]any{"count": count}
}

func lookbackReference(in *inputs) map[string]any {
	v := in.u32("in")
	for i := 1; i < len(v); i++ {
		v[i] += v[i-1]
	}
	return map[string]any{"out": v, "ticket": []uint32{512}}
}

func gridsyncReference(in *inputs) map[string]any {
	v := in.u32("a")
	n := len(v)
	var before []uint32
	for range 40 {
		next := make([]uint32, n)
		for i := range next {
			next[i] = (v[(i+n-1)%n] + 2*v[i] + v[(i+1)%n]) / 4
		}
		before, v = v, next
	}
	return map[string]any{"a": v, "b": before, "arrived": []uint32{8 * 40}}
}

// nttReference evaluates the transform's definition, one sum for each point.
func nttReference(in *inputs) map[string]any {
	const n, p, w = 1024, 998244353, 258648936
	root := []uint64{1}
	for len(root) < n {
		root = append(root, root[len(root)-1]*w%p)
	}
	var out []uint32
	for v := range slices.Chunk(in.u32("data"), n) {
		for k := range n {
			var sum uint64
			for j, x := range v {
				sum += uint64(x) * root[j*k%n] % p
			}
			out = append(out, uint32(sum%p))
		}
	}
	half := make([]uint32, n/2)
	for k := range half {
		half[k] = uint32(root[k])
	}
	return map[string]any{"data": out, "root": half}
}

// halfLayersReference rounds after each product and sum; a product of two halves
// plus a half is exact in double precision here.
func halfLayersReference(in *inputs) map[string]any {
	v, a, b := in.f16("x"), in.f16("a"), in.f16("b")
	for i := range v {
		for r := range 8 {
			k := 2*r + i%2
			v[i] = max(floatFromHalf(halfFromFloat(v[i]*a[k]+b[k])), 0)
		}
	}
	return map[string]any{"y": v}
}

func byteProductReference(in *inputs) map[string]any {
	const n = 128
	a, b, c := in.bytes("a", "u32"), in.bytes("b", "u32"), make([]int32, n*n)
	for i := range c {
		for k := range n {
			c[i] += int32(int8(a[i/n*n+k])) * int32(int8(b[i%n*n+k]))
		}
	}
	return map[string]any{"c": c}
}

func heapReference(*inputs) map[string]any {
	out := make([]uint32, 4096)
	for i := range out {
		for r := range 4 {
			for k := i % 13; k >= 0; k-- {
				out[i] = out[i]*31 + uint32(i)*2654435761 + uint32(k+r)
			}
		}
	}
	return map[string]any{"out": out, "failed": []uint32{0}}
}

func mbarrierReference(in *inputs) map[string]any {
	const blocks, tiles, tile, consumers = 8, 64, 128, 96
	var out []uint32
	for b := range blocks {
		for me := range consumers {
			sum := uint32(me)
			for words := range slices.Chunk(in.u32("in")[b*tiles*tile:][:tiles*tile], tile) {
				for j := range 4 {
					sum = sum*31 + words[(me+32*j)%tile]
				}
			}
			out = append(out, sum)
		}
	}
	return map[string]any{"out": out}
}

func texrefReference(in *inputs) map[string]any {
	table, out := in.u32("words"), make([]uint32, 8192)
	for i := range out {
		out[i] = uint32(i)
		for range 32 {
			out[i] = table[out[i]%1024]
		}
	}
	return map[string]any{"out": out}
}
