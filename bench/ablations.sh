#!/usr/bin/env bash
# Prints cycles of the SASS study kernels with parts of the modern core removed
# or enlarged. The code is in the level-1 instruction cache, and the launch takes
# no time.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/heddle" ./cmd/heddle

# row KERNEL [KEY=VALUE...]
row() {
	local kernel=$1 flags=()
	shift
	for key in "$@"; do flags+=(-C "$key"); done
	"$bin/heddle" run "examples/sass/$kernel.toml" --gpu rtx-a6000 --quiet --json "$bin/out.json" \
		-C run.launch_latency=0 -C run.icache=warm "${flags[@]}" >/dev/null 2>&1
	printf '%-10s %-56s %10s\n' "$kernel" "${*:-unchanged}" \
		"$(awk 'match($0, /"cycles": *[0-9]+/) { print substr($0, RSTART + 9, RLENGTH - 9) + 0; exit }' "$bin/out.json")"
}

printf '%-10s %-56s %10s\n' kernel changed cycles
for kernel in maxflops sgemm; do
	row "$kernel"
	row "$kernel" modern.rfc=false
	row "$kernel" modern.ports=2
	row "$kernel" modern.ports=2 modern.rfc=false
done
for n in 0 1 2 4 8 16 32; do row straight "modern.prefetch=$n"; done
row straight modern.perfect_icache=true
for n in 1 3 63; do row sgemm modern.dependences=scoreboard "modern.consumers=$n"; done
row chase
row collatz
row reduction
