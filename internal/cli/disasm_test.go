package cli

import (
	"bytes"
	"os"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/binary/fatbin/fatbintest"
)

// TestImagesOfArchive: the machine code in a static library is listed like that in a program.
func TestImagesOfArchive(t *testing.T) {
	code, err := os.ReadFile("../../internal/binary/cubin/testdata/cudatest.7.sm_75.cubin")
	if err != nil {
		t.Fatal(err)
	}
	object := fatbintest.Object(".nv_fatbin", fatbin.Append(nil, fatbin.Entry{Kind: fatbin.Cubin, SM: 75, Data: code}))
	library := fatbintest.Archive(object, object)
	if !isBinary(library) {
		t.Error("an archive is not taken for a binary")
	}
	list, err := images("lib.a", library)
	if err != nil || len(list) != 2 || list[1].name != "lib.a, image 2" || list[1].arch != 75 {
		t.Fatalf("%+v, %v", list, err)
	}
	if b, err := list[1].data(); err != nil || !bytes.HasPrefix(b, code) {
		t.Errorf("%d bytes, %v; want %d", len(b), err, len(code))
	}
}
