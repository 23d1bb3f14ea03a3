package ptx

// dataRows: moves, shuffles within a warp, loads, stores, conversions and
// address arithmetic.
const dataRows = `
mov.movtype                              d:T, a:T ; 1.0
mov.b128                                 d:T, a:T ; 8.3 sm_70
mov.pred                                 d:T, a:T ; 1.0
mov.bits16up                             d:T, a:{}* ; 1.0
mov.b128                                 d:T, a:{}* ; 8.3 sm_70
mov.bits16up                             d:{}*_, a:T ; 1.0
mov.b128                                 d:{}*_, a:T ; 8.3 sm_70
mov.vec.movtype                          d:{T}v_, a:{T}v ; 1.0
shfl.{up,down,bfly,idx}.b32              d:T_{|q}, a:T, b:b32, c:b32 ; 3.0 sm_30
shfl.sync.{up,down,bfly,idx}.b32         d:T_{|q}, a:T, b:b32, c:b32, mask:b32 ; 6.0 sm_30
prmt.b32{.f4e,.b4e,.rc8,.ecl,.ecr,.rc16} d:T, a:T, b:T, c:b32 ; 2.0 sm_20

# loads
ld{.weak}{.spaces}{.ldcop}{.cachehint}{.prefsize}{.vec}.memtype  d:{T}v~_, [a]{, pol:b64} where mem ; 1.0
ld{.weak}{.spaces}{.l1evict}{.l2evict}{.cachehint}{.prefsize}{.vec}.memtype  d:{T}v~_, [a]{, pol:b64} where mem ; 7.4 sm_70
ld.volatile{.spaces}{.prefsize}{.vec}.memtype  d:{T}v~_, [a] where mem ; 1.1
ld.relaxed.scope{.gsspaces}{.l1evict}{.l2evict}{.cachehint}{.prefsize}{.vec}.memtype  d:{T}v~_, [a]{, pol:b64} where mem ; 6.0 sm_70
ld.acquire.scope{.gsspaces}{.l1evict}{.l2evict}{.cachehint}{.prefsize}{.vec}.memtype  d:{T}v~_, [a]{, pol:b64} where mem ; 6.0 sm_70
ld.mmio.relaxed.sys{.global}.memtype     d:{T}v~_, [a] where mem ; 8.2 sm_70
ld{.weak}.global{.nccop}.nc{.cachehint}{.prefsize}{.vec}.memtype  d:{T}v~_, [a]{, pol:b64} where mem ; 3.1 sm_32
ld{.weak}.global.nc{.l1evict}{.l2evict}{.cachehint}{.prefsize}{.vec}.memtype  d:{T}v~_, [a]{, pol:b64} where mem ; 7.4 sm_70
ldu{.global}{.vec}.memtype               d:{T}v~_, [a] where mem ; 2.0

# stores
st{.weak}{.stspaces}{.stcop}{.cachehint}{.vec}.memtype  [a], b:{T}v~{, pol:b64} where mem ; 1.0
st{.weak}{.stspaces}{.l1evict}{.l2evict}{.cachehint}{.vec}.memtype  [a], b:{T}v~{, pol:b64} where mem ; 7.4 sm_70
st.volatile{.stspaces}{.vec}.memtype     [a], b:{T}v~ where mem ; 1.1
st.relaxed.scope{.gsspaces}{.l1evict}{.l2evict}{.cachehint}{.vec}.memtype  [a], b:{T}v~{, pol:b64} where mem ; 6.0 sm_70
st.release.scope{.gsspaces}{.l1evict}{.l2evict}{.cachehint}{.vec}.memtype  [a], b:{T}v~{, pol:b64} where mem ; 6.0 sm_70
st.mmio.relaxed.sys{.global}.memtype     [a], b:{T}v~ where mem ; 8.2 sm_70
st.async{.weak}{.cluster}{.shared::cluster}{.mbarrier::complete_tx::bytes}{.v2,.v4}.{b32,b64,u32,u64,s32,s64,f32,f64}  [a], b:{T}v, [mbar] ; 8.1 sm_90
st.async{.mmio}.release.{gpu,sys}{.global}.{b8,b16,b32,b64,u8,u16,u32,u64,s8,s16,s32,s64,f32,f64}  [a], b:T~ ; 8.7 sm_100
st.bulk{.weak}{.shared::cta}             [a], size:u64, initval:imm ; 8.6 sm_100

# multimem: one address for the same memory of several devices
multimem.ld_reduce{.weak}{.global}.{add,min,max,and,or,xor}{.acc::f16,.acc::f32}{.v2,.v4,.v8}.{b32,b64,u32,u64,s32,s64,f32,f64,f16,f16x2,bf16,bf16x2,e4m3,e5m2,e4m3x2,e5m2x2,e4m3x4,e5m2x4}  d:{T}v, [a] ; 8.1 sm_90
multimem.ld_reduce.{relaxed,acquire}.scope{.global}.{add,min,max,and,or,xor}{.acc::f16,.acc::f32}{.v2,.v4,.v8}.{b32,b64,u32,u64,s32,s64,f32,f64,f16,f16x2,bf16,bf16x2,e4m3,e5m2,e4m3x2,e5m2x2,e4m3x4,e5m2x4}  d:{T}v, [a] ; 8.1 sm_90
multimem.st{.weak}{.global}{.v2,.v4,.v8}.{b32,b64,u32,u64,s32,s64,f32,f64,f16,f16x2,bf16,bf16x2,e4m3,e5m2,e4m3x2,e5m2x2,e4m3x4,e5m2x4}  [a], b:{T}v ; 8.1 sm_90
multimem.st.{relaxed,release}.scope{.global}{.v2,.v4,.v8}.{b32,b64,u32,u64,s32,s64,f32,f64,f16,f16x2,bf16,bf16x2,e4m3,e5m2,e4m3x2,e5m2x2,e4m3x4,e5m2x4}  [a], b:{T}v ; 8.1 sm_90
multimem.red{.relaxed,.release}{.scope}{.global}.{add,min,max,and,or,xor}{.v2,.v4,.v8}.{b32,b64,u32,u64,s32,s64,f32,f64,f16,f16x2,bf16,bf16x2}  [a], b:{T}v ; 8.1 sm_90
multimem.cp.async.bulk.global.shared::cta.bulk_group{.cp_mask}  [a], [b], size:u32{, mask:u16} ; 9.1 sm_90
multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group{.noftz}.{add,min,max,inc,dec,and,or,xor}.{b32,b64,u32,u64,s32,s64,f16,bf16,f32,f64}  [a], [b], size:u32 ; 9.1 sm_90

# caches
prefetch{.global,.local}.{L1,L2}         [a] ; 2.0 sm_20
prefetch.global.{L2::evict_last,L2::evict_normal}  [a] ; 7.4 sm_80
prefetch{.const,.param}.tensormap        [a] ; 8.0 sm_90
prefetchu.L1                             [a] ; 2.0 sm_20
applypriority{.global}.L2::evict_normal  [a], size:imm ; 7.4 sm_80
discard{.global}.L2                      [a], size:imm ; 7.4 sm_80
createpolicy.fractional.{L2::evict_last,L2::evict_normal,L2::evict_first,L2::evict_unchanged}{.L2::evict_first,.L2::evict_unchanged}.b64  d:T{, fraction:f32} ; 7.4 sm_80
createpolicy.range{.global}.{L2::evict_last,L2::evict_normal,L2::evict_first,L2::evict_unchanged}{.L2::evict_first,.L2::evict_unchanged}.b64  d:T, [a], primary:u32, total:u32 ; 7.4 sm_80
createpolicy.cvt.L2.b64                  d:T, a:b64 ; 7.4 sm_80

# addresses
isspacep.{const,global,local,shared,shared::cta,shared::cluster,param,param::entry}  d:pred, a:any ; 2.0 sm_20
cvta.{const,global,local,shared,shared::cta,shared::cluster,param,param::entry}.{u32,u64}  d:T, a:T ; 2.0 sm_20
cvta.to.{const,global,local,shared,shared::cta,shared::cluster,param,param::entry}.{u32,u64}  d:T, a:T ; 2.0 sm_20
mapa{.shared::cluster}.{u32,u64}         d:T, a:T, b:u32 ; 7.8 sm_90
getctarank{.shared::cluster}.{u32,u64}   d:u32, a:T ; 7.8 sm_90

# conversions
cvt{.irnd,.rnd}{.ftz}{.sat}.{inttype,f16,f32,f64}.{inttype,f16,f32,f64}  d:T~, a:T2~ where cvt ; 1.0
cvt{.irnd,.rnd}{.ftz}{.sat}.bf16.{inttype,f16,bf16,f32,f64}  d:T, a:T2~ where cvt ; 7.8 sm_90
cvt{.irnd,.rnd}{.ftz}{.sat}.{inttype,f16,f32,f64}.bf16  d:T~, a:T2 where cvt ; 7.1 sm_90
cvt.frnd2{.relu}{.satfinite}.{f16,bf16}.f32  d:T, a:T2 ; 7.0 sm_80
cvt.frnd2{.relu}{.satfinite}.{f16x2,bf16x2}.f32  d:T, a:T2, b:T2 ; 7.0 sm_80
cvt.rs{.relu}{.satfinite}.{f16x2,bf16x2}.f32  d:T, a:T2, b:T2, rbits:b32 ; 8.7 sm_100
cvt.rna{.satfinite}.tf32.f32             d:T, a:T2 ; 7.0 sm_80
cvt.frnd2{.satfinite}{.relu}.tf32.f32    d:T, a:T2 ; 7.8 sm_90
cvt.rn.satfinite{.relu}.f8x2.f32         d:T, a:T2, b:T2 ; 7.8 sm_89
cvt.rn.satfinite{.relu}.f8x2.{f16x2,bf16x2}  d:T, a:T2 ; 7.8 sm_89
cvt.rn{.relu}.f16x2.f8x2                 d:T, a:T2 ; 7.8 sm_89
cvt.rn{.satfinite}{.relu}{.scaled::n2::ue8m0}.bf16x2.f8x2  d:T, a:T2{, scale:b16} ; 9.1 sm_100
cvt.rs{.relu}.satfinite.f8x4.f32         d:T, a:{f32}4, rbits:b32 ; 8.7 sm_100
cvt.rn.satfinite{.relu}.f6x2.f32         d:T, a:T2, b:T2 ; 8.6 sm_100
cvt.rn.satfinite{.relu}.f6x2.{f16x2,bf16x2}  d:T, a:T2 ; 9.1 sm_100
cvt.rn{.relu}.f16x2.f6x2                 d:T, a:T2 ; 8.6 sm_100
cvt.rn{.satfinite}{.relu}{.scaled::n2::ue8m0}.bf16x2.f6x2  d:T, a:T2{, scale:b16} ; 9.1 sm_100
cvt.rs{.relu}.satfinite.f6x4.f32         d:T, a:{f32}4, rbits:b32 ; 8.7 sm_100
cvt.rn.satfinite{.relu}.f4x2.f32         d:T, a:T2, b:T2 ; 8.6 sm_100
cvt.rn.satfinite{.relu}.f4x2.{f16x2,bf16x2}  d:T, a:T2 ; 9.1 sm_100
cvt.rn{.relu}.f16x2.f4x2                 d:T, a:T2 ; 8.6 sm_100
cvt.rn{.satfinite}{.relu}{.scaled::n2::ue8m0}.bf16x2.f4x2  d:T, a:T2{, scale:b16} ; 9.1 sm_100
cvt.rs{.relu}.satfinite.f4x4.f32         d:T, a:{f32}4, rbits:b32 ; 8.7 sm_100
cvt.{rz,rp}{.satfinite}.ue8m0x2.f32      d:T, a:T2, b:T2 ; 8.6 sm_100
cvt.{rz,rp}{.satfinite}.ue8m0x2.bf16x2   d:T, a:T2 ; 8.6 sm_100
cvt.rn.bf16x2.ue8m0x2                    d:T, a:T2 ; 8.6 sm_100
cvt.rn.satfinite{.relu}{.scaled::n2::ue8m0}.s2f6x2.f32  d:T, a:T2, b:T2{, scale:b16} ; 9.1 sm_100
cvt.rn.satfinite{.relu}{.scaled::n2::ue8m0}.s2f6x2.bf16x2  d:T, a:T2{, scale:b16} ; 9.1 sm_100
cvt.rn{.satfinite}{.relu}{.scaled::n2::ue8m0}.bf16x2.s2f6x2  d:T, a:T2{, scale:b16} ; 9.1 sm_100
cvt.pack.sat.{u16,s16}.s32               d:b32, a:T2, b:T2 ; 6.5 sm_72
cvt.pack.sat.{u8,s8}.s32.b32             d:b32, a:T2, b:T2, c:b32 ; 6.5 sm_72
cvt.pack.sat.{u2,s2,u4,s4}.s32.b32       d:b32, a:T2, b:T2, c:b32 ; 6.5 sm_75
`

