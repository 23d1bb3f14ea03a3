#!/usr/bin/env bash
# Prints how long whole processes take to replay traces, one thread, beside
# Accel-Sim's figures for the same traces and the same GPU (RTX 2060): user seconds and
# peak memory of its process on two shared cores, which are not measured here.
set -euo pipefail
cd "$(dirname "$0")/.."

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/heddle" ./cmd/heddle

printf '%-30s %8s %10s %10s %10s %8s %10s %12s\n' trace kernels 'CPU s' 'Accel-Sim' times 'MB' 'Accel-Sim' 'warp instr/s'
while read -r name kernels cpu mb; do
	tar -C "$tmp" -xf "testdata/traces/$name.tar.xz"
	best=
	for _ in 1 2 3 4 5; do
		"$tmp/heddle" run "$tmp/$name" --gpu rtx-2060 --threads 1 --quiet --progress never --json "$tmp/result" >/dev/null & # its own child, so that times are its own
		pid=$!
		peak=0
		while kill -0 "$pid" 2>/dev/null; do
			kb=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null || true)
			[ -n "$kb" ] && [ "$kb" -gt "$peak" ] && peak=$kb
			sleep 0.01
		done
		wait "$pid"
		TIMEFORMAT='%U %S'
		used=$({ time "$tmp/heddle" run "$tmp/$name" --gpu rtx-2060 --threads 1 --quiet --progress never >/dev/null; } 2>&1 | awk '{ print $1 + $2 }')
		if [ -z "$best" ] || awk "BEGIN { exit !($used < $best) }"; then best=$used; fi
	done
	insts=$(awk -F'[:,]' '/^  "warp_instructions"/ { print $2 + 0 }' "$tmp/result")
	awk -v n="$name" -v k="$kernels" -v c="$best" -v a="$cpu" -v p="$peak" -v m="$mb" -v w="$insts" 'BEGIN {
		printf "%-30s %8d %10.2f %10.1f %9.0fx %8.0f %10d %12.0f\n", n, k, c, a, a / c, p / 1024, m, w / c }'
done <<'END'
mgpusim-bfs-rodinia-2.0-ft 16 9.92 150
mgpusim-dataset_debug 33 17.37 139
mgpusim-simple-trace-example 1 1.84 159
END
