#!/usr/bin/env bash
# Writes the model, generates 32 tokens on the CPU and on the simulated GPU, and one token in
# timing mode. It ends with 0 if the logits agree, with 77 if the packages cannot be had. It
# needs Node.js 20 and npm; the packages (265 MB) are kept in the user's cache. HEDDLE=FILE
# is a built heddle, GPU=NAME another GPU.
set -euo pipefail
cd "$(dirname "$0")"

folder=${XDG_CACHE_HOME:-$HOME/.cache}/heddle/llm-$(sha256sum package.json | cut -c1-16)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if [ -z "${HEDDLE:-}" ]; then
	HEDDLE=$tmp/heddle
	go build -o "$HEDDLE" ../../cmd/heddle
fi
if [ ! -e "$folder" ]; then
	mkdir -p "$(dirname "$folder")"
	new=$(mktemp -d "$folder-new-XXXXXX")
	trap 'rm -rf "$tmp" "$new"' EXIT
	cp package.json "$new"
	# The other packages are those of other systems, and compilers for a build from source.
	if ! npm install --prefix "$new" --no-audit --no-fund --omit=optional --ignore-scripts >"$tmp/log" 2>&1; then
		echo "npm install failed: $(tail -n 1 "$tmp/log")" >&2
		exit 77
	fi
	mv -T "$new" "$folder" 2>/dev/null || true # another process may have been first
fi
cp model.mjs chat.mjs "$tmp"
ln -s "$folder/node_modules" "$tmp/node_modules"
cd "$tmp"

gpu=(--gpu "${GPU:-rtx-a6000}")
node model.mjs model.gguf
node chat.mjs model.gguf --cpu --save cpu.json
"$HEDDLE" cuda --quiet "${gpu[@]}" --mode functional -- node chat.mjs model.gguf --check cpu.json --save functional.json
"$HEDDLE" cuda "${gpu[@]}" --mode timing -- node chat.mjs model.gguf --check cpu.json --tokens 1 --save timing.json
# A timing run computes the same bits.
node -e '
const [all, one] = ["functional.json", "timing.json"].map((f) => JSON.parse(require("fs").readFileSync(f)));
if (JSON.stringify(all[0]) !== JSON.stringify(one[0])) { console.error("the logits of the timing run differ from those of the functional run"); process.exit(1); }'