// atomicRows: atomic operations and reductions in memory, and operations among
// the lanes of a warp.
const atomicRows = `
atom{.sem}{.scope}{.gsspaces}.{and,or,xor}{.cachehint}.{b32,b64}  d:T_, [a], b:T{, pol:b64} ; 1.1
atom{.sem}{.scope}{.gsspaces}.exch{.cachehint}.{b32,b64}  d:T_, [a], b:T{, pol:b64} ; 1.1
atom{.sem}{.scope}{.gsspaces}.exch{.cachehint}.b128  d:T_, [a], b:T{, pol:b64} ; 8.3 sm_90
atom{.sem}{.scope}{.gsspaces}.cas{.cachehint}.{b32,b64}  d:T_, [a], b:T, c:T{, pol:b64} ; 1.1
atom{.sem}{.scope}{.gsspaces}.cas.b16    d:T_, [a], b:T, c:T ; 6.3 sm_70
atom{.sem}{.scope}{.gsspaces}.cas.b128   d:T_, [a], b:T, c:T ; 8.3 sm_90
atom{.sem}{.scope}{.gsspaces}.add{.cachehint}.{u32,s32,u64,s64,f32,f64}  d:T_, [a], b:T{, pol:b64} ; 1.1
atom{.sem}{.scope}{.gsspaces}.{inc,dec}{.cachehint}.u32  d:T_, [a], b:T{, pol:b64} ; 1.1
atom{.sem}{.scope}{.gsspaces}.{min,max}{.cachehint}.{u32,s32,u64,s64}  d:T_, [a], b:T{, pol:b64} ; 1.1
atom{.sem}{.scope}{.gsspaces}.add.noftz{.cachehint}.{f16,f16x2,bf16,bf16x2}  d:T_, [a], b:T{, pol:b64} ; 6.2 sm_60
atom{.sem}{.scope}{.global}.add{.cachehint}.{v2,v4}.f32  d:{T}v, [a], b:{T}v{, pol:b64} ; 8.1 sm_90
atom{.sem}{.scope}{.global}.{add,min,max}.noftz{.cachehint}.{v2,v4,v8}.{f16,bf16}  d:{T}v, [a], b:{T}v{, pol:b64} ; 8.1 sm_90
atom{.sem}{.scope}{.global}.{add,min,max}.noftz{.cachehint}.{v2,v4}.{f16x2,bf16x2}  d:{T}v, [a], b:{T}v{, pol:b64} ; 8.1 sm_90
red{.relaxed,.release}{.scope}{.gsspaces}.{and,or,xor}{.cachehint}.{b32,b64}  [a], b:T{, pol:b64} ; 1.2
red{.relaxed,.release}{.scope}{.gsspaces}.add{.cachehint}.{u32,s32,u64,s64,f32,f64}  [a], b:T{, pol:b64} ; 1.2
red{.relaxed,.release}{.scope}{.gsspaces}.{inc,dec}{.cachehint}.u32  [a], b:T{, pol:b64} ; 1.2
red{.relaxed,.release}{.scope}{.gsspaces}.{min,max}{.cachehint}.{u32,s32,u64,s64}  [a], b:T{, pol:b64} ; 1.2
red{.relaxed,.release}{.scope}{.gsspaces}.add.noftz{.cachehint}.{f16,f16x2,bf16,bf16x2}  [a], b:T{, pol:b64} ; 6.2 sm_60
red{.relaxed,.release}{.scope}{.global}.add{.cachehint}.{v2,v4}.f32  [a], b:{T}v{, pol:b64} ; 8.1 sm_90
red{.relaxed,.release}{.scope}{.global}.{add,min,max}.noftz{.cachehint}.{v2,v4,v8}.{f16,bf16}  [a], b:{T}v{, pol:b64} ; 8.1 sm_90
red{.relaxed,.release}{.scope}{.global}.{add,min,max}.noftz{.cachehint}.{v2,v4}.{f16x2,bf16x2}  [a], b:{T}v{, pol:b64} ; 8.1 sm_90
red.async{.relaxed}{.cluster}{.shared::cluster}.mbarrier::complete_tx::bytes.{inc,dec}.u32  [a], b:T, [mbar] ; 8.1 sm_90
red.async{.relaxed}{.cluster}{.shared::cluster}.mbarrier::complete_tx::bytes.{min,max}.i32  [a], b:T, [mbar] ; 8.1 sm_90
red.async{.relaxed}{.cluster}{.shared::cluster}.mbarrier::complete_tx::bytes.{and,or,xor}.b32  [a], b:T, [mbar] ; 8.1 sm_90
red.async{.relaxed}{.cluster}{.shared::cluster}.mbarrier::complete_tx::bytes.add.{u32,s32,u64}  [a], b:T, [mbar] ; 8.1 sm_90
red.async{.mmio}.release.{cluster,gpu,sys}{.global}.add.{u32,s32,u64,s64}  [a], b:T ; 8.7 sm_100

vote.{all,any,uni}.pred                  d:T, !a:pred ; 1.2
vote.ballot.b32                          d:T, !a:pred ; 2.0 sm_20
vote.sync.{all,any,uni}.pred             d:T, !a:pred, mask:b32 ; 6.0 sm_30
vote.sync.ballot.b32                     d:T, !a:pred, mask:b32 ; 6.0 sm_30
match.any.sync.{b32,b64}                 d:b32, a:T, mask:b32 ; 6.0 sm_70
match.all.sync.{b32,b64}                 d:b32_{|q}, a:T, mask:b32 ; 6.0 sm_70
activemask.b32                           d:T ; 6.2 sm_30
redux.sync.{add,min,max}.i32             d:T, a:T, mask:b32 ; 7.0 sm_80
redux.sync.{and,or,xor}.b32              d:T, a:T, mask:b32 ; 7.0 sm_80
redux.sync.{min,max}{.abs}{.NaN}.f32     d:T, a:T, mask:b32 ; 8.6 sm_100
elect.sync                               d:b32_|q, mask:b32 ; 8.0 sm_90
`

