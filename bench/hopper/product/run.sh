#!/usr/bin/env bash
# Prints what products of matrices as Triton's take on h200, beside an H200: the table of docs/hopper.md.
#
#   bench/hopper/product/run.sh [MxNxK...]
#
# Without a shape all four run. HEDDLE is a command that is built already, HEDDLE_CLANG the compiler. Needs jq.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- 2048x2048x8192 512x16384x2048 512x16384x512 256x8192x2048
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
heddle=${HEDDLE:-}
[ -n "$heddle" ] || { heddle=$tmp/heddle && (cd "$here" && go build -o "$heddle" ../../../cmd/heddle); }

# Events around a launch after another one, in cycles at 1785 MHz (FlashGPU-Sim, unicast).
hardware() {
	case $1 in 2048x2048x8192) echo 316616 ;; 512x16384x2048) echo 198720 ;; 512x16384x512) echo 72371 ;; 256x8192x2048) echo 101616 ;;
	*) echo "$1 was not measured" >&2; exit 2 ;; esac
}

"$heddle" cc -arch=sm_90a -O2 -std=c++17 "$here/product.cu" -o "$tmp/product" -lcuda
printf '| M x N x K | hardware | model | |\n| --- | ---: | ---: | ---: |\n'
for shape in "$@"; do
	measured=$(hardware "$shape")
	"$heddle" cuda --quiet --gpu h200 --json "$tmp/json" -- "$tmp/product" ${shape//x/ } >"$tmp/log" || { cat "$tmp/log" >&2; exit 1; }
	model=$(jq '.kernels[1].cycles' "$tmp/json")
	awk -v shape="$shape" -v model="$model" -v hardware="$measured" 'BEGIN { printf "| %s | %d | %d | %+.0f %% |\n", shape, hardware, model, 100 * (model / hardware - 1) }'
done
