#!/usr/bin/env bash
# Compares what two builds of heddle compute: bench/same.sh OLD NEW [PATTERN]
#
# OLD and NEW are programs or commits. Both run, with these names:
#   EXAMPLE/GPU ...           every example on every GPU and every core model
#   trace/TRACE/GPU           the recorded traces on every GPU
#   gpgpusim/JOB/CONFIG-L2    the reference runs of GPGPU-Sim, with all its counters
#   accelsim/TRACE/CONFIG     those of Accel-Sim
#   hardware/PROBE-WARPS      the probes of measurements on hardware, cycle by cycle
#   kepler-case/CASE          the recorded cases of the Kepler-style core
#   cuda/EXAMPLE/GPU          the CUDA examples
# Their JSON results (cycles, counters, checks; not the seconds), what they print, their
# timelines and exit codes must be identical byte for byte. Differences are printed, with
# the first lines of each; the exit code is 1 if there are any. PATTERN is an extended
# regular expression that selects runs by their name. JOBS (2) run concurrently.
set -euo pipefail

if [ $# -lt 2 ]; then
	echo "usage: bench/same.sh OLD NEW [PATTERN], where OLD and NEW are programs or commits" >&2
	exit 2
fi
pattern=${3:-.}
old=$1 new=$2
[ -x "$old" ] && old=$(realpath "$old")
[ -x "$new" ] && new=$(realpath "$new")
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
export tmp
trap 'rm -rf "$tmp"' EXIT

# build SIDE WHAT puts a build into its own folder.
build() {
	mkdir -p "$tmp/$1"
	if [ -x "$2" ]; then
		ln -s "$2" "$tmp/$1/heddle"
		return
	fi
	git rev-parse --verify --quiet "$2^{commit}" >/dev/null || { echo "$2 is neither a program nor a commit" >&2; exit 2; }
	mkdir "$tmp/$1/source"
	git archive "$2" | tar -x -C "$tmp/$1/source"
	(cd "$tmp/$1/source" && go build -buildvcs=false -o ../heddle ./cmd/heddle)
}
build old "$old"
build new "$new"

# probe FILE KERNEL THREADS writes a job that launches a kernel of SASS twice, the second
# time with its code in the caches.
probe() {
	local launch="[[launches]]
kernel = \"$2\"
grid = [1, 1, 1]
block = [$3, 1, 1]
args = [{ buffer = \"out\" }]"
	printf 'program = "%s"\n[buffers.out]\ntype = "u32"\ncount = 128\n%s\n%s\n' "$1" "$launch" "$launch"
}

# selected passes on the lines of the runs that PATTERN selects.
selected() { grep -E "^[^ ]*($pattern)"; }

# cuda NAME FILE... compiles an example.
cuda() {
	local name=$1
	shift
	"$tmp/new/heddle" cc -O2 "$@" -o "$tmp/cuda-$name" >"$tmp/cuda-$name.log" 2>&1 || { echo "examples/cuda/$name does not compile" >&2; return 1; }
}

# Every run is a line: a name, then the arguments of heddle after the flags that
# all have. TIMELINE is a file for the timeline.
reference=testdata/reference
{
	mapfile -t gpus < <("$tmp/new/heddle" gpus | awk 'NR > 1 && $2 != "kepler" { print $1 }')
	while read -r job; do
		name=${job#examples/}
		name=${name%.toml}
		if grep -qE '^\s*programs?\s*=.*\.kasm"' "$job"; then
			echo "$name run $job"
			continue
		fi
		echo "$name/functional run $job --mode functional"
		for gpu in "${gpus[@]}"; do echo "$name/$gpu run $job --gpu $gpu"; done
		for core in simt modern; do echo "$name/rtx-3070-$core run $job --gpu rtx-3070 --core $core"; done
		echo "$name/flushed run $job --gpu rtx-2060 -C run.caches=flushed -C run.copies=timed"
	done < <(find examples -mindepth 2 -name '*.toml' -not -path '*/out/*' | sort)
	for archive in testdata/traces/*.tar.xz; do
		tar -C "$tmp" -xf "$archive"
		name=$(basename "$archive" .tar.xz)
		for gpu in "${gpus[@]}"; do echo "trace/$name/$gpu run $tmp/$name --gpu $gpu"; done
	done
	for config in SM2_GTX480 SM7_QV100 SM75_RTX2060; do # those of runs.csv
		for job in $reference/gpgpusim/*.toml; do
			for warm in false true; do
				echo "gpgpusim/$(basename "$job" .toml)/$config-$([ $warm = true ] && echo warm || echo cold) run $job --gpu $reference/configs/$config/gpgpusim.config -C run.copies_fill_l2=$warm --accel-sim-stats"
			done
		done
	done
	for config in "$reference"/configs/*/; do
		[ -r "$config/trace.config" ] || continue
		for archive in testdata/traces/*.tar.xz; do
			name=$(basename "$archive" .tar.xz)
			echo "accelsim/$name/$(basename "$config") run $tmp/$name --gpu ${config%/}/gpgpusim.config --accel-sim-stats"
		done
	done
	mkdir "$tmp/probes"
	cp internal/truth/testdata/*.sass "$tmp/probes"
	for file in "$tmp"/probes/*.sass; do
		name=$(basename "$file")
		for kernel in $(sed -n 's/^\.kernel //p' "$file"); do
			for warps in 1 4; do
				probe "$name" "$kernel" $((32 * warps)) >"${file%.sass}-$kernel-$warps.toml"
				echo "hardware/${name%.sass}-$kernel-$warps run ${file%.sass}-$kernel-$warps.toml --gpu rtx-a6000 --core modern -C chip.clusters=1 -C modern.keep_code=true --max-cycles 1000000 --timeline TIMELINE"
			done
		done
	done
	cases=internal/work/kcase/testdata
	for case in $cases/programs/*.json; do echo "kepler-case/$(basename "$case" .json) run $case"; done
	if command -v zstd >/dev/null; then
		zstd -dcq $cases/random.jsonl.zst | split -l 1 -d -a 3 --additional-suffix=.json - "$tmp/random-"
		for case in "$tmp"/random-*.json; do
			echo "kepler-case/$(basename "$case" .json) run $case"
		done
	else
		echo "no zstd: the random cases of the Kepler-style core are left out" >&2
	fi
	for folder in examples/cuda/*/; do
		name=$(basename "$folder")
		arguments=
		printf "cuda/$name/%s\n" rtx-2060 rtx-a6000 functional | selected >/dev/null || continue
		case $name in
		threads) continue ;; # its host threads race for the device
		driver)
			cuda driver "$folder"driver.cpp -lcuda && "$tmp/new/heddle" cc -O2 --ptx "$folder"saxpy.cu -o "$tmp/saxpy.ptx" || continue
			arguments=" $tmp/saxpy.ptx"
			;;
		rdc) cuda rdc -rdc=true "$folder"*.cu || continue ;;
		pipeline) cuda pipeline -arch=sm_80 "$folder"*.cu || continue ;;
		wmma) cuda wmma -arch=sm_75 "$folder"*.cu || continue ;;
		*) cuda "$name" "$folder"*.cu -lcuda || continue ;;
		esac
		for gpu in rtx-2060 rtx-a6000; do echo "cuda/$name/$gpu cuda --gpu $gpu $tmp/cuda-$name$arguments"; done
		echo "cuda/$name/functional cuda --mode functional $tmp/cuda-$name$arguments"
	done
} | selected >"$tmp/runs" || { echo "no run matches $pattern" >&2; exit 2; }

