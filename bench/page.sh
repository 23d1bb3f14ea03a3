#!/usr/bin/env bash
# Prints what --html costs: user CPU seconds of five jobs without and with a page, by turns,
# their minima and medians of COUNT (9) runs, and the size of the page. They have one thread, as
# threads that wait for each other take CPU time, too. Arguments name other
# jobs; BEFORE=/path/to/heddle names an older build, whose costs are printed, too.
set -euo pipefail
cd "$(dirname "$0")/.."

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/heddle" ./cmd/heddle
[ $# -gt 0 ] || set -- examples/{vecadd/vecadd,nbody/nbody,matmul/matmul,sass/sgemm,learn/reduction}.toml
TIMEFORMAT=%U

# seconds HEDDLE JOB [FLAGS...]: the user CPU seconds of a run.
seconds() {
	local heddle=$1
	shift
	{ time "$heddle" run --quiet --threads 1 "$@" >/dev/null 2>&1; } 2>&1
}

# both FILE: the minimum and the median of the numbers in it.
both() { sort -n "$1" | awk '{ x[NR] = $1 } END { printf "%s %s\n", x[1], x[int((NR + 1) / 2)] }'; }

printf '%-34s %-7s %15s %15s %7s %7s %8s\n' job version 'without' 'with' min median 'page'
for job in "$@"; do
	"$tmp/heddle" run --quiet --html "$tmp/page.html" "$job" >/dev/null || exit # it says why
	for version in before now; do
		heddle=$tmp/heddle
		if [ "$version" = before ]; then heddle=${BEFORE:-}; fi
		[ -n "$heddle" ] || continue
		: >"$tmp/off"
		: >"$tmp/on"
		for i in $(seq "${COUNT:-9}"); do
			order=(off on)
			((i % 2)) || order=(on off)
			for side in "${order[@]}"; do
				flags=()
				[ "$side" = off ] || flags=(--html "$tmp/page.html")
				seconds "$heddle" "$job" "${flags[@]}" >>"$tmp/$side"
			done
		done
		echo "$(both "$tmp/off") $(both "$tmp/on") $(stat -c %s "$tmp/page.html")" | awk -v job="$job" -v version="$version" '{
			printf "%-34s %-7s %7.3f %7.3f %7.3f %7.3f %6.1f%% %6.1f%% %5d kB\n", job, version, $1, $2, $3, $4, ($3 / $1 - 1) * 100, ($4 / $2 - 1) * 100, $5 / 1000
		}'
	done
done
