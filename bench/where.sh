#!/usr/bin/env bash
# Prints where a simulated cycle's time goes, by component: bench/where.sh [PATTERN]
#
# PATTERN is a Go regular expression that selects benchmarks of BenchmarkMemory, such as
# bfs/rtx-2060; by default it is all of them. Each runs for BENCHTIME (2s) with a CPU
# profile. A line has the nanoseconds of host time per core cycle of the chip, and the
# shares of the components in percent; a function that was inlined counts for the package
# that it is from.
set -euo pipefail
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go test -pgo ../cmd/heddle/default.pgo -c -o "$tmp/bench" .
printf '%-24s %9s' input ns/cycle
printf ' %7s' SMs exec caches network slices DRAM chip runtime other
echo
for name in bfs kmeans spmv hotspot stencil3d transpose; do
	for gpu in rtx-2060 rtx-a6000 h100-pcie; do
		[[ $name/$gpu =~ ${1:-.} ]] || continue
		"$tmp/bench" -test.run '^$' -test.bench "Memory/$name/$gpu" -test.benchtime "${BENCHTIME:-2s}" -test.cpu 1 -test.cpuprofile "$tmp/prof" >"$tmp/out"
		cycles=$(awk '/^Benchmark/ { for (i = 3; i < NF; i++) if ($(i + 1) == "Mcycles/s") print $i }' "$tmp/out")
		go tool pprof -top -nodecount 100000 -nodefraction 0 "$tmp/bench" "$tmp/prof" 2>/dev/null |
			awk -v name="$name/$gpu" -v cycles="$cycles" '
				/flat%/ { on = 1; next }
				on {
					t = $1; u = t; sub(/[0-9.]+/, "", u)
					t += 0
					if (u == "ms") t /= 1000
					if (u == "mins") t *= 60
					f = $6; c = "other"
					if (f ~ /internal\/core/) c = "SMs"
					else if (f ~ /internal\/exec|internal\/isa/) c = "exec"
					else if (f ~ /mem\/cache/) c = "caches"
					else if (f ~ /mem\/noc/) c = "network"
					else if (f ~ /mem\/(part|system)/) c = "slices"
					else if (f ~ /mem\/dram/) c = "DRAM"
					else if (f ~ /internal\/gpu/) c = "chip"
					else if (f ~ /^runtime|^internal\/runtime|memeqbody/) c = "runtime"
					s[c] += t; all += t
				}
				END {
					printf "%-24s %9.0f", name, 1000 / cycles
					n = split("SMs exec caches network slices DRAM chip runtime other", list)
					for (i = 1; i <= n; i++) printf " %7.1f", 100 * s[list[i]] / all
					print ""
				}'
	done
done