// asyncRows: asynchronous copies and the barriers that track them.
const asyncRows = `
cp.async.{ca,cg}{.ctaspaces}.global{.cachehint}{.prefsize}  [dst], [src], size:imm{, srcsize:u32}{, pol:b64} ; 7.0 sm_80
cp.async.{ca,cg}{.ctaspaces}.global{.cachehint}{.prefsize}  [dst], [src], size:imm, !ignore:pred{, pol:b64} ; 7.5 sm_80
cp.async.commit_group                    ; 7.0 sm_80
cp.async.wait_group                      n:imm ; 7.0 sm_80
cp.async.wait_all                        ; 7.0 sm_80
cp.async.mbarrier.arrive{.noinc}{.ctaspaces}.b64  [a] ; 7.0 sm_80

cp.async.bulk.{shared::cluster,shared::cta}.global.mbarrier::complete_tx::bytes{.multicast::cluster}{.cachehint}  [dst], [src], size:u32, [mbar]{, mask:u16}{, pol:b64} ; 8.0 sm_90
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob  [dst], [src], size:u32, left:u32, right:u32, [mbar] ; 9.2 sm_90
cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes  [dst], [src], size:u32, [mbar] ; 8.0 sm_90
cp.async.bulk.global.shared::cta.bulk_group{.cachehint}{.cp_mask}  [dst], [src], size:u32{, pol:b64}{, mask:u16} ; 8.0 sm_90
cp.async.bulk.prefetch.L2.global{.cachehint}  [src], size:u32{, pol:b64} ; 8.0 sm_90
cp.async.bulk.commit_group               ; 8.0 sm_90
cp.async.bulk.wait_group{.read}          n:imm ; 8.0 sm_90
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{and,or,xor,add,inc,dec,min,max}.{s32,u32,s64,u64,b32,b64}  [dst], [src], size:u32, [mbar] ; 8.0 sm_90
cp.reduce.async.bulk.global.shared::cta.bulk_group{.cachehint}.{and,or,xor,add,inc,dec,min,max}.{f16,bf16,b32,u32,s32,b64,u64,s64,f32,f64}  [dst], [src], size:u32{, pol:b64} ; 8.0 sm_90
cp.reduce.async.bulk.global.shared::cta.bulk_group{.cachehint}.add.noftz.{f16,bf16}  [dst], [src], size:u32{, pol:b64} ; 8.0 sm_90

cp.async.bulk.tensor.{1d,2d,3d,4d,5d}.{shared::cluster,shared::cta}.global{.tile,.tile::gather4,.im2col,.im2col::w,.im2col::w::128}.mbarrier::complete_tx::bytes{.multicast::cluster}{.cta_group::1,.cta_group::2}{.cachehint}  [dst], [map]:tensor, [mbar]{, im2col:any}{, mask:u16}{, pol:b64} ; 8.0 sm_90
cp.async.bulk.tensor.{1d,2d,3d,4d,5d}.global.shared::cta{.tile,.tile::scatter4,.im2col_no_offs}.bulk_group{.cachehint}  [map]:tensor, [src]{, pol:b64} ; 8.0 sm_90
cp.reduce.async.bulk.tensor.{1d,2d,3d,4d,5d}.global.shared::cta.{add,min,max,inc,dec,and,or,xor}{.tile,.im2col_no_offs}.bulk_group{.cachehint}  [map]:tensor, [src]{, pol:b64} ; 8.0 sm_90
cp.async.bulk.prefetch.tensor.{1d,2d,3d,4d,5d}.L2.global{.tile,.tile::gather4,.im2col,.im2col::w,.im2col::w::128}{.cachehint}  [map]:tensor{, im2col:any}{, pol:b64} ; 8.0 sm_90
tensormap.replace.tile.{global_address,rank,box_dim,global_dim,global_stride,element_stride,elemtype,interleave_layout,swizzle_mode,fill_mode,swizzle_atomicity}{.global,.shared::cta}.b1024.{b32,b64}  [a]{, ord:imm}, value:any ; 8.3 sm_90
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned  [dst], [src], size:imm ; 8.3 sm_90

mbarrier.init{.ctaspaces}.b64            [a], count:u32 ; 7.0 sm_80
mbarrier.inval{.ctaspaces}.b64           [a] ; 7.0 sm_80
mbarrier.expect_tx{.relaxed}{.cta,.cluster}{.shspaces}.b64  [a], tx:u32 ; 8.0 sm_90
mbarrier.complete_tx{.relaxed}{.cta,.cluster}{.shspaces}.b64  [a], tx:u32 ; 8.0 sm_90
mbarrier.{arrive,arrive_drop}{.release,.relaxed}{.cta,.cluster}{.shspaces}.b64  d:T_, [a]{, count:u32} ; 7.0 sm_80
mbarrier.{arrive,arrive_drop}.expect_tx{.release,.relaxed}{.cta,.cluster}{.shspaces}.b64  d:T_, [a], tx:u32 ; 8.0 sm_90
mbarrier.{arrive,arrive_drop}.noComplete{.release}{.cta}{.ctaspaces}.b64  d:T_, [a], count:u32 ; 7.0 sm_80
mbarrier.test_wait{.acquire,.relaxed}{.cta,.cluster}{.ctaspaces}.b64  dp:pred, [a], state:T ; 7.0 sm_80
mbarrier.test_wait.parity{.acquire,.relaxed}{.cta,.cluster}{.ctaspaces}.b64  dp:pred, [a], phase:u32 ; 7.1 sm_80
mbarrier.try_wait{.acquire,.relaxed}{.cta,.cluster}{.ctaspaces}.b64  dp:pred, [a], state:T{, hint:u32} ; 7.8 sm_90
mbarrier.try_wait.parity{.acquire,.relaxed}{.cta,.cluster}{.ctaspaces}.b64  dp:pred, [a], phase:u32{, hint:u32} ; 7.8 sm_90
mbarrier.pending_count.b64               d:u32, state:T ; 7.0 sm_80
`

