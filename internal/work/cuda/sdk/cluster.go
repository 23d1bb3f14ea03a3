package sdk

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// This file: the sizes of clusters. In LLVM's IR, as text, __cluster_dims__ is an annotation
// of a kernel with one to three numbers; in PTX it is a directive, which clang does not write.

var (
	irAnnotations = regexp.MustCompile(`(?m)^@llvm\.global\.annotations = .*$`)
	// The kernel, the name of the annotation, the file, its line and the numbers, which are
	// all globals. Before clang 15 the types of pointers surround them.
	irAnnotation = regexp.MustCompile(`@([^\s,]+)[^@]*@([^\s,]+)[^@]*@[^\s,]+(?:, i32 0, i32 0\))?, i32 \d+, (?:(?:ptr|i8\*) null|[^@]*@([^\s,]+))`)
	irCluster    = regexp.MustCompile(`(?m)^@(\S+) = .* c"heddle\.cluster\\00"`)
	irNumbers    = regexp.MustCompile(`(?m)^@(\S*args\S*) = private unnamed_addr constant \{[^}]*\} \{([^}]*)\}`)
	irNumber     = regexp.MustCompile(`i\d+ (\d+)`)
)

// clusterDims returns the sizes of the clusters of kernels, by the kernels' names in PTX.
func clusterDims(ir []byte) map[string][3]string {
	names, numbers := map[string]bool{}, map[string][3]string{}
	for _, m := range irCluster.FindAllSubmatch(ir, -1) {
		names[string(m[1])] = true
	}
	if len(names) == 0 {
		return nil
	}
	for _, m := range irNumbers.FindAllSubmatch(ir, -1) {
		dims := [3]string{"1", "1", "1"}
		for i, n := range irNumber.FindAllSubmatch(m[2], len(dims)) {
			dims[i] = string(n[1])
		}
		numbers[string(m[1])] = dims
	}
	all := map[string][3]string{}
	for _, m := range irAnnotation.FindAllSubmatch(irAnnotations.Find(ir), -1) {
		if dims, ok := numbers[string(m[3])]; ok && names[string(m[2])] {
			all[strings.ReplaceAll(string(m[1]), ".", "_$_")] = dims // as LLVM writes such names
		}
	}
	return all
}

// putClusterDims gives kernels in PTX the directive for the size of their clusters.
// Architectures before sm_90 have no clusters. Line numbers do not change.
func putClusterDims(text []byte, arch string, dims map[string][3]string) []byte {
	if m := archName.FindStringSubmatch(arch); m == nil || len(m[1]) < 2 || len(m[1]) == 2 && m[1] < "90" {
		return text
	}
	var out []byte
	at := 0
	for _, m := range ptxEntry.FindAllSubmatchIndex(text, -1) {
		d, ok := dims[string(text[m[2]:m[3]])]
		body := bytes.Index(text[m[1]:], []byte("\n{"))
		if !ok || body < 0 {
			continue
		}
		body += m[1] + 1
		out = fmt.Appendf(append(out, text[at:body]...), ".reqnctapercluster %s, %s, %s ", d[0], d[1], d[2])
		at = body
	}
	return append(out, text[at:]...)
}

var ptxEntry = regexp.MustCompile(`(?m)^[^\n/]*\.entry ([\w$]+)\(`)
