#!/usr/bin/env bash
# Prints what checkers cost: bench/checkers.sh [HEDDLE]
#
# For ten examples, the processor time (user, the least of COUNT runs, 3) of a functional run
# on one thread without checkers, and how many times as long it takes with each, with memory and a
# page, and with coverage, with their geometric means. Launches are repeated so that the start of the program counts for little.
set -euo pipefail
heddle=${1:-}
[ -n "$heddle" ] && heddle=$(realpath "$heddle")
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if [ -z "$heddle" ]; then
	heddle=$tmp/heddle
	go build -o "$heddle" ./cmd/heddle
fi

# repeated NAME TIMES writes the job of an example with its launches repeated, without checks.
repeated() {
	mkdir "$tmp/$1"
	ln -s "$PWD/examples/$1"/* "$tmp/$1/"
	awk -v times="$2" '
		/^\[/ || /^launches = \[/ { part = /^\[\[launches/ ? 1 : /^\[\[checks/ ? 2 : /^launches/ ? 3 : 0 }
		part == 1 { list = list $0 "\n" }
		part == 3 && /^  / { list = list $0 "\n"; next }
		part == 3 && /^\]/ { for (i = 0; i < times; i++) printf "%s", list; list = ""; part = 0 }
		part == 0 || part == 3
		END { for (i = 0; i < times; i++) printf "%s", list }' "examples/$1/$1.toml" >"$tmp/$1/repeated.toml"
}

# took COMMAND... prints the processor time of the fastest run. What a checker finds is no
# failure here; any other exit code is.
took() {
	local best='' user code TIMEFORMAT=%U
	for _ in $(seq "${COUNT:-3}"); do
		user=$({ time "$@" >"$tmp/log" 2>&1 || { code=$?; [ "$code" -le 1 ] || { cat "$tmp/log" >"$tmp/failed"; }; }; } 2>&1)
		[ ! -e "$tmp/failed" ] || { cat "$tmp/failed" >&2; return 1; }
		best=$(printf '%s\n' $best "$user" | sort -g | head -1)
	done
	echo "$best"
}

for example in mbarrier:40 spinlock:4 histogram:20 bitonic:20 matmul:20 hotspot:8 convolution:20 cp-async:20 nbody:8 needle:20; do
	name=${example%:*}
	repeated "$name" "${example#*:}"
	run=("$heddle" run --threads 1 --mode functional --quiet "$tmp/$name/repeated.toml")
	row="$name $(took "${run[@]}")"
	for checker in memory init races sync lint perf; do
		row+=" $(took "${run[@]}" --check "$checker")"
	done
	row+=" $(took "${run[@]}" --check memory --html "$tmp/page.html")"
	echo "$row $(took "${run[@]}" --coverage "$tmp/lcov")"
done | awk '
	BEGIN { printf "%-12s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "example", "off, s", "memory", "init", "races", "sync", "lint", "perf", "page", "coverage" }
	{
		printf "%-12s %8.2f", $1, $2
		for (i = 3; i <= 10; i++) { printf " %7.2fx", $i / $2; sum[i] += log($i / $2) }
		printf "\n"
	}
	END {
		printf "%-12s %8s", "geomean", ""
		for (i = 3; i <= 10; i++) printf " %7.2fx", exp(sum[i] / NR)
		printf "\n"
	}'
