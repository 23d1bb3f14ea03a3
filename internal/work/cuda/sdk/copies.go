package sdk

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// SplitCopies rewrites LLVM IR, as text before optimisation, so that structs that a
// function only passes on (float4 next[2], from global to shared memory) are copied by
// loads and stores. Clang uses memcpy for such a copy, and LLVM keeps a variable that
// only memcpy accesses in memory if it is larger than every integer of the target: arrays
// of float4 stayed in local memory. Variables with accesses to their members do not
// change, because LLVM knows their types.
func SplitCopies(ir []byte) []byte {
	var out bytes.Buffer
	for len(ir) > 0 {
		at := bytes.Index(ir, []byte("\ndefine "))
		if at < 0 {
			break
		}
		end := bytes.Index(ir[at:], []byte("\n}\n"))
		if end < 0 {
			break
		}
		out.Write(ir[:at+1])
		splitFunction(&out, string(ir[at+1:at+end+1]))
		ir = ir[at+end+1:]
	}
	out.Write(ir)
	return out.Bytes()
}

var (
	irValue = regexp.MustCompile(`%(?:"[^"]*"|[-\w$.]+)`)
	// irDerived is a line whose value is an address derived from another.
	irDerived = regexp.MustCompile(`^  (%\S+) = (?:getelementptr|bitcast|addrspacecast) `)
	irAlloca  = regexp.MustCompile(`^  (%\S+) = alloca `)
	// irNeutral are uses of an address without memory accesses.
	irNeutral = regexp.MustCompile(`^ +(?:(?:tail )?call void @llvm\.(?:lifetime|dbg|invariant)\.|#dbg_)`)
	irCopy    = regexp.MustCompile(`^  call void @llvm\.memcpy\.p0(i8)?\.p0(?:i8)?\.i64\((?:ptr|i8\*)[^,%@]* align (\d+) (%[^,]+), (?:ptr|i8\*)[^,%@]* align (\d+) (%[^,]+), i64 (\d+), i1 false\)`)
)

// largestCopy limits the copies that are split, in bytes: for larger ones LLVM generates
// a loop on this target.
const largestCopy = 128

// splitFunction writes a function with its copies split.
func splitFunction(out *bytes.Buffer, text string) {
	lines := strings.SplitAfter(text, "\n")
	root := map[string]string{}  // the variable that contains an address
	named := map[string]bool{}   // variables with accesses other than copies
	copies := map[int][]string{} // by line: the parts of irCopy
	for i, l := range lines {
		if m := irAlloca.FindStringSubmatch(l); m != nil {
			root[m[1]] = m[1]
			continue
		}
		if m := irCopy.FindStringSubmatch(l); m != nil {
			copies[i] = m
			continue
		}
		if irNeutral.MatchString(l) {
			continue
		}
		var used []string
		for _, v := range irValue.FindAllString(l, -1) {
			if r, ok := root[v]; ok {
				used = append(used, r)
			}
		}
		if m := irDerived.FindStringSubmatch(l); m != nil && len(used) == 1 {
			root[m[1]] = used[0]
			continue
		}
		for _, r := range used {
			named[r] = true
		}
	}
	whole := func(v string) bool { r, ok := root[v]; return ok && !named[r] }
	for i, l := range lines {
		m := copies[i]
		if m == nil || !whole(m[3]) && !whole(m[5]) || !splitCopy(out, i, m) {
			out.WriteString(l)
		}
	}
}

// splitCopy writes a copy as loads and stores, if it is suitable.
func splitCopy(out *bytes.Buffer, line int, m []string) bool {
	size, err := strconv.Atoi(m[6])
	to, err1 := strconv.Atoi(m[2])
	from, err2 := strconv.Atoi(m[4])
	align := min(to, from, 16)
	if err != nil || err1 != nil || err2 != nil || align < 4 || size > largestCopy || size%align != 0 {
		return false
	}
	t := map[int]string{4: "i32", 8: "i64", 16: "<4 x i32>"}[align]
	if t == "" {
		return false
	}
	// Before clang 15 pointers have the type of their target.
	plain, pointer := "ptr", "ptr"
	if m[1] != "" {
		plain, pointer = "i8*", t+"*"
	}
	for at := 0; at < size; at += align {
		name := fmt.Sprintf("%%heddle.copy.%d.%d.", line, at)
		place := func(which, of string) string {
			fmt.Fprintf(out, "  %s%s = getelementptr i8, %s %s, i64 %d\n", name, which, plain, of, at)
			if pointer == plain {
				return name + which
			}
			fmt.Fprintf(out, "  %s%s.typed = bitcast i8* %[1]s%[2]s to %s\n", name, which, pointer)
			return name + which + ".typed"
		}
		a, b := place("from", m[5]), place("to", m[3])
		fmt.Fprintf(out, "  %svalue = load %s, %s %s, align %d\n", name, t, pointer, a, align)
		fmt.Fprintf(out, "  store %s %svalue, %s %s, align %d\n", t, name, pointer, b, align)
	}
	return true
}
