#!/usr/bin/env bash
# Prints what two threads gain over one: bench/threads.sh [GPU...]
#
# It runs every example's job on each GPU (rtx-2060 rtx-a6000) with one thread and with two, in
# turn, COUNT (3) times each. A line has the shortest wall time of the process with either, their
# ratio, and the ratio of processor time. Jobs whose first run takes less than LEAST (1) seconds
# are left out. The last line of a GPU has the geometric mean. Both cores must be idle.
set -euo pipefail
cd "$(dirname "$0")/.."
(($#)) || set -- rtx-2060 rtx-a6000

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/heddle" ./cmd/heddle
TIMEFORMAT='%R %U %S'

# once JOB GPU THREADS prints the wall time and the processor time of a run.
once() {
	{ time "$tmp/heddle" run "$1" --gpu "$2" --threads "$3" --quiet >"$tmp/messages" 2>&1; } 2>"$tmp/time" || {
		cat "$tmp/messages" >&2
		exit 1
	}
	awk '{ print $1, $2 + $3 }' "$tmp/time"
}

for gpu; do
	printf '%-12s %-14s %8s %8s %6s %10s\n' GPU job one two gain 'processor'
	for job in examples/*/*.toml; do
		name=$(basename "$job" .toml)
		[[ $job == examples/$name/$name.toml ]] || continue
		first=$(once "$job" "$gpu" 1)
		awk -v w="${first% *}" -v least="${LEAST:-1}" 'BEGIN { exit !(w >= least) }' || continue
		for ((i = 0; i < ${COUNT:-3}; i++)); do
			for t in 1 2; do echo "$t $(once "$job" "$gpu" "$t")"; done
		done | awk -v gpu="$gpu" -v name="$name" '
			!($1 in w) || $2 < w[$1] { w[$1] = $2 }
			!($1 in p) || $3 < p[$1] { p[$1] = $3 }
			END { printf "%-12s %-14s %8.2f %8.2f %6.2f %10.2f\n", gpu, name, w[1], w[2], w[1] / w[2], p[2] / p[1] }'
	done | tee "$tmp/rows"
	awk '{ s += log($5); n++ } END { if (n) printf "geometric mean of %d: %.2f\n", n, exp(s / n) }' "$tmp/rows"
done
