#!/usr/bin/env bash
# Prints how far sampled runs are off: for each job or CUDA program on each GPU its launches, those
# simulated (in part), the cycles of the whole and of the sampled run, the difference, the interval
# that the sampled run states, whether it holds the truth, and processor times; under it the same for each launch of which
# blocks were passed over. Arguments are
#   jobs, cuda            the jobs below, and the programs of examples/cuda; without arguments, both
#   FILE.toml             a job
#   FILE.cu, FOLDER       a CUDA program; of a folder with C++ all .cu become PTX, whose file the program gets as an argument
#   PROGRAM               a CUDA program that is built already
# the latter two with what the compiler and the program get, and a GPU that is the only one, in one word:
# "bench/waves.cu 2048 blur", "examples/cuda/pipeline -arch=sm_80 @rtx-a6000", "./gaussian -s 256".
# GPUS names the GPUs, LEVEL is launch or full, TARGET the error that is aimed at. A whole run that takes more than LIMIT seconds of processor
# time (120) has no row, and HEDDLE is a command that is built already. The last lines are about runs that were not simulated whole: of those
# that passed over launches only, of those that passed over blocks, and of all, the mean and the worst difference, how many intervals
# hold the truth, and the geometric mean of the factors of time.
set -euo pipefail
cd "$(dirname "$0")/.."

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
heddle=${HEDDLE:-}
[ -n "$heddle" ] || { heddle=$tmp/heddle && go build -o "$heddle" ./cmd/heddle; }
TIMEFORMAT=%U

jobs=(bench/waves.cu bench/solver.cu examples/{bfs/bfs,gaussian/gaussian,hotspot/hotspot,kmeans/kmeans,matmul/matmul,nbody/nbody,needle/needle,spmv/spmv,stencil3d/stencil3d,transpose/transpose,mandelbrot/mandelbrot}.toml)
# All but those that fault on purpose, those for the H100, and threads, whose host threads call in another order each time (whole runs differ
# by 0.1 %).
cuda=(examples/cuda/{constant,driver,events,graphs,half,hashtable,heap,histogram,managed,matmul,printf,scan,stencil,streams,textures,vecadd}
	"examples/cuda/pipeline -arch=sm_80 @rtx-a6000" "examples/cuda/rdc -rdc=true" "examples/cuda/wmma -arch=sm_75")
case "$*" in
"") set -- "${jobs[@]}" "${cuda[@]}" ;;
jobs) set -- "${jobs[@]}" ;;
cuda) set -- "${cuda[@]}" ;;
esac

# fail WHAT...: ends with what is wrong with $item, and what heddle and the program said.
fail() {
	echo "bench/sampling.sh: $item: $*" >&2
	cat "$tmp/messages" >&2
	exit 1
}

