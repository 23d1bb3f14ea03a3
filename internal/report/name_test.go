package report

import (
	"strings"
	"testing"
)

// TestPlainNames: the text names kernels as the source does, the result itself as
// the program does.
func TestPlainNames(t *testing.T) {
	r := Run{Mode: "functional", NoJob: true, Kernels: []Kernel{{Name: "_Z5scaleIfEvPT_S0_"}, {Name: "_Z5scaleIdEvPT_S0_"}}}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil || !strings.Contains(b.String(), "scale<float>") || !strings.Contains(b.String(), "scale<double>") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if r.Kernels[0].Name != "_Z5scaleIfEvPT_S0_" {
		t.Errorf("%q was changed in place", r.Kernels[0].Name)
	}
}

// TestManyPrograms: the first line of a report names as many programs as it has
// room for.
func TestManyPrograms(t *testing.T) {
	for n, want := range map[int]string{
		1: "(a.ptx)\n", 6: "(a.ptx, b.ptx, c.ptx, d.ptx, e.ptx, f.ptx)\n", 7: "(a.ptx, b.ptx, c.ptx, d.ptx, e.ptx, 2 more)\n", 26: "(a.ptx, b.ptx, c.ptx, d.ptx, e.ptx, 21 more)\n",
	} {
		r := Run{Mode: "functional"}
		for i := range n {
			r.Programs = append(r.Programs, string(rune('a'+i))+".ptx")
		}
		var b strings.Builder
		if err := r.WriteText(&b); err != nil || !strings.Contains(b.String(), want) || len(r.Programs) != n {
			t.Errorf("%d: %v, %s", n, err, b.String())
		}
	}
}

// The findings of a program that is no job name its kernels as the table of launches does.
func TestFindingsNames(t *testing.T) {
	k := Kernel{Name: "_Z6matmulPKfS0_Pfii", KernelTiming: &KernelTiming{Cycles: 10}}
	other := k
	other.Launch = 1
	r := Run{Heddle: "1", Mode: "timing", NoJob: true, Timing: &Timing{Cycles: 20}, Kernels: []Kernel{k, other},
		Findings: []Finding{{Rule: "small-grid", Kernel: k.Name, Launch: &other.Launch, Launches: 2, Seen: "1 block", Try: "more"}, {Rule: "copies", Seen: "much", Try: "less"}}}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "_Z6") || !strings.Contains(text.String(), "small grid           0 %  matmul  launch 1: 1 block") {
		t.Errorf("the report is\n%s", text.String())
	}
	if r.Findings[0].Kernel != k.Name {
		t.Error("the result has changed")
	}
}
