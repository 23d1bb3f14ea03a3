#!/usr/bin/env bash
# Prints what kernels of public programs take on a V100, and how far from it they are here in three forms: as PTX on
# v100 (SIMT core), as PTX with scoreboards on the modern core (bench/volta.toml), and there as machine code for
# sm_75 that heddle makes of the PTX. Arguments are programs that heddle cc has built (-arch=sm_70), each in one word
# with what it gets:
#
#   bench/volta.sh "./hotspot 1024 2 2 temp_1024 power_1024 out" ./SobolQRNG
#
# Of a kernel with many launches those count that --sample launch simulates; the mean of their cycles, without the
# latency of the launch and with flushed caches. HEDDLE is a command that is built already.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
if [ $# = 0 ]; then
	echo 'usage: bench/volta.sh "PROGRAM ARGUMENTS" ...' >&2
	exit 2
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
heddle=${HEDDLE:-}
[ -n "$heddle" ] || { heddle=$tmp/heddle && (cd "$here" && go build -o "$heddle" ./cmd/heddle); }

# Elapsed cycles of AccelWattch's kernels by parts of their names, by Nsight Compute on a Quadro V100 (Accel-Sim at 73f9fac, util/accelwattch).
cat >"$tmp/hardware" <<'END'
bpnn_layerforward_CUDA 23325
bpnn_adjust_weights_cuda 32578
findK 80883
findRangeK 66543
calculate_temp 56439
4srad 14252
CUDAkernel1DCT 24208
CUDAkernel2DCT 5823
fwtBatch2Kernel 120948
fwtBatch1Kernel 149488
17histogram64Kernel 146480
quasirandomGeneratorKernel 80627
inverseCNDKernel 58367
sobolGPU_kernel 112088
binomialOptionsKernel 1366301
mergeSortSharedKernel 439316
mergeElementaryIntervalsKernel 157457
mysgemmNT 358744
END

printf '%-40s %10s %10s %8s %10s %8s %10s %8s\n' kernel V100 v100 off PTX off code off
for item; do
	read -ra words <<<"$item"
	n=0
	for form in "v100 --code ptx" "$here/bench/volta.toml --code ptx" "$here/bench/volta.toml --code compiled"; do
		n=$((n + 1))
		# shellcheck disable=SC2086 # the form is several words
		"$heddle" cuda --quiet --threads 1 --gpu $form --sample launch -C run.caches=flushed -C run.launch_latency=0 --json "$tmp/$n.json" -- "${words[@]}" >"$tmp/messages" 2>&1 || {
			echo "bench/volta.sh: $item fails as $form:" >&2
			cat "$tmp/messages" >&2
			exit 1
		}
		jq -r '.kernels | map(select(.sampled | not)) | group_by(.name)[] | "\(.[0].name) \(map(.cycles) | add / length)"' "$tmp/$n.json" >"$tmp/$n"
	done
	awk 'FILENAME ~ /hardware$/ { real[$1] = $2; next }
		{ f = substr(FILENAME, length(FILENAME)); is[$1, f] = $2; if (f == 1) order[++count] = $1 }
		END {
			for (i = 1; i <= count; i++) {
				k = order[i]; r = 0
				for (h in real) if (index(k, h)) r = real[h]
				if (!r) continue
				printf "%-40.40s %10d", k, r
				for (f = 1; f <= 3; f++) printf " %10d %+7.1f%%", is[k, f], 100 * (is[k, f] / r - 1)
				print ""
			}
		}' "$tmp/hardware" "$tmp/1" "$tmp/2" "$tmp/3"
done
