package num

import "testing"

// The functions that executors call in their inner loops, on 32 lanes at a
// time; ns/op is for a warp. Each must report 0 allocs/op.
const lanes = 32

var (
	sink32 [lanes]float32
	sinkB  [lanes]uint32
	sinkD  [lanes]float64
	sinkQ  [lanes]uint64
	sinkH  [lanes]uint16
)

type operands struct {
	f  [3][lanes]float32
	d  [3][lanes]float64
	u  [3][lanes]uint32
	q  [3][lanes]uint64
	h  [3][lanes]uint16
	bf [3][lanes]uint16
}

func newOperands() *operands {
	g := rng("bench")
	o := new(operands)
	for i := range o.f {
		for l := range lanes {
			v := g.Float64()*100 + 1
			o.f[i][l], o.d[i][l] = float32(v), v
			o.u[i][l], o.q[i][l] = b32(float32(v)), b64(v)
			o.h[i][l], o.bf[i][l] = f16RN(b32(float32(v))), bf16RN(b32(float32(v)))
		}
	}
	return o
}

func bench32(b *testing.B, name string, f func(o *operands)) {
	b.Run(name, func(b *testing.B) {
		o := newOperands()
		b.ReportAllocs()
		for b.Loop() {
			f(o)
		}
	})
}

func BenchmarkWarp(b *testing.B) {
	bench32(b, "Add32", func(o *operands) {
		for l := range lanes {
			sink32[l] = Add32(o.f[0][l], o.f[1][l])
		}
	})
	bench32(b, "Mul32", func(o *operands) {
		for l := range lanes {
			sink32[l] = Mul32(o.f[0][l], o.f[1][l])
		}
	})
	bench32(b, "FMA32", func(o *operands) {
		for l := range lanes {
			sink32[l] = FMA32(o.f[0][l], o.f[1][l], o.f[2][l])
		}
	})
	bench32(b, "AddF32.rz", func(o *operands) {
		for l := range lanes {
			sinkB[l] = AddF32(o.u[0][l], o.u[1][l], RZ)
		}
	})
	bench32(b, "FMAF32.rp", func(o *operands) {
		for l := range lanes {
			sinkB[l] = FMAF32(o.u[0][l], o.u[1][l], o.u[2][l], RP)
		}
	})
	bench32(b, "Min32", func(o *operands) {
		for l := range lanes {
			sink32[l] = Min32(o.f[0][l], o.f[1][l])
		}
	})
	bench32(b, "CmpF32", func(o *operands) {
		for l := range lanes {
			if CmpF32(LT, o.u[0][l], o.u[1][l]) {
				sinkB[l] = 1
			}
		}
	})
	bench32(b, "FMA64", func(o *operands) {
		for l := range lanes {
			sinkD[l] = FMA64(o.d[0][l], o.d[1][l], o.d[2][l])
		}
	})
	bench32(b, "FMAF64.rz", func(o *operands) {
		for l := range lanes {
			sinkQ[l] = FMAF64(o.q[0][l], o.q[1][l], o.q[2][l], RZ)
		}
	})
	bench32(b, "DivF64.rm", func(o *operands) {
		for l := range lanes {
			sinkQ[l] = DivF64(o.q[0][l], o.q[1][l], RM)
		}
	})
	bench32(b, "AddF16", func(o *operands) {
		for l := range lanes {
			sinkH[l] = AddF16(o.h[0][l], o.h[1][l])
		}
	})
	bench32(b, "FMAF16", func(o *operands) {
		for l := range lanes {
			sinkH[l] = FMAF16(o.h[0][l], o.h[1][l], o.h[2][l])
		}
	})
	bench32(b, "FMABF16", func(o *operands) {
		for l := range lanes {
			sinkH[l] = FMABF16(o.bf[0][l], o.bf[1][l], o.bf[2][l])
		}
	})
	bench32(b, "F16ToF32", func(o *operands) {
		for l := range lanes {
			sinkB[l] = F16ToF32(o.h[0][l])
		}
	})
	bench32(b, "F32ToF16", func(o *operands) {
		for l := range lanes {
			sinkH[l] = F32ToF16(o.u[0][l], RN)
		}
	})
	bench32(b, "F32ToS", func(o *operands) {
		for l := range lanes {
			sinkQ[l] = F32ToS(o.u[0][l], RZ, 32)
		}
	})
	bench32(b, "SToF32", func(o *operands) {
		for l := range lanes {
			sinkB[l] = SToF32(int64(int32(o.u[0][l])), RN)
		}
	})
	bench32(b, "Prmt", func(o *operands) {
		for l := range lanes {
			sinkB[l] = Prmt(o.u[0][l], o.u[1][l], o.u[2][l], PrmtIndex)
		}
	})
	bench32(b, "Lop3", func(o *operands) {
		for l := range lanes {
			sinkB[l] = Lop3(o.u[0][l], o.u[1][l], o.u[2][l], 0x96)
		}
	})
	bench32(b, "Dp4a", func(o *operands) {
		for l := range lanes {
			sinkB[l] = Dp4a(o.u[0][l], o.u[1][l], o.u[2][l], true, true)
		}
	})
	bench32(b, "Ex2", func(o *operands) {
		for l := range lanes {
			sinkB[l] = Ex2ApproxF32(o.u[0][l])
		}
	})
	bench32(b, "Lg2", func(o *operands) {
		for l := range lanes {
			sinkB[l] = Lg2ApproxF32(o.u[0][l])
		}
	})
	bench32(b, "Sin", func(o *operands) {
		for l := range lanes {
			sinkB[l] = SinApproxF32(o.u[0][l])
		}
	})
	bench32(b, "Tanh", func(o *operands) {
		for l := range lanes {
			sinkB[l] = TanhApproxF32(o.u[0][l])
		}
	})
	bench32(b, "Rsqrt", func(o *operands) {
		for l := range lanes {
			sinkB[l] = RsqrtApproxF32(o.u[0][l])
		}
	})
	bench32(b, "DotF32 of 16", func(o *operands) {
		sinkB[0] = DotF32(o.u[2][0], o.f[0][:16], o.f[1][:16])
	})
	bench32(b, "DotF16 of 16", func(o *operands) {
		sinkB[0] = DotF16(o.u[2][0], o.h[0][:16], o.h[1][:16])
	})
	bench32(b, "DotS8 of 32", func(o *operands) {
		sinkB[0] = uint32(DotS8(1, o.u[0][:8], o.u[1][:8], true, true, false))
	})
	var float FloatPanel
	float.Fill(make([]float32, 16*Columns), 16)
	bench32(b, "a row of FloatPanel of 16", func(o *operands) {
		float.RowF32((*[Columns]uint32)(sinkB[:]), o.f[0][:16])
	})
	var whole IntPanel
	whole.Fill(make([]int32, 32*Columns), 32, true)
	row := make([]int32, 32)
	bench32(b, "a row of IntPanel of 32", func(o *operands) {
		whole.Row((*[Columns]uint32)(sinkB[:]), row, false)
	})
}
