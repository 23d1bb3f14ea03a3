#!/usr/bin/env bash
# Writes cmd/heddle/default.pgo, the profile by which Go optimises heddle and the CUDA
# runtime (go.dev/doc/pgo): go build takes it by its name, heddle names it when it builds
# the runtime. It is of the benchmarks, the examples and the recorded traces. Results do
# not depend on it. Run it when what the cycle loop does has changed much.
set -euo pipefail
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

profile() { # NAME PACKAGE FLAGS...
	local name=$1 package=$2
	shift 2
	go test -trimpath -pgo off -c -o "$tmp/$name.test" "$package"
	(cd "$package" && "$tmp/$name.test" -test.cpuprofile "$tmp/$name.prof" "$@" >"$tmp/$name.log") || {
		tail -n 20 "$tmp/$name.log"
		exit 1
	}
}
profile bench ./bench -test.run '^$' -test.bench . -test.benchtime "${BENCHTIME:-3s}"
profile examples ./examples
profile traces ./internal/work/tracerun
go tool pprof -proto -output cmd/heddle/default.pgo "$tmp"/*.prof
ls -l cmd/heddle/default.pgo
