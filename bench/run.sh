#!/usr/bin/env bash
# Prints how fast Heddle is on this machine: instructions per second on one
# thread, and the time of a whole process. Times depend on the machine and its
# load; quote the best of several runs.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/heddle" ./cmd/heddle

printf '%-34s %16s %16s %12s\n' benchmark 'Mthread-instr/s' 'Mwarp-instr/s' allocs/op
go test -run '^$' -bench . -benchtime "${BENCHTIME:-2s}" -count "${COUNT:-3}" ./bench |
	awk '/^Benchmark/ {
		name = $1; sub(/-[0-9]+$/, "", name); sub(/^Benchmark/, "", name)
		for (i = 3; i < NF; i += 2) v[$(i + 1)] = $i
		printf "%-34s %16.1f %16.2f %12d\n", name, v["Mthread-instr/s"], v["Mwarp-instr/s"], v["allocs/op"]
	}'

# GPGPU-Sim 4.2.0 on the same jobs and the same GPU: warp instructions per
# user second of its process, on two shared cores. They are not measured here.
printf '%-34s %16s %16s\n' 'GPGPU-Sim, jobs of TimingAll' - 0.010 \
	'GPGPU-Sim, job of TimingMatmulTiled' - 0.031 'GPGPU-Sim, job of TimingCopy' - 0.007

printf '\n%-34s %16s\n' 'whole process' seconds
for _ in 1 2 3; do
	start=$(date +%s%N)
	"$bin/heddle" run examples/vecadd/vecadd.toml --mode functional --quiet >/dev/null
	end=$(date +%s%N)
	awk -v ns=$((end - start)) 'BEGIN { printf "%-34s %16.3f\n", "vecadd, 2^20 elements", ns / 1e9 }'
done
