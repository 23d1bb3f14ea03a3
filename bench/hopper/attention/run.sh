#!/usr/bin/env bash
# Prints what FlashAttention-3's forward pass takes on h100-sxm at 1500 MHz, beside an H100 SXM: the table of
# docs/hopper.md.
#
#   bench/hopper/attention/run.sh FLASH CUTLASS [CASE...]
#
# FLASH and CUTLASS are clones of github.com/Dao-AILab/flash-attention (0251105) and github.com/NVIDIA/cutlass
# (7107b05). A case is BATCHxTOKENSxHEADSxDIM with f or c (full, causal) after it; without one the four of batch 16 run.
# HEDDLE is a command that is built already, HEDDLE_CLANG the compiler (clang 22). Needs jq.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 2 ]; then
	echo "usage: bench/hopper/attention/run.sh FLASH CUTLASS [16x512x32x64f ...]" >&2
	exit 2
fi
flash=$1 cutlass=$2
shift 2
[ $# -gt 0 ] || set -- 16x512x32x64f 16x512x32x64c 16x512x16x128f 16x512x16x128c
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
heddle=${HEDDLE:-}
[ -n "$heddle" ] || { heddle=$tmp/heddle && (cd "$here" && go build -o "$heddle" ../../../cmd/heddle); }

# Microseconds at 1500 MHz by Nsight Compute with cold caches (FlashGPU-Sim); two collections of batch 16.
hardware() {
	case $1 in
	64x512x32x64f) echo 465.92 ;; 64x512x32x64c) echo 336.45 ;; 64x512x16x128f) echo 268.26 ;; 64x512x16x128c) echo 244.06 ;;
	32x1024x32x64f) echo 804.06 ;; 32x1024x32x64c) echo 515.3 ;; 32x1024x16x128f) echo 457.6 ;; 32x1024x16x128c) echo 305.12 ;;
	16x2048x32x64f) echo 1240 ;; 16x2048x32x64c) echo 734.4 ;; 16x2048x16x128f) echo 842.72 ;; 16x2048x16x128c) echo 470.14 ;;
	8x4096x32x64f) echo 2350 ;; 8x4096x32x64c) echo 1300 ;; 8x4096x16x128f) echo 1610 ;; 8x4096x16x128c) echo 841.18 ;;
	4x8192x32x64f) echo 4380 ;; 4x8192x32x64c) echo 2330 ;; 4x8192x16x128f) echo 3110 ;; 4x8192x16x128c) echo 1590 ;;
	16x512x32x64f) echo 124.93 119.392 ;; 16x512x32x64c) echo 93.09 88.16 ;; 16x512x16x128f) echo 75.84 71.712 ;; 16x512x16x128c) echo 66.98 65.312 ;;
	*) echo "$1 was not measured" >&2; exit 2 ;;
	esac
}

printf '| case | hardware | model | |\n| --- | ---: | ---: | ---: |\n'
for name in "$@"; do
	hardware "$name" >"$tmp/hardware"
	IFS=x read -r batch tokens heads dim <<<"${name%[fc]}"
	if [ ! -e "$tmp/forward$dim" ]; then
		"$heddle" cc -arch=sm_90a -std=c++17 -O3 -DNDEBUG -DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED "-DCUTLASS_GRID_CONSTANT=__attribute__((grid_constant))" \
			"-DDIM=$dim" "-I$flash/hopper" "-I$cutlass/include" "$here/forward.cu" -o "$tmp/forward$dim" -lcuda 2>"$tmp/log" || { cat "$tmp/log" >&2; exit 1; }
	fi
	causal=0
	[[ $name == *c ]] && causal=1
	"$heddle" cuda --quiet --gpu h100-sxm -C clocks.core=1500 -C clocks.l2=1500 -C clocks.noc=3000 -C run.caches=flushed --json "$tmp/json" -- \
		"$tmp/forward$dim" "$batch" "$tokens" "$heads" "$causal" >"$tmp/log" || { cat "$tmp/log" >&2; exit 1; }
	model=$(jq '[.kernels[].cycles] | max' "$tmp/json")
	awk -v name="$name" -v model="$model" '
		{ for (i = 1; i <= NF; i++) { h = h (i > 1 ? ", " : "") int($i * 1500 + .5); d = d (i > 1 ? ", " : "") sprintf("%+.1f %%", 100 * (model / $i / 1500 - 1)) } }
		END { printf "| %s | %s | %d | %s |\n", name, h, model, d }' "$tmp/hardware"
done
