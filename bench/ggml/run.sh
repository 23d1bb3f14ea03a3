#!/usr/bin/env bash
# Computes operations of ggml, the library of llama.cpp, on the CPU and on a simulated GPU,
# and compares the results: the CUDA backend of the npm package node-llama-cpp, as nvcc
# built it.
#
#   bench/ggml/run.sh                             every case of cases.txt, functional, on an RTX A6000
#   bench/ggml/run.sh --filter 'mul_mat type=q4'  only cases that contain the text
#   bench/ggml/run.sh --part 1/10                 every tenth
#   GPU=h100-pcie MODE=timing bench/ggml/run.sh   another GPU, with cycles
#   REPORT=1 bench/ggml/run.sh                    with the report of all kernels
#   CODE=sass bench/ggml/run.sh                   by the machine code of NVIDIA's compiler, or CODE=ptx
#   CHECK=hazards MODE=timing bench/ggml/run.sh   with a checker
#   JSON=FILE MODE=timing bench/ggml/run.sh       with all counters in a file
#   SET=KEY=VALUE bench/ggml/run.sh               with a value of the configuration
#   THREADS=1 bench/ggml/run.sh                   on one thread
#   CASES=FILE bench/ggml/run.sh                  other cases
#
# One line per case: its name, the normalised mean squared error and its bound; then a
# summary. It ends with 0 if all are right, with 1 if not, with 77 if the package cannot be
# had. It needs Go, a C compiler and npm; the package (143 MB) is kept in the user's cache.
# PACKAGE=FOLDER takes another one; HEDDLE=FILE a built heddle.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

package=@node-llama-cpp/linux-x64-cuda
version=3.22.1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/heddle
folder=${PACKAGE:-$cache/ggml-$version}
libraries=$folder/package/bins/linux-x64-cuda

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if [ ! -e "$libraries/libggml-cuda.so" ]; then
	if [ -n "${PACKAGE:-}" ]; then
		echo "$libraries has no libggml-cuda.so: PACKAGE names the folder where the archive of $package was unpacked" >&2
		exit 2
	fi
	mkdir -p "$cache"
	new=$(mktemp -d "$cache/ggml-new-XXXXXX")
	trap 'rm -rf "$tmp" "$new"' EXIT
	if ! (cd "$new" && npm pack --silent "$package@$version" && tar xzf ./*.tgz && rm ./*.tgz) >"$tmp/log" 2>&1; then
		echo "npm pack $package@$version failed: $(tail -n 1 "$tmp/log")" >&2
		exit 77
	fi
	mv -T "$new" "$folder" 2>/dev/null || true # another process may have been first
fi

if [ -z "${HEDDLE:-}" ]; then
	HEDDLE=$tmp/heddle
	(cd "$here" && go build -o "$HEDDLE" ../../cmd/heddle)
fi
"${CC:-cc}" -O2 -Wall -Wextra -o "$tmp/compare" "$here/compare/compare.c" "$libraries/libggml-base.so" -ldl -lm -Wl,-rpath,"$libraries"
quiet=--quiet
[ -z "${REPORT:-}" ] || quiet=
# ggml takes some choices from the environment: here it shall have none.
unset "${!GGML_@}"
"$HEDDLE" cuda $quiet ${SET:+-C "$SET"} ${THREADS:+--threads "$THREADS"} ${CHECK:+--check "$CHECK"} ${JSON:+--json "$JSON"} --code "${CODE:-auto}" --mode "${MODE:-functional}" --gpu "${GPU:-rtx-a6000}" -- "$tmp/compare" "$@" "$libraries" "${CASES:-$here/cases.txt}"
