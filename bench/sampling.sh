#!/usr/bin/env bash
# Prints how far sampled runs are off: for each job or CUDA program on each GPU its launches, those
# simulated (in part), the cycles of the whole and of the sampled run, the difference, the interval
# that the sampled run states, and processor times; under it the same for each launch of which blocks
# were passed over. Arguments: jobs and CUDA sources, the latter with arguments in one word ("bench/waves.cu 2048 blur");
# GPUS names the GPUs, LEVEL is launch or full. The last line has the mean and the worst difference, how many intervals hold
# the truth, and the geometric mean of the factors of time, each of runs that were not simulated whole.
set -euo pipefail
cd "$(dirname "$0")/.."

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/heddle" ./cmd/heddle
[ $# -gt 0 ] || set -- bench/waves.cu bench/solver.cu examples/{bfs/bfs,gaussian/gaussian,hotspot/hotspot,kmeans/kmeans,matmul/matmul,nbody/nbody,needle/needle,spmv/spmv,stencil3d/stencil3d,transpose/transpose,mandelbrot/mandelbrot}.toml
TIMEFORMAT=%U

# fail WHAT...: ends with what is wrong with $item, and what heddle and the program said.
fail() {
	echo "bench/sampling.sh: $item: $*" >&2
	cat "$tmp/messages" >&2
	exit 1
}

# The first CUDA program builds the runtime library, which no row is to measure.
item=libraries
case "$*" in *.cu*) "$tmp/heddle" cuda --quiet -- true >/dev/null 2>"$tmp/messages" || fail "cannot be built" ;; esac

# seconds OUT FLAGS...: the user CPU seconds of a run of $what whose result goes to OUT.
seconds() {
	local out=$1
	shift
	{ time "$tmp/heddle" "$verb" --quiet --threads 1 --json "$out" "$@" "${what[@]}" >/dev/null 2>"$tmp/messages"; } 2>&1
}

printf '%-28s %-11s %22s %11s %11s %8s %8s %8s %8s\n' program gpu simulated whole sampled off interval seconds of
for item in "$@"; do
	: >"$tmp/messages"
	read -ra words <<<"$item"
	program=${words[0]}
	name=$(basename "${program%.*}")
	verb=run what=("$program")
	if [ "${program##*.}" = cu ]; then
		"$tmp/heddle" cc -O2 -o "$tmp/$name" "$program" 2>"$tmp/messages" || fail "does not compile"
		verb=cuda what=(-- "$tmp/$name" "${words[@]:1}")
	fi
	for gpu in ${GPUS:-rtx-2060 rtx-a6000}; do
		all=$(seconds "$tmp/whole.json" --gpu "$gpu") || fail "cannot run on $gpu"
		jq -es 'any(.[]; .kernels | length > 0)' "$tmp/whole.json" >/dev/null || fail "launches no kernel on $gpu"
		part=$(seconds "$tmp/part.json" --gpu "$gpu" --sample "${LEVEL:-full}" --target-error "${TARGET:-2%}") || fail "cannot run sampled on $gpu"
		jq -rn --slurpfile a "$tmp/whole.json" --slurpfile b "$tmp/part.json" '
			$b[0].sampling as $s | ($s.timed_cycles + $s.estimated_cycles) as $n | ([$a[0].kernels[].cycles] | add) as $w |
			["", "\($s.timed) (\($s.timed_in_part)) of \($s.launches)", $w, $n, $n / $w, $s.margin_cycles / $n],
			(range($s.launches) | $a[0].kernels[.] as $x | $b[0].kernels[.] | select(.passed_blocks) |
				["  " + .name, "\(.blocks - .passed_blocks) of \(.blocks) blocks", $x.cycles, .cycles, .cycles / $x.cycles, -1]) | @tsv' |
			awk -F '\t' -v program="$name${words[2]:+ ${words[2]}}" -v gpu="$gpu" -v all="$all" -v part="$part" '{
				printf "%-28s %-11s %22s %11d %11d %+7.2f%%", $1 == "" ? program : $1, gpu, $2, $3, $4, 100 * ($5 - 1)
				if ($6 >= 0) printf " %7.2f%% %8.2f %8.2f", 100 * $6, part, all
				print ""
			}'
	done
done | tee "$tmp/table"
awk '$0 !~ /^ / { off = $(NF-3) + 0; if (off < 0) off = -off; if (off == 0 && $(NF-2) + 0 == 0) next
	n++; sum += off; if (off > worst) worst = off; if (off <= $(NF-2) + 0) inside++; log_sum += log($NF / $(NF-1)) }
	END { if (n) printf "%d runs: off by %.1f %% in the mean, %.1f %% at most; the interval holds the truth in %d; %.1f times as fast (geometric mean)\n", n, sum / n, worst, inside, exp(log_sum / n) }' "$tmp/table"
