package ptx

import (
	"fmt"
	"github.com/heddle-sim/heddle/internal/near"
	"strings"
)

// Special is a special (read-only, predefined) register.
type Special struct {
	Name  string // with the percent sign: "%tid"
	Type  Type   // of the register or of each element
	Elems string // "xyzw" for vector registers, "" for scalars
	Since Version
	SM    int // lowest architecture, 0 for all
}

// Version is a version of the PTX language.
type Version struct{ Major, Minor int }

// String returns the version as PTX writes it: "7.8".
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Before reports whether v is older than o.
func (v Version) Before(o Version) bool {
	return v.Major < o.Major || v.Major == o.Major && v.Minor < o.Minor
}

// specialRows holds name, type, elements, PTX version, lowest architecture. A name
// that ends in <a-b> denotes one register per number.
const specialRows = `
%tid                               u32 xyzw 1.0  0
%ntid                              u32 xyzw 1.0  0
%laneid                            u32 -    1.3  0
%warpid                            u32 -    1.3  0
%nwarpid                           u32 -    2.0 20
%ctaid                             u32 xyzw 1.0  0
%nctaid                            u32 xyzw 1.0  0
%smid                              u32 -    1.3  0
%nsmid                             u32 -    2.0 20
%gridid                            u64 -    1.0  0
%is_explicit_cluster               pred -   7.8 90
%clusterid                         u32 xyzw 7.8 90
%nclusterid                        u32 xyzw 7.8 90
%cluster_ctaid                     u32 xyzw 7.8 90
%cluster_nctaid                    u32 xyzw 7.8 90
%cluster_ctarank                   u32 -    7.8 90
%cluster_nctarank                  u32 -    7.8 90
%lanemask_eq                       u32 -    2.0 20
%lanemask_le                       u32 -    2.0 20
%lanemask_lt                       u32 -    2.0 20
%lanemask_ge                       u32 -    2.0 20
%lanemask_gt                       u32 -    2.0 20
%clock                             u32 -    1.0  0
%clock_hi                          u32 -    5.0 20
%clock64                           u64 -    2.0 20
%pm<0-7>                           u32 -    1.3  0
%pm<0-7>_64                        u64 -    4.0 50
%envreg<0-31>                      b32 -    2.1  0
%globaltimer                       u64 -    3.1 30
%globaltimer_lo                    u32 -    3.1 30
%globaltimer_hi                    u32 -    3.1 30
%reserved_smem_offset_begin        b32 -    7.6 80
%reserved_smem_offset_end          b32 -    7.6 80
%reserved_smem_offset_cap          b32 -    7.6 80
%reserved_smem_offset_<0-1>        b32 -    7.6 80
%total_smem_size                   u32 -    4.1 20
%aggr_smem_size                    u32 -    8.1 90
%dynamic_smem_size                 u32 -    4.1 20
%current_graph_exec                u64 -    8.0 50
`

// specials maps a name with its percent sign to the register; specialList keeps
// the order of specialRows.
var specials, specialList = parseSpecials(specialRows)

func parseSpecials(rows string) (map[string]*Special, []*Special) {
	byName := map[string]*Special{}
	var list []*Special
	for line := range strings.Lines(strings.TrimSpace(rows)) {
		var name, typ, elems string
		s := Special{}
		if _, err := fmt.Sscanf(line, "%s %s %s %d.%d %d", &name, &typ, &elems, &s.Since.Major, &s.Since.Minor, &s.SM); err != nil {
			panic("special register row " + line + ": " + err.Error())
		}
		s.Type = Type(typ)
		if elems != "-" {
			s.Elems = elems
		}
		for _, n := range expandRange(name) {
			r := s
			r.Name = n
			byName[n] = &r
			list = append(list, &r)
		}
	}
	return byName, list
}

// expandRange turns "a<0-2>b" into a0b, a1b, a2b.
func expandRange(s string) []string {
	head, rest, ok := strings.Cut(s, "<")
	if !ok {
		return []string{s}
	}
	bounds, tail, _ := strings.Cut(rest, ">")
	var lo, hi int
	if _, err := fmt.Sscanf(bounds, "%d-%d", &lo, &hi); err != nil {
		panic("range " + s + ": " + err.Error())
	}
	var out []string
	for i := lo; i <= hi; i++ {
		out = append(out, fmt.Sprintf("%s%d%s", head, i, tail))
	}
	return out
}

// LookupSpecial returns the special register with a name (including the percent
// sign, without an element: "%tid").
func LookupSpecial(name string) (*Special, bool) { return lookupSpecial(name) }

func lookupSpecial(name string) (*Special, bool) {
	s, ok := specials[name]
	return s, ok
}

// Specials returns every special register in the manual's order. The slice belongs
// to the caller; the registers must not be changed.
func Specials() []*Special { return append([]*Special(nil), specialList...) }

// HasElem reports whether .elem selects an element of the register. A scalar
// register has no elements.
func (s *Special) HasElem(elem string) bool {
	return len(elem) == 1 && strings.Contains(s.Elems, elem)
}

// nearestSpecial returns the special register with the most similar name, or "" if
// none is close.
func nearestSpecial(name string) string {
	names := make([]string, len(specialList))
	for i, s := range specialList {
		names[i] = s.Name
	}
	return near.Name(name, names)
}
