#!/usr/bin/env bash
# Checks the CUDA kernels of GPUVerify's test suite with concrete arguments, and prints a table:
# bench/gpuverify/run.sh SUITE TABLE [NAME...]
#
# SUITE is the folder testsuite/CUDA of github.com/mc-imperial/gpuverify. Its kernels have the size of
# their grid in a comment, and no host code: drive.cuh launches them, with integers of 0, 1, 2, 8 and the
# number of threads (1,024 where each runs alone), with buffers of zeros and of the numbers 0, 1, 2 ..., and for kernels that the suite
# expects to fail also with all pointers equal. They are compiled together by heddle cc -O0, so that no
# access is lost, each in a namespace of its own, and run by heddle check. Blocks above 1,024 threads,
# which no GPU has, are made smaller. Left out, with the reason in the table, are kernels that call a
# function without a body.
#
# TABLE has a line for each kernel, in fields separated by tabs: name, label of the suite, its reason,
# how many runs there were and how many of them within the kernel's preconditions, rules of errors and
# warnings, rules of notes, and what else there is to say. HEDDLE names a binary; without it one is built.
set -euo pipefail

if [ $# -lt 2 ] || [ ! -d "$1" ]; then
	echo "usage: bench/gpuverify/run.sh SUITE TABLE [NAME...]; the head of the script says what they are" >&2
	exit 2
fi
suite=$(realpath "$1") table=$(realpath -m "$2")
shift 2
here=$(realpath "$(dirname "$0")")
mkdir -p "$table.d"
if [ -z "${HEDDLE:-}" ]; then
	HEDDLE=$table.d/heddle
	(cd "$here/../.." && go build -o "$HEDDLE" ./cmd/heddle)
fi

# dimensions OPTION MOST prints the three sizes of --blockDim or --gridDim, their product at most MOST.
dimensions() {
	sed -nE "2s/.*--$1=\[?([0-9,]+)\]?.*/\1/p" "$source" | tr ',' ' ' | awk -v most="$2" '{
		split($0 " 1 1", d, " ")
		while (d[1] * d[2] * d[3] > most) { m = d[1] >= d[2] && d[1] >= d[3] ? 1 : d[2] >= d[3] ? 2 : 3; d[m] /= 2 }
		print d[1] ", " d[2] ", " d[3]
	}'
}

# kernel prints the name of the kernel.
kernel() { tr '\n\r' '  ' <"$source" | grep -oE '__global__[^({;]*\(' | grep -oE '[A-Za-z_0-9]+ *\($' | tr -d ' (' | head -1; }

# bodies END prints the functions of the device whose text has END after their arguments.
bodies() { tr '\n\r' '  ' <"$source" | grep -oE "__device__[^;{}()]*\([^;{}]*\)[^;{}()]*(\(\([a-z_]*\)\))? *$1" | grep -oE '[A-Za-z_0-9]+ *\(' | awk '{ sub(/ *\(/, ""); print }' | grep -v __attribute__ | sort -u; }

# unusable says why a kernel cannot be run.
unusable() {
	case $(sed -n 1p "$source") in *CLANG_ERROR*) echo "not C++"; return ;; esac
	! grep -q '#error' "$source" || { echo "tests the compiler"; return; }
	! grep -q curandStateMtgp32_t "$source" || { echo "uses MTGP32"; return; }
	! grep -qE '^char \*buffer;' "$source" || { echo "takes the address of a variable of the host"; return; }
	[ -n "$(kernel)" ] || { echo "no kernel"; return; }
	comm -23 <(bodies ';') <(bodies '\{') | grep -q . && echo "calls a function without a body"
	return 0
}

# included NUMBER prints what a kernel adds to the program.
included() {
	local pick defines
	defines=$(sed -n 2p "$source" | grep -oE -- '-D[A-Za-z_0-9]+=[0-9]+' | sed 's/^-D//; s/=/ /' || true)
	[ -z "$defines" ] || echo "#define $defines"
	echo "namespace k$1 {"
	echo "#include \"$source\""
	echo "}"
	if grep -qE '__global__.*funcType' "$source"; then
		pick=$(grep -oE '[fg] == *&?[A-Za-z]+' "$source" | head -1 | grep -oE '[A-Za-z]+$' || echo multiplyByTwo)
		echo "namespace k$1 { __device__ funcType chosen = $pick; }"
	fi
	sed -nE 's/^ *# *define +([A-Za-z_0-9]+).*/#undef \1/p' "$source"
	[ -z "$defines" ] || echo "#undef ${defines%% *}"
}