# compile SOURCE WORDS...: compiles a CUDA program, and sets how it runs: $verb and $what.
compile() {
	local source=$1 word sources=("$1") flags=() args=()
	shift
	for word; do
		case $word in
		-*) flags+=("$word") ;;
		*) args+=("$word") ;;
		esac
	done
	[ ! -d "$source" ] || sources=("$source"/*.cu)
	if [ -d "$source" ] && compgen -G "$source/*.cpp" >/dev/null; then
		"$heddle" cc -O2 --ptx "${sources[@]}" -o "$tmp/$name.ptx" 2>"$tmp/messages" || fail "does not compile"
		sources=("$source"/*.cpp) flags+=(-lcuda) args+=("$tmp/$name.ptx")
	fi
	"$heddle" cc -O2 "${sources[@]}" "${flags[@]}" -o "$tmp/$name" 2>"$tmp/messages" || fail "does not compile"
	verb=cuda what=(-- "$tmp/$name" "${args[@]}")
}

# The first CUDA program builds the runtime library, which no row is to measure.
item=libraries
case "$*" in *.cu* | *cuda/*) "$heddle" cuda --quiet -- true >/dev/null 2>"$tmp/messages" || fail "cannot be built" ;; esac

# seconds OUT FLAGS...: the user CPU seconds of a run of $what whose result goes to OUT.
seconds() {
	local out=$1
	shift
	{ time "$heddle" "$verb" --quiet --threads 1 --json "$out" "$@" "${what[@]}" >/dev/null 2>"$tmp/messages"; } 2>&1
}

# row: runs $what on $gpu, whole and sampled, and prints a row for both.
row() {
	local all part
	all=$(ulimit -t "${LIMIT:-120}" && seconds "$tmp/whole.json" --gpu "$gpu") || {
		[ $? -ge 128 ] || fail "cannot run on $gpu"
		echo "bench/sampling.sh: $item: on $gpu it takes more than ${LIMIT:-120} s" >&2
		return
	}
	jq -es 'any(.[]; .kernels | length > 0)' "$tmp/whole.json" >/dev/null || fail "launches no kernel on $gpu"
	part=$(seconds "$tmp/part.json" --gpu "$gpu" --sample "${LEVEL:-full}" --target-error "${TARGET:-2%}") || fail "cannot run sampled on $gpu"
	jq -rn --slurpfile a "$tmp/whole.json" --slurpfile b "$tmp/part.json" '
		$b[0].sampling as $s | ($s.timed_cycles + $s.estimated_cycles) as $n | ([$a[0].kernels[].cycles] | add) as $w |
		["", "\($s.timed) (\($s.timed_in_part)) of \($s.launches)", $w, $n, $n / $w, $s.margin_cycles / $n, (if ($n - $w | fabs) <= $s.margin_cycles then "yes" else "no" end)],
		(range($s.launches) | $a[0].kernels[.] as $x | $b[0].kernels[.] | select(.passed_blocks) |
			["  " + .name, "\(.blocks - .passed_blocks) of \(.blocks) blocks", $x.cycles, .cycles, .cycles / $x.cycles, -1, ""]) | @tsv' |
		awk -F '\t' -v program="$title" -v gpu="$gpu" -v all="$all" -v part="$part" '{
			printf "%-28s %-11s %22s %11d %11d %+7.2f%%", $1 == "" ? program : $1, gpu, $2, $3, $4, 100 * ($5 - 1)
			if ($6 >= 0) printf " %7.2f%% %5s %8.2f %8.2f %6.1f", 100 * $6, $7, part, all, all / (part > 0 ? part : 0.01)
			print ""
		}'
}

printf '%-28s %-11s %22s %11s %11s %8s %8s %5s %8s %8s %6s\n' program gpu simulated whole sampled off interval holds seconds of factor
for item in "$@"; do
	: >"$tmp/messages"
	read -ra words <<<"$item"
	gpus=${GPUS:-rtx-2060 rtx-a6000}
	for i in "${!words[@]}"; do
		case ${words[i]} in @*) gpus=${words[i]#@} && unset "words[$i]" ;; esac
	done
	words=("${words[@]}")
	name=$(basename "${words[0]%.*}")
	title=$name${words[2]:+ ${words[2]}}
	if [ "${words[0]##*.}" = toml ]; then
		verb=run what=("${words[0]}")
	elif [ -f "${words[0]}" ] && [ -x "${words[0]}" ]; then
		verb=cuda what=(-- "${words[@]}")
	else
		compile "${words[@]}"
	fi
	for gpu in $gpus; do row; done
done | tee "$tmp/table"
awk '
	function add(g, off, holds, factor) { n[g]++; sum[g] += off; if (off > worst[g]) worst[g] = off; if (holds == "yes") inside[g]++; log_sum[g] += log(factor > 0 ? factor : 0.1) }
	$0 !~ /^ / { off = $(NF-5) + 0; if (off < 0) off = -off
		if (off == 0 && $(NF-4) + 0 == 0) { whole++; next }
		add($0 ~ / \(0\) of / ? "launches" : "blocks", off, $(NF-3), $NF); add("all", off, $(NF-3), $NF) }
	END { printf "%d runs were simulated whole\n", whole
		for (i = split("launches blocks all", g, " "); i > 0; i--) { k = g[4-i]
			if (n[k]) printf "%s: %d runs, off by %.1f %% in the mean, %.1f %% at most; the interval holds the truth in %d (%.0f %%); %.1f times as fast (geometric mean)\n", k, n[k], sum[k] / n[k], worst[k], inside[k], 100 * inside[k] / n[k], exp(log_sum[k] / n[k]) } }' "$tmp/table"
