#!/bin/sh
# Remakes every .ptx of the examples from its .cu. Nobody needs this to run them:
# the results are kept beside the sources. Needs clang 19 or later with the NVPTX
# back end, and nothing else.
#
#   ./compile.sh            all of them
#   ./compile.sh NAME...    only the examples of these names
#
# CLANG names the compiler, OUT a folder for the results other than this one.
set -eu
cd "$(dirname "$0")"
CLANG=${CLANG:-clang-19}
OUT=${OUT:-$PWD}

# compile FOLDER/FILE ARCH PTX [further options of clang]
compile() {
  folder=${1%/*} file=${1#*/} arch=$2 ptx=$3
  shift 3
  case " $wanted " in "  " | *" $folder "*) ;; *) return 0 ;; esac
  mkdir -p "$OUT/$folder"
  (cd "$folder" && "$CLANG" -x cuda --cuda-device-only --cuda-gpu-arch="$arch" \
    -Xclang -target-feature -Xclang "+$ptx" -nocudainc -nocudalib -O2 -S -std=c++17 \
    -Wall -Wno-unknown-cuda-version -fdebug-compilation-dir=. "$@" -o "$OUT/$folder/$file.ptx" "$file.cu")
}

wanted=${*:-}
compile bfs/bfs sm_60 ptx60
compile bitonic/bitonic sm_70 ptx64
compile blackscholes/blackscholes sm_75 ptx65
compile collatz/collatz sm_70 ptx64 -gline-tables-only
compile compact/compact sm_80 ptx75
compile convolution/convolution sm_60 ptx60
compile cp-async/cp-async sm_80 ptx75
compile dp4a/dp4a sm_75 ptx65
compile funcptr/funcptr sm_70 ptx64
compile gaussian/gaussian sm_60 ptx60
compile gridsync/gridsync sm_70 ptx64
compile half2/half2 sm_80 ptx75
compile heap/heap sm_75 ptx65
compile histogram/histogram sm_70 ptx64
compile hotspot/hotspot sm_70 ptx64
compile kmeans/kmeans sm_60 ptx60
compile lookback/lookback sm_70 ptx64
compile lud/lud sm_60 ptx60
compile mandelbrot/mandelbrot sm_90 ptx83 -ffp-contract=off
compile matmul/matmul sm_70 ptx64 -gline-tables-only
compile mbarrier/mbarrier sm_80 ptx75
compile mma-gemm/mma-gemm sm_80 ptx75
compile nbody/nbody sm_80 ptx75
compile needle/needle sm_60 ptx60
compile ntt/ntt sm_60 ptx60
compile pathfinder/pathfinder sm_70 ptx64
compile polybench/polybench sm_90 ptx83
compile printf/printf sm_75 ptx65
compile recursion/recursion sm_80 ptx75
compile reduction/reduction sm_90 ptx83
compile scan/scan sm_60 ptx60
compile sha256/sha256 sm_70 ptx64
compile spinlock/spinlock sm_70 ptx64 -gline-tables-only
compile spmv/spmv sm_70 ptx64
compile stencil3d/stencil3d sm_80 ptx75
compile streams/streams sm_60 ptx60
compile texture/texture sm_75 ptx65
compile transpose/transpose sm_70 ptx64
compile two-files/library sm_70 ptx64 -fgpu-rdc
compile two-files/two-files sm_70 ptx64 -fgpu-rdc
compile vecadd/vecadd sm_80 ptx75 -gline-tables-only
