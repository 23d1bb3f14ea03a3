#!/usr/bin/env bash
# Prints the cost of the programs of bench/ladder, kernel by kernel: cycles, and the
# number of PTX instructions that touch local memory, which should be zero.
# BEFORE=/path/to/heddle names an older build, whose numbers are printed beside
# these. HEDDLE_CLANG names the compiler, GPU the GPU (rtx-3090).
set -euo pipefail
cd "$(dirname "$0")/.."

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/heddle" ./cmd/heddle

# measure HEDDLE FILE: a line for each kernel, in the order of launches.
measure() {
	for program in gemm stencil reduce; do
		"$1" cc -w -arch=sm_80 "bench/ladder/$program.cu" -o "$tmp/$program"
		"$1" cc -w -arch=sm_80 --ptx "bench/ladder/$program.cu" -o "$tmp/$program.ptx"
		"$1" cuda --quiet --gpu "${GPU:-rtx-3090}" --json "$tmp/$program.json" "$tmp/$program" >/dev/null
		awk '
			FILENAME ~ /ptx$/ && /\.entry/ { name = $3; sub(/\(.*/, "", name); order[name] = 0 }
			FILENAME ~ /ptx$/ && /[ \t](ld|st)\.local/ { order[name]++ }
			FILENAME ~ /json$/ && /^      "name":/ { kernel = $2; gsub(/[",]/, "", kernel) }
			FILENAME ~ /json$/ && /^      "cycles":/ {
				cycles = $2; sub(/,/, "", cycles)
				match(kernel, /^_Z[0-9]+/)
				short = substr(kernel, RLENGTH + 1, substr(kernel, 3, RLENGTH - 2))
				print short, cycles, order[kernel]
			}' "$tmp/$program.ptx" "$tmp/$program.json"
	done >"$2"
}

measure "$tmp/heddle" "$tmp/now"
if [ -n "${BEFORE:-}" ]; then
	measure "$BEFORE" "$tmp/before"
	join -j 1 -o 0,2.2,2.3,1.2,1.3 <(cat -n "$tmp/now" | awk '{print $2, $3, $4}') "$tmp/before" --nocheck-order |
		awk 'BEGIN { printf "%-16s %12s %7s %12s %7s\n", "kernel", "before", "local", "cycles", "local" } { printf "%-16s %12d %7d %12d %7d\n", $1, $2, $3, $4, $5 }'
else
	awk 'BEGIN { printf "%-16s %12s %7s\n", "kernel", "cycles", "local" } { printf "%-16s %12d %7d\n", $1, $2, $3 }' "$tmp/now"
fi
