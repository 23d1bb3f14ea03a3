#!/usr/bin/env bash
# Builds and runs programs outside this repository, and records the outcome of
# each in a table: bench/outside.sh LIST TABLE [NAME...]
#
# LIST has one program per line, in fields separated by tabs:
#
#   name  folder  build command  run command  what must appear
#
# The folder is relative to the list. Commands run there, in bash, with the
# heddle of this repository first on the path, also by the name nvcc. What must appear is an extended
# regular expression that a line of the run's output must match; without one
# the exit code decides. An empty build or run command is skipped. Lines that
# begin with # are comments. Given names, only those programs run.
#
# TABLE is written as tab-separated values: name, build, seconds, run, seconds,
# check, and the line that explains a failure. Rows of programs that did not run
# this time are kept. Complete outputs are stored in TABLE.d. Differences from the
# previous table are printed; the exit code is 1 if any row is worse than it was.
#
# JOBS (2) programs run concurrently; BUILD_LIMIT (300) and RUN_LIMIT (60)
# are seconds. STAGE=build or STAGE=run does only that half. BUILD and RUN replace
# empty commands of the list.
set -euo pipefail

if [ $# -lt 2 ] || [ ! -r "$1" ]; then
	echo "usage: bench/outside.sh LIST TABLE [NAME...]; the head of the script says what a LIST is" >&2
	exit 2
fi
list=$(realpath "$1") table=$(realpath -m "$2")
shift 2
home=$(realpath "$(dirname "$0")/..")
logs=$table.d
mkdir -p "$logs/bin" "$logs/rows"
(cd "$home" && go build -o "$logs/bin/heddle" ./cmd/heddle)
ln -sf heddle "$logs/bin/nvcc" # whose arguments it takes
export PATH="$logs/bin:$PATH" logs
export BUILD_LIMIT=${BUILD_LIMIT:-300} RUN_LIMIT=${RUN_LIMIT:-60} STAGE=${STAGE:-both}

# outcome CODE names the meaning of an exit code of timeout.
outcome() {
	case $1 in
	0) echo ok ;;
	124 | 137) echo "time limit" ;;
	*) echo "exit $1" ;;
	esac
}

# stage LIMIT LOG COMMAND runs a command and prints its outcome and seconds.
stage() {
	local start=$EPOCHREALTIME code=0
	timeout --kill-after=5 "$1" bash -c "$3" >"$2" 2>&1 </dev/null || code=$?
	printf '%s\t%.1f' "$(outcome $code)" "$(echo "$EPOCHREALTIME $start" | awk '{ print $1 - $2 }')"
}

# program LINE processes one line of the list and writes its row.
program() {
	local name folder build run expect built=$'-\t' ran=$'-\t' checked=- why=
	IFS=$'\x1f' read -r name folder build run expect <<<"${1//$'\t'/$'\x1f'}"
	build=${build:-${BUILD:-}} run=${run:-${RUN:-}}
	local row=$logs/rows/$name old=$'-\t\t-\t\t-\t'
	[ -r "$row" ] && old=$(cut -f2- "$row")
	if ! cd "$folder" 2>/dev/null; then
		built=$'no folder\t'
	else
		if [ -n "$build" ] && [ "$STAGE" != run ]; then
			built=$(stage "$BUILD_LIMIT" "$logs/$name.build" "$build")
		else
			built=$(cut -f1,2 <<<"$old")
		fi
		case $built in
		ok* | -*)
			if [ "$STAGE" = build ]; then
				ran=$(cut -f3,4 <<<"$old") checked=$(cut -f5 <<<"$old") why=$(cut -f6 <<<"$old")
			elif [ -n "$run" ]; then
				ran=$(stage "$RUN_LIMIT" "$logs/$name.run" "$run")
				if [ -n "$expect" ]; then
					checked=no
					grep -qE -- "$expect" "$logs/$name.run" && checked=yes
				fi
			fi
			;;
		esac
	fi
	case $built in ok* | -*) ;; *) why=$(grep -m1 -iE 'error|undefined|cannot|no such|not found' "$logs/$name.build" 2>/dev/null || tail -n1 "$logs/$name.build" 2>/dev/null) ;; esac
	case $ran in ok* | -*) ;; *) [ "$STAGE" = build ] || why=$(grep -m1 -iE 'heddle|error|fault|fail|cannot' "$logs/$name.run" 2>/dev/null || tail -n1 "$logs/$name.run" 2>/dev/null) ;; esac
	printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$built" "$ran" "$checked" "$(tr '\t\r' '  ' <<<"$why" | cut -c1-240)" >"$row"
	printf '%s\n' "$name: build $(cut -f1 <<<"$built"), run $(cut -f1 <<<"$ran"), check $checked" >&2
}
export -f program stage outcome

cd "$(dirname "$list")"
[ -r "$table" ] && cp "$table" "$table.before"
# tabulate writes the table of all rows, also if the script is interrupted.
tabulate() {
	{
		printf 'name\tbuild\tseconds\trun\tseconds\tcheck\twhy\n'
		grep -vE '^(#|[[:space:]]*$)' "$list" | cut -f1 | sort | while read -r name; do
			if [ -r "$logs/rows/$name" ]; then cat "$logs/rows/$name"; fi
		done
	} >"$table"
}
trap tabulate EXIT
# The CUDA runtime is built once, outside the time limits.
heddle cuda --quiet -- true >/dev/null 2>&1 || true
grep -vE '^(#|[[:space:]]*$)' "$list" |
	awk -F'\t' -v names=" $* " 'names == "  " || index(names, " " $1 " ")' |
	tr '\n' '\0' | xargs -0 -r -P "${JOBS:-2}" -I{} bash -c 'program "$1"' - {}

tabulate
awk -F'\t' 'NR > 1 { n++; b += $2 == "ok"; r += $4 == "ok"; y += $6 == "yes"; no += $6 == "no" }
	END { printf "%d programs: %d built, %d ran to their end, %d checks hold, %d do not\n", n, b, r, y, no }' "$table"
[ -r "$table.before" ] || exit 0
awk -F'\t' '
	function good(build, run, check) { return (build == "ok") + (run == "ok") + (check != "no") }
	NR == FNR { was[$1] = $2 ", " $4 ", " $6; worth[$1] = good($2, $4, $6); next }
	$1 in was && was[$1] != $2 ", " $4 ", " $6 {
		print $1 ": was " was[$1] "; is " $2 ", " $4 ", " $6
		worse += good($2, $4, $6) < worth[$1]
	}
	END { exit worse > 0 }' "$table.before" "$table"