names=() sources=()
{
	echo "#include \"$here/drive.cuh\""
	while read -r source; do
		[ -z "$(unusable)" ] || continue
		included ${#names[@]}
		names+=("$(realpath --relative-to "$suite" "$(dirname "$source")")") sources+=("$source")
	done < <(find "$suite" -name kernel.cu | sort)
	echo "static const entry entries[] = {"
	for i in "${!names[@]}"; do
		source=${sources[i]} alias=0 chosen=nullptr
		! grep -qE '__global__.*funcType' "$source" || chosen="&k$i::chosen"
		case $(head -1 "$source") in *[xX][fF][aA][iI][lL]*) alias=1 ;; esac
		echo "{\"${names[i]}\", [](int argc, char **argv) { function = $chosen; run(k$i::$(kernel), dim3($(dimensions gridDim 65536)), dim3($(dimensions blockDim 1024)), $alias, argc, argv); }},"
	done
	cat <<-'END'
		};
		int main(int argc, char **argv) {
		  for (const entry &e : entries)
		    if (argc > 1 && !strcmp(argv[1], e.name))
		      e.run(argc, argv);
		}
	END
} >"$table.d/all.cu"
"$HEDDLE" cc -std=c++17 -O0 -g -w "$table.d/all.cu" -o "$table.d/app"

# checked REPORT ARGUMENTS... runs a kernel and prints what the driver says.
checked() { timeout "${LIMIT:-120}" "$HEDDLE" check --checkers races,memory,sync,init --keep-going --error-exitcode 0 --json "$1" -- "$table.d/app" "${@:2}" 2>"$1.err" </dev/null || echo "exit $?"; }

# rules LEVEL... prints the rules of the findings of these levels.
rules() { jq -r '.findings[] | select(.level as $l | $ARGS.positional | index($l)) | .rule' "${reports[@]}" --args "$@" 2>/dev/null | sort | uniq -c | awk '{ printf "%s%s (%s)", n++ ? ", " : "", $2, $1 }'; }

find "$suite" -name kernel.cu | sort | while read -r source; do
	name=$(realpath --relative-to "$suite" "$(dirname "$source")")
	[ $# = 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
	at=$table.d/${name//\//-}
	label=$(sed -n '1s/^\/\/\([^[:space:]]*\).*/\1/p' "$source")
	reason=$(sed -nE '3s/^\/\/(.*)/\1/p' "$source" | tr -d '\r\t')
	if [ -n "$(unusable)" ]; then
		printf '%s\t%s\t%s\t0 of 0\t\t\t%s\n' "$name" "$label" "$reason" "$(unusable)"
		continue
	fi
	reports=("$at.json")
	said=$(checked "$at.json" "$name")
	if grep -qvE '^cudaSuccess( assertion)?$' <<<"$said"; then # each run alone: one that fails ends the program, and
		reports=() said=''                                        # what is found outside of preconditions does not count
		aliases=0
		case ${label,,} in xfail*) aliases="0 1" ;; esac
		for alias in $aliases; do
			for data in 0 1; do
				for number in 0 1 2 8 1024; do
					report=$at.$number.$data.$alias.json
					line=$(checked "$report" "$name" $number $data $alias)
					said+=$line$'\n'
					[[ $line == *outside-contract* ]] || reports+=("$report")
				done
			done
		done
		said=${said%$'\n'}
	fi
	inside=$(grep -vc outside-contract <<<"$said" || true)
	printf '%s\t%s\t%s\t%s of %s\t%s\t%s\t%s\n' "$name" "$label" "$reason" "$inside" "$(wc -l <<<"$said")" \
		"$([ ${#reports[@]} = 0 ] || rules error warning)" "$([ ${#reports[@]} = 0 ] || rules note)" \
		"$(grep -vE '^cudaSuccess( outside-contract)?$' <<<"$said" | sort | uniq -c | awk '{ $1 = $1 ""; printf "%s%s", n++ ? ", " : "", $0 }')"
done >"$table"
