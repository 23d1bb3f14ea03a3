#!/usr/bin/env bash
# Compares what two builds of heddle compute: bench/same.sh OLD NEW [PATTERN]
#
# OLD and NEW are programs or commits. Both run every example on every GPU and
# every core model, the recorded traces, the Kepler-style core's jobs and the CUDA
# examples, and their JSON results (cycles, counters, checks; not the seconds) and
# exit codes must be identical byte for byte. Differences are printed, with the
# first lines of each; the exit code is 1 if there are any. PATTERN is an extended
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

# Every run is a line: a name, then the arguments of heddle after the flags that
# all have.
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
	done < <(find examples -name '*.toml' -not -path '*/out/*' | sort)
	for archive in testdata/traces/*.tar.xz; do
		tar -C "$tmp" -xf "$archive"
		name=$(basename "$archive" .tar.xz)
		for gpu in "${gpus[@]}"; do echo "trace/$name/$gpu run $tmp/$name --gpu $gpu"; done
	done
	for source in examples/cuda/*/*.cu; do
		name=$(basename "$(dirname "$source")")
		# Programs of one file. The host threads of one race for the device.
		[ "$(find "examples/cuda/$name" -name '*.cu' -o -name '*.cpp' | wc -l)" = 1 ] && [ "$name" != threads ] || continue
		"$tmp/new/heddle" cc -O2 "$source" -o "$tmp/cuda-$name" -lcuda >"$tmp/cuda-$name.log" 2>&1 || { echo "examples/cuda/$name does not compile" >&2; continue; }
		for gpu in rtx-2060 rtx-a6000; do echo "cuda/$name/$gpu cuda --gpu $gpu $tmp/cuda-$name"; done
		echo "cuda/$name/functional cuda --mode functional $tmp/cuda-$name"
	done
} | grep -E "^[^ ]*($pattern)" >"$tmp/runs" || { echo "no run matches $pattern" >&2; exit 2; }

# one LINE runs a line with both builds and reports whether they differ.
one() {
	local name verb rest side
	read -r name verb rest <<<"$1"
	local at=$tmp/results/$name
	mkdir -p "$at"
	for side in old new; do
		local code=0
		# shellcheck disable=SC2086 # the arguments are words
		"$tmp/$side/heddle" $verb --quiet --progress never --json "$at/json" $rest >"$at/out" 2>&1 </dev/null || code=$?
		{
			echo "exit code $code"
			if [ -r "$at/json" ]; then grep -vE '^  "(seconds|heddle|commit)":' "$at/json"; else cat "$at/out"; fi
		} >"$at/$side"
		rm -f "$at/json" "$at/out"
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
