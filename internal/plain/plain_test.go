package plain

import (
	"slices"
	"testing"
	"unicode/utf8"
)

// TestNames: tables show kernels by their source names, with as much detail as distinguishes
// them.
func TestNames(t *testing.T) {
	for _, c := range []struct{ names, want []string }{
		{[]string{"vecadd"}, []string{"vecadd"}},
		{[]string{"_Z6vecaddPKfS0_Pfi"}, []string{"vecadd"}},
		{[]string{"_Z5scaleIfEvPT_S0_"}, []string{"scale"}},
		{[]string{"_Z5scaleIfEvPT_S0_", "_Z5scaleIdEvPT_S0_", "_Z5scaleIfEvPT_S0_"}, []string{"scale<float>", "scale<double>", "scale<float>"}},
		{[]string{"_Z4fillPf", "_Z4fillPd", "_Z5otherv"}, []string{"fill(float*)", "fill(double*)", "other"}},
		{[]string{"_ZN2ns4sortEv", "_Zbroken", ""}, []string{"ns::sort", "_Zbroken", ""}},
	} {
		if got := Names(c.names); !slices.Equal(got, c.want) {
			t.Errorf("%q become %q, want %q", c.names, got, c.want)
		}
	}
	long := clip("cub::DeviceScanKernel<cub::DeviceScanPolicy<int>::Policy600, thrust::detail::normal_iterator<int>>", widest)
	if n := utf8.RuneCountInString(long); n > widest {
		t.Errorf("%q has %d letters", long, n)
	}
}

// TestInstance: a name alone, without its template arguments and with them.
func TestInstance(t *testing.T) {
	for _, c := range []struct{ mangled, name, instance string }{
		{"vecadd", "vecadd", "vecadd"},
		{"_Z6vecaddPKfS0_Pfi", "vecadd", "vecadd"},
		{"_Z5scaleIfEvPT_S0_", "scale", "scale<float>"},
		{"_ZN2ns4sortIiLi4EEEvv", "ns::sort", "ns::sort<int, 4>"},
	} {
		if n, i := Name(c.mangled), Instance(c.mangled); n != c.name || i != c.instance {
			t.Errorf("%s is %q and %q, want %q and %q", c.mangled, n, i, c.name, c.instance)
		}
	}
}
