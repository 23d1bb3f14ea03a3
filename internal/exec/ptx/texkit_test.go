package ptx_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// texBinding is a texture of a test program: its bytes, and the references
// that it is bound to. Objects come as the kernel's parameters obj0, obj1 …
type texBinding struct {
	name   string // "" for an object
	tex    texture.Texture
	data   []byte
	param  bool // as an object, given to the opaque parameter of the name
	absent bool // not bound at all
}

// texProgram is a one-kernel program whose threads each read nIn words into
// %x0 … and write %y0 … (nOut of them).
type texProgram struct {
	target  string // "sm_90" if empty
	decls   string // at module scope
	regs    string
	body    string
	objects []texBinding
	nOut    int
}

// run executes the program for as many threads as there are rows of in, and
// returns the rows of output words and the bytes of the textures.
func (p texProgram) run(t testing.TB, in [][]uint32) ([][]uint32, [][]byte, error) {
	t.Helper()
	nIn := len(in[0])
	var src strings.Builder
	target := p.target
	if target == "" {
		target = "sm_90"
	}
	fmt.Fprintf(&src, ".version 8.6\n.target %s\n.address_size 64\n%s\n.visible .entry k(.param .u64 p_out, .param .u64 p_in", target, p.decls)
	for i, o := range p.objects {
		switch {
		case o.param:
			fmt.Fprintf(&src, ", .param .texref %s", o.name)
		case o.name == "":
			fmt.Fprintf(&src, ", .param .u64 obj%d", i)
		}
	}
	fmt.Fprintf(&src, ")\n{\n.reg .b64 %%p<4>;\n.reg .b32 %%t, %%n;\n.reg .b32 %%x<%d>, %%y<%d>;\n.reg .b64 %%obj<%d>;\n%s\n", nIn+1, p.nOut+1, len(p.objects)+1, p.regs)
	src.WriteString("ld.param.u64 %p0, [p_out];\nld.param.u64 %p1, [p_in];\nmov.u32 %t, %tid.x;\nmov.u32 %n, %ctaid.x;\nmad.lo.u32 %t, %n, 256, %t;\n")
	fmt.Fprintf(&src, "mad.wide.u32 %%p2, %%t, %d, %%p0;\nmad.wide.u32 %%p3, %%t, %d, %%p1;\n", 4*p.nOut, 4*nIn)
	for i := range nIn {
		fmt.Fprintf(&src, "ld.global.b32 %%x%d, [%%p3+%d];\n", i, 4*i)
	}
	for i, o := range p.objects {
		if o.name == "" {
			fmt.Fprintf(&src, "ld.param.u64 %%obj%d, [obj%d];\n", i, i)
		}
	}
	src.WriteString(p.body + "\n")
	for i := range p.nOut {
		fmt.Fprintf(&src, "st.global.b32 [%%p2+%d], %%y%d;\n", 4*i, i)
	}
	src.WriteString("ret;\n}\n")
	mod, err := ptx.Parse("test.ptx", []byte(src.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, src.String())
	}
	prog, err := xptx.Link(mod)
	if err != nil {
		t.Fatal(err)
	}
	mem := device.New(device.Config{})
	m, err := xptx.NewMachine(prog, mem)
	if err != nil {
		return nil, nil, err
	}
	params := make([]byte, 16)
	alloc := func(n int, name string) uint64 {
		a, err := mem.Alloc(uint64(n), name)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	const block = 256
	rows := (len(in) + block - 1) / block * block
	if len(in) < block {
		rows = len(in)
	}
	out, inAddr := alloc(4*p.nOut*rows, "out"), alloc(4*nIn*rows, "in")
	buf := make([]byte, 0, 4*nIn*len(in))
	for _, r := range in {
		for _, v := range r {
			buf = binary.LittleEndian.AppendUint32(buf, v)
		}
	}
	if err := mem.Write(inAddr, buf); err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(params, out)
	binary.LittleEndian.PutUint64(params[8:], inAddr)
	var addrs []uint64
	for _, o := range p.objects {
		a := alloc(max(1, len(o.data)), "texels")
		addrs = append(addrs, a)
		if len(o.data) > 0 {
			if err := mem.Write(a, o.data); err != nil {
				t.Fatal(err)
			}
		}
		tex := o.tex
		tex.Addr += a
		if o.absent {
			continue
		}
		if o.name != "" && !o.param {
			if err := m.BindTexture(o.name, tex); err != nil {
				return nil, nil, err
			}
			continue
		}
		h, err := m.TextureObject(tex)
		if err != nil {
			return nil, nil, err
		}
		params = binary.LittleEndian.AppendUint64(params, h)
	}
	k, ok := prog.Kernel("k")
	if !ok {
		t.Fatal("the kernel is missing")
	}
	n, grid := uint32(len(in)), uint32(1)
	if n > block {
		n, grid = block, uint32(rows/block)
	}
	l := xptx.Launch{Kernel: k, Grid: exec.Dim3{X: grid, Y: 1, Z: 1}, Block: exec.Dim3{X: n, Y: 1, Z: 1}, Params: params}
	if _, err := m.Run(context.Background(), l, xptx.Options{Threads: 1, MaxInsts: 1 << 24}); err != nil {
		return nil, nil, err
	}
	raw := make([]byte, 4*p.nOut*len(in))
	if err := mem.Read(out, raw); err != nil {
		t.Fatal(err)
	}
	res := make([][]uint32, len(in))
	for i := range res {
		for c := range p.nOut {
			res[i] = append(res[i], binary.LittleEndian.Uint32(raw[4*(i*p.nOut+c):]))
		}
	}
	var data [][]byte
	for i, o := range p.objects {
		b := make([]byte, len(o.data))
		if len(b) > 0 {
			if err := mem.Read(addrs[i], b); err != nil {
				t.Fatal(err)
			}
		}
		data = append(data, b)
	}
	return res, data, nil
}

// mustRun is run for programs that must succeed.
func (p texProgram) mustRun(t testing.TB, in [][]uint32) ([][]uint32, [][]byte) {
	t.Helper()
	out, data, err := p.run(t, in)
	if err != nil {
		t.Fatal(err)
	}
	return out, data
}
