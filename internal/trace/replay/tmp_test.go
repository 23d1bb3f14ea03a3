package replay
import ("testing";"math/rand/v2";"github.com/heddle-sim/heddle/internal/isa")
func TestTmp(t *testing.T) {
	l := AmpereLatencies()
	l.Fixed[isa.ClassTensor] = 24
	for _, p := range programs(t) {
		n := map[[2]int]string{}
		for _, path := range paths(&p, 20, 2000, rand.New(rand.NewPCG(1,2))) {
			for _, h := range walk(p.code, p.bits, path, l, l.late) { n[[2]int{h.at,h.by}] = h.what }
		}
		t.Logf("%s %d", p.name, len(n))
		i := 0
		for k, v := range n { t.Logf("   %d %s %v <- %d %s %v %s", k[0], p.code[k[0]].Op, p.bits[k[0]], k[1], p.code[k[1]].Op, p.bits[k[1]],v); if i++; i > 4 { break } }
	}
}
