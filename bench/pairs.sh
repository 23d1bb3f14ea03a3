#!/usr/bin/env bash
# Compares the speed of two versions, pairwise in one run: bench/pairs.sh OLD NEW [PATTERN]
#
# OLD and NEW are folders of clones. The benchmarks of ./bench whose names match
# PATTERN (a Go regular expression; all by default) run in turn, old and new, COUNT (5)
# times each for BENCHTIME (1s). Printed are the best speeds of both, in thousands of
# instructions a second where a benchmark has them and in runs a second where not, and
# new divided by old: 1.00 is the same speed, less is slower. The machine must do
# nothing else.
set -euo pipefail

if [ $# -lt 2 ] || [ ! -d "$1/bench" ] || [ ! -d "$2/bench" ]; then
	echo "usage: bench/pairs.sh OLD NEW [PATTERN]; OLD and NEW are folders of clones" >&2
	exit 2
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for side in old new; do
	clone=$1
	[ "$side" = new ] && clone=$2
	realpath "$clone" >"$tmp/$side.at"
	(cd "$clone" && go test -c -o "$tmp/$side" ./bench)
done
for i in $(seq "${COUNT:-5}"); do
	# The side that goes first changes: it finds the caches as the other left them.
	order=(old new)
	((i % 2)) || order=(new old)
	for side in "${order[@]}"; do
		(cd "$(cat "$tmp/$side.at")/bench" && "$tmp/$side" -test.run '^$' -test.bench "${3:-.}" -test.benchtime "${BENCHTIME:-1s}") |
			awk -v side="$side" '/^Benchmark/ {
				name = $1; sub(/-[0-9]+$/, "", name); sub(/^Benchmark/, "", name)
				rate = 0
				for (i = 3; i < NF; i += 2) {
					if ($(i + 1) == "ns/op" && !rate) rate = 1e9 / $i
					if ($(i + 1) ~ /instr\/s$/) rate = $i * 1000
				}
				print name, side, rate
			}' >>"$tmp/rates"
	done
done
awk '{ if ($3 > best[$1, $2]) best[$1, $2] = $3; if (!seen[$1]++) order[++n] = $1 }
	END {
		printf "%-44s %14s %14s %8s\n", "benchmark", "old", "new", "new/old"
		for (i = 1; i <= n; i++) {
			b = order[i]; o = best[b, "old"]; w = best[b, "new"]
			if (o && w) printf "%-44s %14.1f %14.1f %8.2f\n", b, o, w, w / o
		}
	}' "$tmp/rates"
