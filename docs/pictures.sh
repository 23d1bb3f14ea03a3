#!/usr/bin/env bash
# Draws the pictures of the README: docs/pictures/report.svg, the report of a run as a
# terminal shows it, and docs/pictures/page-*.png, pages in Chromium, and of docs/sweeps.md:
# docs/pictures/sweep.png, the report of a sweep.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p docs/pictures

command='heddle run examples/reduction/reduction.toml --gpu rtx-2060'
text=$(
	echo "\$ $command"
	go run ./cmd/$command
)
awk -v size=13 -v line=18 -v wide="$(LC_ALL=C.UTF-8 wc -L <<<"$text")" '
	{
		gsub(/&/, "\\&amp;"); gsub(/</, "\\&lt;"); gsub(/>/, "\\&gt;")
		text[NR] = $0
	}
	END {
		w = wide * size * 0.6 + 40; h = NR * line + 36
		printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n", w, h, w, h
		printf "<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#0d1117\"/>\n"
		printf "<g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace\" font-size=\"%d\" fill=\"#c9d1d9\">\n", size
		for (i = 1; i <= NR; i++) {
			fill = ""
			if (i == 1) fill = " fill=\"#7ee787\""
			else if (text[i] ~ /^(launch|what warps did|memory|hottest lines|check) /) fill = " fill=\"#79c0ff\""
			printf "<text x=\"20\" y=\"%d\" xml:space=\"preserve\"%s>%s</text>\n", 26 + (i - 1) * line, fill, text[i]
		}
		print "</g>\n</svg>"
	}' <<<"$text" >docs/pictures/report.svg

pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
HEDDLE_ALL=1 HEDDLE_PAGE_PICTURES=$pages go test -count=1 -run 'TestPages/matmul' ./internal/view
cp "$pages/matmul-launch-0-source-light-1280.png" docs/pictures/page-source.png
HEDDLE_ALL=1 HEDDLE_GALLERY_PICTURES="$PWD/docs/pictures" go test -count=1 -run 'TestGallery$' ./internal/view
go run ./cmd/heddle sweep examples/sweep.toml --store "$pages/sweep.store" --html "$pages/sweep.html" --quiet
HEDDLE_SWEEP_PAGE=$pages/sweep.html HEDDLE_SWEEP_PICTURE="$PWD/docs/pictures/sweep.png" go test -count=1 -run 'TestSweepPicture' ./internal/view
