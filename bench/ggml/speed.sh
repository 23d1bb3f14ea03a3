#!/usr/bin/env bash
# Prints how fast machine code runs on this computer, on one thread: ggml's matrix products by their PTX
# and by their sm_86 machine code, functional and with cycles. The required bounds are printed
# beside the figures. Compare figures of a quiet machine only.
#
#   bench/ggml/speed.sh                     the best of three runs each
#   COUNT=10 bench/ggml/speed.sh            of ten
#   FILTER='mul_mat type=f16' bench/ggml/speed.sh   of other cases
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if [ -z "${HEDDLE:-}" ]; then
	export HEDDLE=$tmp/heddle
	(cd "$here" && go build -o "$HEDDLE" ../../cmd/heddle)
fi

# rate MODE CODE prints warp instructions and the seconds of the fastest run.
rate() {
	local best= n s
	for _ in $(seq "${COUNT:-3}"); do
		THREADS=1 JSON=$tmp/json MODE=$1 CODE=$2 "$here/run.sh" --filter "${FILTER:-mul_mat type=q4}" >"$tmp/log" 2>&1 || { cat "$tmp/log" >&2; exit 1; }
		n=$(sed -n 's/^  "warp_instructions": \([0-9]*\),$/\1/p' "$tmp/json")
		s=$(sed -n 's/^  "seconds": \([0-9.]*\),$/\1/p' "$tmp/json")
		best=$(awk -v a="${best:-$s}" -v b="$s" 'BEGIN { print (b < a ? b : a) }')
	done
	echo "$n $best"
}

show() { printf '%-12s %-14s %12d warp instructions %8.2f s %8.0f thousand a second  %s\n' "$@"; }

for mode in functional timing; do
	read -r n s <<<"$(rate $mode ptx)"
	ptx=$(awk -v n="$n" -v s="$s" 'BEGIN { print n / s / 1000 }')
	show $mode PTX "$n" "$s" "$ptx" ""
	read -r n s <<<"$(rate $mode sass)"
	code=$(awk -v n="$n" -v s="$s" 'BEGIN { print n / s / 1000 }')
	case $mode in
	functional) bound=$(awk -v c="$code" -v p="$ptx" 'BEGIN { printf "%.0f %% of PTX (>= 80 %%)", 100 * c / p }') ;;
	timing) bound="(>= 400)" ;;
	esac
	show $mode "machine code" "$n" "$s" "$code" "$bound"
done
