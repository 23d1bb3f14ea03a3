package flow
import "testing"
func TestZZ(t *testing.T){ code:=withRegisters(shapes[4].make(50000)); g:=Analyze(code); l:=Liveness(code,g); n:=0; for _,w:=range l.in[1]{n+=len(w)}; t.Log(len(g.Blocks), l.Complete,l.MaxLive, n) }