// textureRows: textures and surfaces.
const textureRows = `
tex.{1d,2d,3d,a1d,a2d,cube,acube}.v4.{u32,s32,f16,f32}.{s32,f32}  d:{T}4_{|q}, [t]:tex{, e:{s32}1*}{, f:f32} ; 1.0
tex.{2dms,a2dms}.v4.{u32,s32,f32}.s32    d:{T}4_{|q}, [t]:tex{, e:{s32}1*}{, f:f32} ; 3.2 sm_30
tex.{2dms,a2dms}.v2.f16x2.s32            d:{T}2_{|q}, [t]:tex{, e:{s32}1*}{, f:f32} ; 4.2 sm_53
tex.{1d,2d,3d,a1d,a2d,cube,acube}.v2.f16x2.{s32,f32}  d:{T}2_{|q}, [t]:tex{, e:{s32}1*}{, f:f32} ; 4.2 sm_53
tex.base.{1d,2d,3d,a1d,a2d,cube,acube}.v4.{u32,s32,f16,f32}.{s32,f32}  d:{T}4_{|q}, [t]:tex{, e:{s32}1*}{, f:f32} ; 3.1 sm_30
tex.base.{1d,2d,3d,a1d,a2d,cube,acube}.v2.f16x2.{s32,f32}  d:{T}2_{|q}, [t]:tex{, e:{s32}1*}{, f:f32} ; 4.2 sm_53
tex.level.{1d,2d,3d,a1d,a2d,cube,acube}.v4.{u32,s32,f16,f32}.{s32,f32}  d:{T}4_{|q}, [t]:tex, lod:T2{, e:{s32}1*}{, f:f32} ; 3.1 sm_30
tex.level.{1d,2d,3d,a1d,a2d,cube,acube}.v2.f16x2.{s32,f32}  d:{T}2_{|q}, [t]:tex, lod:T2{, e:{s32}1*}{, f:f32} ; 4.2 sm_53
tex.grad.{1d,2d,3d,a1d,a2d,cube,acube}.v4.{u32,s32,f16,f32}.f32  d:{T}4_{|q}, [t]:tex, x:{f32}1*, y:{f32}1*{, e:{s32}1*}{, f:f32} ; 3.1 sm_30
tex.grad.{1d,2d,3d,a1d,a2d,cube,acube}.v2.f16x2.f32  d:{T}2_{|q}, [t]:tex, x:{f32}1*, y:{f32}1*{, e:{s32}1*}{, f:f32} ; 4.2 sm_53
tld4.{r,g,b,a}.{2d,a2d,cube,acube}.v4.{u32,s32,f32}.f32  d:{T}4_{|q}, [t]:tex{, e:{s32}1*}{, f:f32} ; 3.1 sm_30
txq.{texquery,sampquery}.b32             d:T, [t] ; 1.5
txq.level.{width,height,depth}.b32       d:T, [t], lod:u32 ; 4.3 sm_30
istypep.{texref,samplerref,surfref}      d:pred, a:b64 ; 4.0 sm_30
suld.b.surfgeom{.nccop,.cv}{.v2,.v4}.{b8,b16,b32,b64}{.clampsurf}  d:{T}v~_, [t]:tex ; 1.5
suld.p.{1d,2d,3d}{.nccop,.cv}{.v2,.v4}.{b32,u32,s32,f32}{.clampsurf}  d:{T}v_, [t]:tex ; 1.5
sust.b.surfgeom{.stcop}{.v2,.v4}.{b8,b16,b32,b64}{.clampsurf}  [t]:tex, b:{T}v~ ; 1.5
sust.p.{1d,2d,3d}{.stcop}{.v2,.v4}.{b32,u32,s32,f32}{.clampsurf}  [t]:tex, b:{T}v ; 1.5
sured.b.add.{1d,2d,3d}.{u32,u64,s32}{.clampsurf}  [t]:tex, c:T ; 3.0 sm_20
sured.b.{min,max}.{1d,2d,3d}.{u32,s32,u64,s64}{.clampsurf}  [t]:tex, c:T ; 3.0 sm_20
sured.b.{and,or}.{1d,2d,3d}.{b32,b64}{.clampsurf}  [t]:tex, c:T ; 3.0 sm_20
sured.p.{add,min,max,and,or}.{1d,2d,3d}.{b32,b64}{.clampsurf}  [t]:tex, c:T ; 3.0 sm_20
suq.surfquery.b32                        d:T, [t] ; 1.5
`
