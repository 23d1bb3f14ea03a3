#!/usr/bin/env bash
# Prints the cost of CUDA runtime calls on this machine: a whole program with one
# launch, from start to end; many empty launches; copies. The required bounds are
# printed beside them. Needs clang, Go and a C compiler.
set -euo pipefail
cd "$(dirname "$0")/.."

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/heddle" ./cmd/heddle
"$tmp/heddle" cc bench/cuda.cu -o "$tmp/program"
"$tmp/heddle" cuda --quiet --gpu rtx-2060 "$tmp/program" >/dev/null # builds the runtime

for mode in functional timing; do
	run=("$tmp/heddle" cuda --quiet --gpu rtx-2060 --mode "$mode" "$tmp/program")
	best=
	for _ in $(seq "${COUNT:-10}"); do
		start=$(date +%s%N)
		"${run[@]}" >/dev/null
		took=$(($(date +%s%N) - start))
		if [ -z "$best" ] || [ "$took" -lt "$best" ]; then best=$took; fi
	done
	awk -v m="$mode" -v t="$best" 'BEGIN { printf "%-10s  %-34s %10.3f s     (< 0.3)\n", m, "load, one launch, end", t / 1e9 }'
	"${run[@]}" 10000 | awk -v m="$mode" '
		/^launches/ { printf "%-10s  %-34s %10.3f s     %s\n", m, $2 " empty launches", $3, m == "functional" ? "(< 2)" : "" }
		/^copy/ { rate = $2; $1 = $2 = ""; printf "%-10s  %-34s %10.2f GB/s  (>= 1)\n", m, "copy of 256 MiB," $0, rate }'
done
