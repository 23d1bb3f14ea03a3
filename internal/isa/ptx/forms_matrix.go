package ptx

// matrixRows: matrix instructions of a warp and of a warp group. The rows of wgmma
// and tcgen05 are coarse: they give the instruction and its modifiers, not every
// combination that the hardware accepts.
const matrixRows = `
wmma.load.a.sync.aligned.layout.wshape{.wspaces}.f16  d:frag, [a]{, stride:u32} ; 6.0 sm_70
wmma.load.a.sync.aligned.layout.wshape{.wspaces}.{u8,s8,bf16}  d:frag, [a]{, stride:u32} ; 6.3 sm_72
wmma.load.a.sync.aligned.layout.m16n16k8{.wspaces}.tf32  d:frag, [a]{, stride:u32} ; 7.0 sm_80
wmma.load.a.sync.aligned.layout.m8n8k4{.wspaces}.f64  d:frag, [a]{, stride:u32} ; 7.0 sm_80
wmma.load.a.sync.aligned.row.m8n8k32{.wspaces}.{u4,s4}  d:frag, [a]{, stride:u32} ; 6.3 sm_75
wmma.load.a.sync.aligned.row.m8n8k128{.wspaces}.b1  d:frag, [a]{, stride:u32} ; 6.3 sm_75
wmma.load.b.sync.aligned.layout.wshape{.wspaces}.f16  d:frag, [a]{, stride:u32} ; 6.0 sm_70
wmma.load.b.sync.aligned.layout.wshape{.wspaces}.{u8,s8,bf16}  d:frag, [a]{, stride:u32} ; 6.3 sm_72
wmma.load.b.sync.aligned.layout.m16n16k8{.wspaces}.tf32  d:frag, [a]{, stride:u32} ; 7.0 sm_80
wmma.load.b.sync.aligned.layout.m8n8k4{.wspaces}.f64  d:frag, [a]{, stride:u32} ; 7.0 sm_80
wmma.load.b.sync.aligned.col.m8n8k32{.wspaces}.{u4,s4}  d:frag, [a]{, stride:u32} ; 6.3 sm_75
wmma.load.b.sync.aligned.col.m8n8k128{.wspaces}.b1  d:frag, [a]{, stride:u32} ; 6.3 sm_75
wmma.load.c.sync.aligned.layout.wshape{.wspaces}.{f16,f32}  d:frag, [a]{, stride:u32} ; 6.0 sm_70
wmma.load.c.sync.aligned.layout.wshape{.wspaces}.s32  d:frag, [a]{, stride:u32} ; 6.3 sm_72
wmma.load.c.sync.aligned.layout.m16n16k8{.wspaces}.f32  d:frag, [a]{, stride:u32} ; 7.0 sm_80
wmma.load.c.sync.aligned.layout.m8n8k4{.wspaces}.f64  d:frag, [a]{, stride:u32} ; 7.0 sm_80
wmma.load.c.sync.aligned.layout.{m8n8k32,m8n8k128}{.wspaces}.s32  d:frag, [a]{, stride:u32} ; 6.3 sm_75
wmma.store.d.sync.aligned.layout.wshape{.wspaces}.{f16,f32}  [a], b:frag{, stride:u32} ; 6.0 sm_70
wmma.store.d.sync.aligned.layout.wshape{.wspaces}.s32  [a], b:frag{, stride:u32} ; 6.3 sm_72
wmma.store.d.sync.aligned.layout.m16n16k8{.wspaces}.f32  [a], b:frag{, stride:u32} ; 7.0 sm_80
wmma.store.d.sync.aligned.layout.m8n8k4{.wspaces}.f64  [a], b:frag{, stride:u32} ; 7.0 sm_80
wmma.store.d.sync.aligned.layout.{m8n8k32,m8n8k128}{.wspaces}.s32  [a], b:frag{, stride:u32} ; 6.3 sm_75
wmma.mma.sync.aligned.layout.layout.wshape.{f16,f32}.{f16,f32}{.satfinite}  d:frag, a:frag, b:frag, c:frag ; 6.0 sm_70
wmma.mma.sync.aligned.layout.layout.wshape.f32.f16.f16.f32  d:frag, a:frag, b:frag, c:frag ; 6.0 sm_70
wmma.mma.sync.aligned.layout.layout.wshape.s32.{u8,s8}.{u8,s8}.s32{.satfinite}  d:frag, a:frag, b:frag, c:frag where sameab ; 6.3 sm_72
wmma.mma.sync.aligned.row.col.m8n8k32.s32.{u4,s4}.{u4,s4}.s32{.satfinite}  d:frag, a:frag, b:frag, c:frag where sameab ; 6.3 sm_75
wmma.mma.{xor,and}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32  d:frag, a:frag, b:frag, c:frag ; 6.3 sm_75
wmma.mma.sync.aligned.layout.layout.wshape.f32.bf16.bf16.f32  d:frag, a:frag, b:frag, c:frag ; 7.0 sm_80
wmma.mma.sync.aligned.layout.layout.m16n16k8.f32.tf32.tf32.f32  d:frag, a:frag, b:frag, c:frag ; 7.0 sm_80
wmma.mma.sync.aligned.layout.layout.m8n8k4{.rnd}.f64.f64.f64.f64  d:frag, a:frag, b:frag, c:frag ; 7.0 sm_80

mma.sync.aligned.m8n8k4.layout.layout.{f16,f32}.f16.f16.{f16,f32}  d:frag, a:frag, b:frag, c:frag ; 6.4 sm_70
mma.sync.aligned.m16n8k8.row.col.{f16,f32}.f16.f16.{f16,f32}  d:frag, a:frag, b:frag, c:frag where samecd ; 6.5 sm_75
mma.sync.aligned.m16n8k16.row.col.{f16,f32}.f16.f16.{f16,f32}  d:frag, a:frag, b:frag, c:frag ; 7.0 sm_80
mma.sync.aligned.{m16n8k8,m16n8k16}.row.col.f32.bf16.bf16.f32  d:frag, a:frag, b:frag, c:frag ; 7.0 sm_80
mma.sync.aligned.{m16n8k4,m16n8k8}.row.col.f32.tf32.tf32.f32  d:frag, a:frag, b:frag, c:frag ; 7.0 sm_80
mma.sync.aligned.{m16n8k16,m16n8k32}.row.col.{f16,f32}.f8.f8.{f16,f32}  d:frag, a:frag, b:frag, c:frag ; 8.4 sm_89
mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.{f16,f32}.f8f6f4.f8f6f4.{f16,f32}  d:frag, a:frag, b:frag, c:frag ; 8.7 sm_120
mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0  d:frag, a:frag, b:frag, c:frag, sa:b32, ia:{u16}2, sb:b32, ib:{u16}2 ; 8.7 sm_120
mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale{.scale_vec::2X,.scale_vec::4X}.f32.e2m1.e2m1.f32.{ue8m0,ue4m3}  d:frag, a:frag, b:frag, c:frag, sa:b32, ia:{u16}2, sb:b32, ib:{u16}2 ; 8.7 sm_120
mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.f8f6f4.f8f6f4.f32.ue8m0  d:frag, a:frag, b:frag, c:frag, sa:b32, ia:{u16}2, sb:b32, ib:{u16}2 ; 8.7 sm_120
mma.sync.aligned.m8n8k4.row.col{.rnd}.f64.f64.f64.f64  d:frag, a:frag, b:frag, c:frag ; 7.0 sm_80
mma.sync.aligned.{m16n8k4,m16n8k8,m16n8k16}.row.col{.rnd}.f64.f64.f64.f64  d:frag, a:frag, b:frag, c:frag ; 7.8 sm_90
mma.sync.aligned.m8n8k16.row.col{.satfinite}.s32.{u8,s8}.{u8,s8}.s32  d:frag, a:frag, b:frag, c:frag ; 6.5 sm_75
mma.sync.aligned.{m16n8k16,m16n8k32}.row.col{.satfinite}.s32.{u8,s8}.{u8,s8}.s32  d:frag, a:frag, b:frag, c:frag ; 7.0 sm_80
mma.sync.aligned.m8n8k32.row.col{.satfinite}.s32.{u4,s4}.{u4,s4}.s32  d:frag, a:frag, b:frag, c:frag ; 6.5 sm_75
mma.sync.aligned.{m16n8k32,m16n8k64}.row.col{.satfinite}.s32.{u4,s4}.{u4,s4}.s32  d:frag, a:frag, b:frag, c:frag ; 7.0 sm_80
mma.sync.aligned.{m8n8k128,m16n8k128,m16n8k256}.row.col.s32.b1.b1.s32.{xor,and}.popc  d:frag, a:frag, b:frag, c:frag ; 7.0 sm_75
mma.{sp,sp::ordered_metadata}.sync.aligned.{m16n8k16,m16n8k32}.row.col.{f16,f32}.f16.f16.{f16,f32}  d:frag, a:frag, b:frag, c:frag, e:b32, f:imm ; 7.1 sm_80
mma.{sp,sp::ordered_metadata}.sync.aligned.{m16n8k16,m16n8k32}.row.col.f32.bf16.bf16.f32  d:frag, a:frag, b:frag, c:frag, e:b32, f:imm ; 7.1 sm_80
mma.{sp,sp::ordered_metadata}.sync.aligned.{m16n8k8,m16n8k16}.row.col.f32.tf32.tf32.f32  d:frag, a:frag, b:frag, c:frag, e:b32, f:imm ; 7.1 sm_80
mma.{sp,sp::ordered_metadata}.sync.aligned.{m16n8k32,m16n8k64}.row.col{.satfinite}.s32.{u8,s8}.{u8,s8}.s32  d:frag, a:frag, b:frag, c:frag, e:b32, f:imm ; 7.1 sm_80
mma.{sp,sp::ordered_metadata}.sync.aligned.{m16n8k64,m16n8k128}.row.col{.satfinite}.s32.{u4,s4}.{u4,s4}.s32  d:frag, a:frag, b:frag, c:frag, e:b32, f:imm ; 7.1 sm_80
mma.{sp,sp::ordered_metadata}.sync.aligned.m16n8k64.row.col.{f16,f32}.f8.f8.{f16,f32}  d:frag, a:frag, b:frag, c:frag, e:b32, f:imm ; 8.4 sm_89
mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.{f16,f32}.f8f6f4.f8f6f4.{f16,f32}  d:frag, a:frag, b:frag, c:frag, e:b32, f:imm ; 8.7 sm_120
mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0  d:frag, a:frag, b:frag, c:frag, e:b32, f:imm, sa:b32, ia:{u16}2, sb:b32, ib:{u16}2 ; 8.7 sm_120
mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale{.scale_vec::2X,.scale_vec::4X}.f32.e2m1.e2m1.f32.{ue8m0,ue4m3}  d:frag, a:frag, b:frag, c:frag, e:b32, f:imm, sa:b32, ia:{u16}2, sb:b32, ib:{u16}2 ; 8.7 sm_120
mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.f8f6f4.f8f6f4.f32.ue8m0  d:frag, a:frag, b:frag, c:frag, e:b32, f:imm, sa:b32, ia:{u16}2, sb:b32, ib:{u16}2 ; 8.7 sm_120

ldmatrix.sync.aligned.m8n8.{x1,x2,x4}{.trans}{.ctaspaces}.b16  d:frag, [a] ; 6.5 sm_75
ldmatrix.sync.aligned.m8n16.{x1,x2,x4}{.ctaspaces}.{b8x16,b6x16_p32,b4x16_p64}  d:frag, [a] ; 8.6 sm_100
ldmatrix.sync.aligned.m8n16.{x1,x2,x4}{.ctaspaces}.b8x16.{b6x16_p32,b4x16_p64}  d:frag, [a] ; 8.6 sm_100
ldmatrix.sync.aligned.m16n16.{x1,x2}.trans{.ctaspaces}.b8  d:frag, [a] ; 8.6 sm_100
ldmatrix.sync.aligned.m16n16.{x1,x2}.trans{.ctaspaces}.b8x16.{b6x16_p32,b4x16_p64}  d:frag, [a] ; 8.6 sm_100
stmatrix.sync.aligned.m8n8.{x1,x2,x4}{.trans}{.ctaspaces}.b16  [a], b:frag ; 7.8 sm_90
stmatrix.sync.aligned.m16n8.{x1,x2,x4}{.trans}{.ctaspaces}.b8  [a], b:frag ; 8.6 sm_100
movmatrix.sync.aligned.m8n8.trans.b16    d:b32, a:b32 ; 7.8 sm_75

wgmma.fence.sync.aligned                 ; 8.0 sm_90a
wgmma.commit_group.sync.aligned          ; 8.0 sm_90a
wgmma.wait_group.sync.aligned            n:imm ; 8.0 sm_90a
wgmma.mma_async.sync.aligned.wgshape16.{f16,f32}.f16.f16  d:frag, a:any, b:b64, scaled:pred, scalea:imm, scaleb:imm{, transa:imm}{, transb:imm} ; 8.0 sm_90a
wgmma.mma_async.sync.aligned.wgshape16.f32.bf16.bf16  d:frag, a:any, b:b64, scaled:pred, scalea:imm, scaleb:imm{, transa:imm}{, transb:imm} ; 8.0 sm_90a
wgmma.mma_async.sync.aligned.wgshape8.f32.tf32.tf32  d:frag, a:any, b:b64, scaled:pred, scalea:imm, scaleb:imm ; 8.0 sm_90a
wgmma.mma_async.sync.aligned.wgshape32.{f16,f32}.f8.f8  d:frag, a:any, b:b64, scaled:pred, scalea:imm, scaleb:imm ; 8.0 sm_90a
wgmma.mma_async.sync.aligned.wgint32.s32.{s8,u8}.{s8,u8}{.satfinite}  d:frag, a:any, b:b64, scaled:pred ; 8.0 sm_90a
wgmma.mma_async.sync.aligned.wgint256.s32.b1.b1.and.popc  d:frag, a:any, b:b64, scaled:pred ; 8.0 sm_90a
wgmma.mma_async.sp.sync.aligned.wgshape32.{f16,f32}.f16.f16  d:frag, a:any, b:b64, meta:b32, sel:imm, scaled:pred, scalea:imm, scaleb:imm{, transa:imm}{, transb:imm} ; 8.2 sm_90a
wgmma.mma_async.sp.sync.aligned.wgshape32.f32.bf16.bf16  d:frag, a:any, b:b64, meta:b32, sel:imm, scaled:pred, scalea:imm, scaleb:imm{, transa:imm}{, transb:imm} ; 8.2 sm_90a
wgmma.mma_async.sp.sync.aligned.wgshape16.f32.tf32.tf32  d:frag, a:any, b:b64, meta:b32, sel:imm, scaled:pred, scalea:imm, scaleb:imm ; 8.2 sm_90a
wgmma.mma_async.sp.sync.aligned.wgshape64.{f16,f32}.f8.f8  d:frag, a:any, b:b64, meta:b32, sel:imm, scaled:pred, scalea:imm, scaleb:imm ; 8.2 sm_90a
wgmma.mma_async.sp.sync.aligned.wgint64.s32.{s8,u8}.{s8,u8}{.satfinite}  d:frag, a:any, b:b64, meta:b32, sel:imm, scaled:pred ; 8.2 sm_90a

tcgen05.alloc.{cta_group::1,cta_group::2}.sync.aligned{.ctaspaces}.b32  [a], n:u32 ; 8.6 sm_100a
tcgen05.dealloc.{cta_group::1,cta_group::2}.sync.aligned.b32  a:b32, n:u32 ; 8.6 sm_100a
tcgen05.relinquish_alloc_permit.{cta_group::1,cta_group::2}.sync.aligned  ; 8.6 sm_100a
tcgen05.ld.sync.aligned.{16x64b,16x128b,16x256b,32x32b}.tcnum{.pack::16b}.b32  d:{b32}1*, [a] ; 8.6 sm_100a
tcgen05.ld.sync.aligned.16x32bx2.tcnum{.pack::16b}.b32  d:{b32}1*, [a], half:imm ; 8.6 sm_100a
tcgen05.ld.red.sync.aligned.{16x32bx2,32x32b}.tcnum.{min,max}{.abs}{.NaN}.{f32,u32,s32}  d:{b32}1*, dred:b32, [a]{, half:imm} ; 9.0 sm_100a
tcgen05.st.sync.aligned.{16x64b,16x128b,16x256b,32x32b}.tcnum{.unpack::16b}.b32  [a], b:{b32}1* ; 8.6 sm_100a
tcgen05.st.sync.aligned.16x32bx2.tcnum{.unpack::16b}.b32  [a], half:imm, b:{b32}1* ; 8.6 sm_100a
tcgen05.{wait::ld,wait::st}.sync.aligned ; 8.6 sm_100a
tcgen05.cp.{cta_group::1,cta_group::2}.{128x256b,4x256b,128x128b,64x128b,32x128b}{.warpx2::02_13,.warpx2::01_23,.warpx4}{.b8x16}{.b6x16_p32,.b4x16_p64}  [a], s:b64 ; 8.6 sm_100a
tcgen05.shift.{cta_group::1,cta_group::2}.down  [a] ; 8.6 sm_100a
tcgen05.mma.{cta_group::1,cta_group::2}.tckind{.collector::a::fill,.collector::a::use,.collector::a::lastuse,.collector::a::discard}{.ashift}  [d], a:any, b:b64, idesc:b32{, mask:{}*}, enable:pred{, scale:imm} ; 8.6 sm_100a
tcgen05.mma.{cta_group::1,cta_group::2}.tcmxkind.block_scale{.scale_vec::1X,.scale_vec::2X,.scale_vec::4X,.block16,.block32}{.collector::a::fill,.collector::a::use,.collector::a::lastuse,.collector::a::discard}  [d], a:any, b:b64, idesc:b32, [sa], [sb], enable:pred ; 8.6 sm_100a
tcgen05.mma.sp.{cta_group::1,cta_group::2}.tckind{.collector::a::fill,.collector::a::use,.collector::a::lastuse,.collector::a::discard}{.ashift}  [d], a:any, b:b64, [meta], idesc:b32{, mask:{}*}, enable:pred{, scale:imm} ; 8.6 sm_100a
tcgen05.mma.sp.{cta_group::1,cta_group::2}.tcmxkind.block_scale{.scale_vec::1X,.scale_vec::2X,.scale_vec::4X,.block16,.block32}{.collector::a::fill,.collector::a::use,.collector::a::lastuse,.collector::a::discard}  [d], a:any, b:b64, [meta], idesc:b32, [sa], [sb], enable:pred ; 8.6 sm_100a
tcgen05.mma.ws.cta_group::1.tckind{.collector::b0::fill,.collector::b0::use,.collector::b0::lastuse,.collector::b0::discard,.collector::b1::fill,.collector::b1::use,.collector::b1::lastuse,.collector::b1::discard,.collector::b2::fill,.collector::b2::use,.collector::b2::lastuse,.collector::b2::discard,.collector::b3::fill,.collector::b3::use,.collector::b3::lastuse,.collector::b3::discard}  [d], a:any, b:b64, idesc:b32, enable:pred{, zero:b64} ; 8.6 sm_100a
tcgen05.mma.ws.sp.cta_group::1.tckind{.collector::b0::fill,.collector::b0::use,.collector::b0::lastuse,.collector::b0::discard,.collector::b1::fill,.collector::b1::use,.collector::b1::lastuse,.collector::b1::discard,.collector::b2::fill,.collector::b2::use,.collector::b2::lastuse,.collector::b2::discard,.collector::b3::fill,.collector::b3::use,.collector::b3::lastuse,.collector::b3::discard}  [d], a:any, b:b64, [meta], idesc:b32, enable:pred{, zero:b64} ; 8.6 sm_100a
tcgen05.{fence::before_thread_sync,fence::after_thread_sync}  ; 8.6 sm_100a
tcgen05.commit.{cta_group::1,cta_group::2}.mbarrier::arrive::one{.shared::cluster}{.multicast::cluster}.b64  [mbar]{, mask:u16} ; 8.6 sm_100a
`
