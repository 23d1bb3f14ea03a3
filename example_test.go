package heddle_test

import (
	"context"
	"fmt"
	"log"

	"github.com/heddle-sim/heddle"
)

// A Go program that adds two vectors on the simulated GPU.
func Example() {
	prog, err := heddle.Load("examples/vecadd/vecadd.ptx")
	check(err)
	gpu, err := heddle.New(prog)
	check(err)

	n := 1000
	x, y := make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i] = float32(i), 0.5
	}
	a, err := heddle.Upload(gpu, "a", x)
	check(err)
	b, err := heddle.Upload(gpu, "b", y)
	check(err)
	c, err := gpu.Alloc(4*n, "c")
	check(err)

	stats, err := gpu.Launch(context.Background(), "vecadd", heddle.Dim(4), heddle.Dim(256), a, b, c, n)
	check(err)
	sum, err := heddle.Download[float32](gpu, c, n)
	check(err)
	fmt.Println(sum[0], sum[1], sum[999])
	fmt.Println(stats.Blocks, "blocks")
	// Output:
	// 0.5 1.5 999.5
	// 4 blocks
}

// A job file does the same without a program.
func ExampleRunJob() {
	res, err := heddle.RunJob(context.Background(), "examples/vecadd/vecadd.toml", heddle.JobOptions{})
	check(err)
	for _, k := range res.Kernels {
		fmt.Println(k.Name, k.Grid, k.Block)
	}
	fmt.Println("checks hold:", res.OK)
	// Output:
	// vecadd [4096 1 1] [256 1 1]
	// checks hold: true
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
