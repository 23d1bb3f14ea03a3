package report

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPlain: tables show kernels by the names of the source, told apart as far
// as it is needed.
func TestPlain(t *testing.T) {
	for _, c := range []struct{ names, want []string }{
		{[]string{"vecadd"}, []string{"vecadd"}},
		{[]string{"_Z6vecaddPKfS0_Pfi"}, []string{"vecadd"}},
		{[]string{"_Z5scaleIfEvPT_S0_"}, []string{"scale"}},
		{[]string{"_Z5scaleIfEvPT_S0_", "_Z5scaleIdEvPT_S0_", "_Z5scaleIfEvPT_S0_"}, []string{"scale<float>", "scale<double>", "scale<float>"}},
		{[]string{"_Z4fillPf", "_Z4fillPd", "_Z5otherv"}, []string{"fill(float*)", "fill(double*)", "other"}},
		{[]string{"_ZN2ns4sortEv", "_Zbroken", ""}, []string{"ns::sort", "_Zbroken", ""}},
	} {
		var kernels []Kernel
		for _, n := range c.names {
			kernels = append(kernels, Kernel{Name: n})
		}
		var got []string
		for _, k := range plain(kernels) {
			got = append(got, k.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q become %q, want %q", c.names, got, c.want)
		}
		if kernels[0].Name != c.names[0] {
			t.Errorf("%q was changed in place", c.names[0])
		}
	}
	long := clip("cub::DeviceScanKernel<cub::DeviceScanPolicy<int>::Policy600, thrust::detail::normal_iterator<int>>")
	if n := utf8.RuneCountInString(long); n > widestName {
		t.Errorf("%q has %d letters", long, n)
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
