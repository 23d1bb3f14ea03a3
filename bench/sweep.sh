#!/usr/bin/env bash
# Prints what a sweep costs beyond its runs, and the most memory of all its processes:
# bench/sweep.sh [MEMORY]
#
# 200 points: two jobs, a trace and a CUDA program, on five GPUs with five sizes of the L2 and two
# schedulers. The overhead is the wall-clock time of the sweep, one point at a time, over the sum
# of the times of its points. MEMORY (1 GiB) is the limit of a second run with all cores, whose
# processes are watched by ps. The CUDA program needs clang.
set -euo pipefail
limit=${1:-1 GiB}
cd "$(dirname "$0")/.."
root=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/heddle" ./cmd/heddle
cat >"$tmp/add.cu" <<'CU'
__global__ void add(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += threadIdx.x; }
int main()
{
	int *x;
	cudaMalloc(&x, 1 << 18);
	add<<<256, 256>>>(x);
	return cudaDeviceSynchronize() != cudaSuccess;
}
CU
"$tmp/heddle" cc -O2 "$tmp/add.cu" -o "$tmp/add"
"$tmp/heddle" cuda --mode functional --quiet -- "$tmp/add" # builds the runtime
cat >"$tmp/sweep.toml" <<TOML
inputs = ["$root/testdata/reference/gpgpusim/vecadd.toml", "$root/examples/learn/reduction.toml", "$root/internal/trace/text/testdata/lud", { cuda = ["./add"] }]
gpus = ["rtx-2060", "rtx-a6000", "rtx-3070", "v100", "h100-pcie"]
[axes]
"l2.ways" = [4, 8, 16, 24, 32]
"simt.scheduler" = ["lrr", "gto"]
[set]
core = "simt"
TOML
cd "$tmp"
TIMEFORMAT=%R
wall=$({ time ./heddle sweep sweep.toml --jobs 1 --quiet 2>"$tmp/said"; } 2>&1)
cat "$tmp/said"
sum=$(./heddle sweep query --format csv 'SELECT sum(seconds) FROM runs' | tail -1)
awk -v wall="$wall" -v sum="$sum" 'BEGIN { printf "one at a time: %.1f s, its points %.1f s: %.1f %% more\n", wall, sum, (wall / sum - 1) * 100 }'

printf '[limits]\nmemory = "%s"\n' "$limit" >>sweep.toml
./heddle sweep sweep.toml --store other.store --quiet 2>"$tmp/said" &
most=0
while kill -0 $! 2>/dev/null; do
	now=$(ps -eo pgid,ppid,rss,args | awk -v self="$tmp" 'index($0, self) || /\.\/add$/ { sum += $3 } END { print sum + 0 }')
	[ "$now" -le "$most" ] || most=$now
	sleep 0.2
done
wait $!
cat "$tmp/said"
printf 'with a limit of %s: at most %d MiB at a time\n' "$limit" $((most / 1024))
./heddle sweep diff sweep.store other.store
