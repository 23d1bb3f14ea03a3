#!/usr/bin/env bash
# Prints how much of a GPU's peak products of 1024 x 1024 matrices reach with Heddle's
# cuBLAS in timing mode, in f32 and in f16 with f32 sums: the table in docs/libraries.md. An
# argument selects GPUs, as in bench/gemm.sh 'h100|v100'. Minutes for each GPU.
set -euo pipefail
cd "$(dirname "$0")/.."
HEDDLE_ALL=1 go test ./internal/libs/blas -run "TestGemmPeak/${1:-.}" -v -timeout 4h -args -peaks | grep -E '^ +(peak_test|---)'
