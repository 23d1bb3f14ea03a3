package cuda

import (
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// TestReplace: a text replaces the part of the program that has its name or its
// kernels, even if the program has no PTX.
func TestReplace(t *testing.T) {
	edited := strings.Replace(code, "add.u32 %r2, %r1, %r0;", "sub.u32 %r2, %r1, %r0;", 1)
	stranger := ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry other() { ret; }\n"
	cubin := fatbin.Entry{Kind: fatbin.Cubin, SM: 90, Data: []byte("\x7fELF")}
	for _, c := range []struct {
		what   string
		given  []Replacement
		images []fatbin.Entry
		want   uint32 // the results for 2 and 100
		log    string
	}{
		{what: "none", want: 102},
		{what: "by its kernels", given: []Replacement{{Name: "mine.ptx", Text: []byte(edited)}}, want: ^uint32(97)},
		{what: "of several the one that fits", given: []Replacement{{Name: "b.ptx", Text: []byte(stranger)}, {Name: "mine.ptx", Text: []byte(edited)}}, want: ^uint32(97),
			log: "b.ptx was not used: it defines other, and no module that the program loaded has one of these; it loaded app.ptx with add, scale, wild,"},
		{what: "by its name first", given: []Replacement{{Name: "mine.ptx", Text: []byte(code)}, {Name: "app.ptx", Text: []byte(edited)}}, want: ^uint32(97), log: "mine.ptx was not used"},
		{what: "instead of machine code", given: []Replacement{{Name: "mine.ptx", Text: []byte(edited)}}, images: []fatbin.Entry{cubin}, want: ^uint32(97)},
		{what: "with other parameters", given: []Replacement{{Name: "mine.ptx", Text: []byte(strings.Replace(code, ".param .u32 n)", ".param .u64 n)", 1))}},
			log: "mine.ptx: kernel add has 2 parameters of 16 bytes in all, but the program passes those of app.ptx, 2 of 12 bytes"},
		{what: "without PTX", given: []Replacement{{Name: "b.ptx", Text: []byte(stranger)}}, images: []fatbin.Entry{cubin}, log: "b.ptx was not used"},
	} {
		saved := ""
		b := start(t, func(o *Options) {
			o.Replace = c.given
			o.Save = func(name string, text []byte) error { saved = string(text); return nil }
		}, c.images...)
		d := b.malloc(64)
		err := b.run("add", 3, 0, d, 100)
		if (err == Success) != (c.want != 0) {
			t.Errorf("%s: %v\n%s", c.what, err, b.log)
		}
		if c.want != 0 {
			b.want("copy", b.Copy(stack, d, 12, DeviceToHost, 0, false), Success)
			if got := b.words(stack, 3)[2]; got != c.want {
				t.Errorf("%s: %d, want %d", c.what, int32(got), int32(c.want))
			}
		}
		if c.images == nil && saved != code {
			t.Errorf("%s: the saved text is not the program's own", c.what)
		}
		b.r.Result()
		b.r.Result()
		if got := b.log.String(); c.log == "" && c.want != 0 && got != "" || strings.Count(got, c.log) != 1 && c.log != "" {
			t.Errorf("%s: log:\n%s", c.what, got)
		}
		if c.what == "by its kernels" && !slices.Contains(b.r.ses.Res.Programs, "app.ptx") {
			t.Errorf("%s: programs %v", c.what, b.r.ses.Res.Programs)
		}
	}

	if _, err := New(Options{Replace: []Replacement{{Name: "bad.ptx", Text: []byte(".version 7.0\n.target sm_70\nnonsense")}}}); err == nil {
		t.Error("an invalid text is accepted")
	} else if _, ok := err.(ptx.ErrorList); !ok {
		t.Errorf("an invalid text: %v", err)
	}
	if _, err := New(Options{Replace: []Replacement{{Name: "empty.ptx", Text: []byte(".version 7.0\n.target sm_70\n.address_size 64\n")}}}); err == nil || !strings.Contains(err.Error(), "empty.ptx has no kernel") {
		t.Errorf("a text without kernels: %v", err)
	}
}
