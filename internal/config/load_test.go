package config

import "testing"

func TestLibraryLoads(t *testing.T) {
	for _, n := range Names() {
		t.Run(n, func(t *testing.T) {
			g, err := Load(n)
			if err != nil {
				t.Fatal(err)
			}
			if g.Name != n {
				t.Errorf("name = %q", g.Name)
			}
			for _, d := range g.Derived() {
				t.Logf("%-16s %s", d.Name, d.Value)
			}
		})
	}
}
