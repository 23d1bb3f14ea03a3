package sass

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heddle-sim/heddle/internal/isa"
)

// listed is an instruction of the listing.
type listed struct {
	addr  uint32
	text  string
	words [2]uint64
}

var (
	firstLine  = regexp.MustCompile(`^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s+/\* 0x([0-9a-f]{16}) \*/`)
	secondLine = regexp.MustCompile(`^\s*/\* 0x([0-9a-f]{16}) \*/`)
)

// readListing reads a disassembly of a whole kernel of sm_80.
func readListing(t *testing.T) []listed {
	t.Helper()
	b, err := os.ReadFile("testdata/gemm.sm80.listing.zst")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := z.DecodeAll(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	hex := func(s string) uint64 {
		v, err := strconv.ParseUint(s, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var list []listed
	for line := range strings.Lines(string(text)) {
		if m := firstLine.FindStringSubmatch(line); m != nil {
			list = append(list, listed{uint32(hex(m[1])), m[2], [2]uint64{hex(m[3]), 0}})
		} else if m := secondLine.FindStringSubmatch(line); m != nil {
			list[len(list)-1].words[1] = hex(m[1])
		}
	}
	if len(list) < 700 {
		t.Fatalf("only %d instructions found", len(list))
	}
	return list
}

// descriptor is what the listing's disassembler does not print.
var descriptor = regexp.MustCompile(`desc0\[U[^\]]*\]`)

// branchTarget is a target as the listing writes it.
var branchTarget = regexp.MustCompile("`\\([^)]*\\)")

func TestListing(t *testing.T) {
	for _, l := range readListing(t) {
		in, err := Decode(80, l.words, l.addr)
		if err != nil {
			t.Errorf("%04x %s: %v", l.addr, l.text, err)
			continue
		}
		got := descriptor.ReplaceAllString(in.Text(), "")
		if squeeze(got) != squeeze(l.text) && !branchTarget.MatchString(l.text) {
			t.Errorf("%04x: %s, want %s", l.addr, got, l.text)
		}
	}
}

// TestListingControl checks that the listing contains nothing that compilers never
// do, which would reveal a field in the wrong place.
func TestListingControl(t *testing.T) {
	for _, l := range readListing(t) {
		in, err := Decode(80, l.words, l.addr)
		if err != nil {
			t.Fatal(err)
		}
		c := in.Ctl
		if c.Write == 6 || c.Read == 6 {
			t.Errorf("%04x %s: counter 6", l.addr, l.text)
		}
		if !c.Yield && (c.Stall == 0 || c.Stall > 11) {
			t.Errorf("%04x %s: stall %d without yield", l.addr, l.text, c.Stall)
		}
		reuse := false
		for _, o := range in.Operands {
			reuse = reuse || o.Reuse
		}
		if reuse && c.Yield {
			t.Errorf("%04x %s: reuse and yield", l.addr, l.text)
		}
		var info isa.Inst
		in.info(&info, 0)
		switch info.Class {
		case isa.ClassInt, isa.ClassFP32, isa.ClassIMAD, isa.ClassHalf, isa.ClassSetp, isa.ClassPred, isa.ClassUniform:
			// Latency is fixed: nothing lowers a counter. R2UR is the exception.
			if (c.Write != isa.NoCounter || c.Read != isa.NoCounter) && in.Op != OpR2UR {
				t.Errorf("%04x %s: %s with a counter: %s", l.addr, l.text, info.Class, c.String())
			}
		}
	}
}
