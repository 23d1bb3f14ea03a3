package sdk

import (
	"bytes"
	"regexp"
	"strconv"
)

// arrayAlign is the alignment that a local array gets, in bytes: that of the widest load,
// and of arrays of 16 bytes or more on x86-64 (System V ABI for AMD64, 3.1.2).
const arrayAlign = 16

// irArray is a local array of clang: its number of elements, their type and its
// alignment.
var irArray = regexp.MustCompile(`(?m)(^  %\S+ = alloca \[(\d+) x (.*)\], align )(\d+)`)

// AlignArrays rewrites LLVM IR, as text before optimisation, so that local arrays of 16
// bytes or more are aligned to 16 bytes. C++ asks only for the alignment of an element,
// but kernels read an array of half2 as an int4. This works in nvcc's code, where the
// function that reads it is inlined and the array is in registers; where LLVM does not
// inline it, the read would be misaligned.
func AlignArrays(ir []byte) []byte {
	return irArray.ReplaceAllFunc(ir, func(line []byte) []byte {
		m := irArray.FindSubmatch(line)
		length, err1 := strconv.Atoi(string(m[2]))
		align, err2 := strconv.Atoi(string(m[4]))
		// The size of a number is its alignment. Structs and arrays as elements may be
		// larger, so all arrays of these are aligned.
		number := !bytes.ContainsAny(m[3][:1], "%[{<")
		if err1 != nil || err2 != nil || align >= arrayAlign || number && length*align < arrayAlign {
			return line
		}
		return strconv.AppendInt(append([]byte(nil), m[1]...), arrayAlign, 10)
	})
}