# one LINE runs a line with both builds and reports whether they differ.
one() {
	local name verb rest side
	read -r name verb rest <<<"$1"
	local at=$tmp/results/$name
	mkdir -p "$at"
	rest=${rest//TIMELINE/$at/timeline.kanata}
	for side in old new; do
		local code=0
		# shellcheck disable=SC2086 # the arguments are words
		"$tmp/$side/heddle" $verb --quiet --progress never --json "$at/json" $rest >"$at/out" 2>&1 </dev/null || code=$?
		{
			echo "exit code $code"
			# Less what depends on the clock, and the message of the first CUDA program.
			grep -vE '^heddle: building the CUDA runtime|^(done|stopped) in |^gp?gpu_(total_sim|simulation)_(rate|time)|^gpgpu_silicon_slowdown' "$at/out" || true
			if [ -r "$at/json" ]; then grep -vE '^  "(seconds|heddle|commit)":' "$at/json"; fi
			if [ -r "$at/timeline.kanata" ]; then cat "$at/timeline.kanata"; fi
		} >"$at/$side"
		rm -f "$at/json" "$at/out" "$at/timeline.kanata"
	done
	if cmp -s "$at/old" "$at/new"; then
		echo "$name" >>"$tmp/equal"
		rm -r "$at"
		return
	fi
	printf 'differs: %s\n' "$name"
	diff "$at/old" "$at/new" | head -n "${LINES_SHOWN:-8}" | cut -c1-200
	echo "$name" >>"$tmp/differ"
}
export -f one
touch "$tmp/equal" "$tmp/differ"
tr '\n' '\0' <"$tmp/runs" | xargs -0 -P "${JOBS:-2}" -I{} bash -c 'one "$1"' - {}
printf '%d runs: %d equal, %d differ\n' "$(wc -l <"$tmp/runs")" "$(wc -l <"$tmp/equal")" "$(wc -l <"$tmp/differ")"
[ ! -s "$tmp/differ" ]
