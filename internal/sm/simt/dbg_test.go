package simt
import ("testing";"os";"encoding/binary"
	"github.com/heddle-sim/heddle/internal/device"
	"github.com/heddle-sim/heddle/internal/exec"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
)
func TestDbg(t *testing.T){
 src,_:=os.ReadFile(microRuns+"/micro.ptx")
 p:=program(t,"m",src)
 for _,n:=range []string{"sh_ld_bank32"}{
	mem := device.New(device.Config{Base: 0xc000_0000})
	m, _ := xptx.NewMachine(p, mem)
	out,_:=mem.Alloc(1<<16,"o")
	k,_:=p.Kernel(n)
	params := binary.LittleEndian.AppendUint64(nil, out)
	w, err := m.NewWork(xptx.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 32, Y: 1, Z: 1}, Params: params}, nil)
	if err!=nil{t.Fatal(err)}
 g:=newRig(t,gtx480(t)); g.delay=130
 kk,_:=NewKernel(g.core.Config(),w,KernelOptions{})
 for i:=range kk.ops { o:=&kk.ops[i]; t.Log(i,o.inst.Op,o.set,o.lat,o.init,o.reads,o.dsts,o.tests,o.inst.Space,o.elem)}
 g.core.Launch(kk,w.Block(0))
 var last uint64
 for range 8000 { g.tick() }
	w, err = m.NewWork(xptx.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 32, Y: 1, Z: 1}, Params: params}, nil)
 kk,_=NewKernel(g.core.Config(),w,KernelOptions{})
 g.core.Launch(kk,w.Block(0))
 t.Log(g.core.Stats.SharedConflicts)
 for range 700 { if g.cycle%8==0 && g.cycle<8140 && g.core.ls.entry>=0 {f:=&g.core.flight[g.core.ls.entry]; t.Log("entry",g.cycle,f.op.inst.Op,f.delay,f.path,len(f.acc),f.out)}; g.tick(); if x:=g.core.Stats.WarpInsts;x!=last{ last=x; t.Log(g.cycle,kk.ops[g.core.acct.inst[0]].inst.Op)}}
 t.Log(g.core.Stats.SharedConflicts)
 }
}
