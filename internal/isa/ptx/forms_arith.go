package ptx

// integerRows: integer and extended-precision arithmetic.
const integerRows = `
add.{u16,u32,u64,s16,s64}                d:T, a:T, b:T ; 1.0
add{.sat}.s32                            d:T, a:T, b:T ; 1.0
add.{u16x2,s16x2}                        d:T, a:T, b:T ; 8.0 sm_90
sub.{u16,u32,u64,s16,s64}                d:T, a:T, b:T ; 1.0
sub{.sat}.s32                            d:T, a:T, b:T ; 1.0
mul.{lo,hi}.int16up                      d:T, a:T, b:T ; 1.0
mul.wide.{u16,u32,s16,s32}               d:WT, a:T, b:T ; 1.0
mad.{lo,hi}.int16up                      d:T, a:T, b:T, c:T ; 1.0
mad.wide.{u16,u32,s16,s32}               d:WT, a:T, b:T, c:WT ; 1.0
mad.hi.sat.s32                           d:T, a:T, b:T, c:T ; 1.0
mul24.lohi.i32                           d:T, a:T, b:T ; 1.0
mad24.lohi.i32                           d:T, a:T, b:T, c:T ; 1.0
mad24.hi.sat.s32                         d:T, a:T, b:T, c:T ; 1.0
sad.int16up                              d:T, a:T, b:T, c:T ; 1.0
div.int16up                              d:T, a:T, b:T ; 1.0
rem.int16up                              d:T, a:T, b:T ; 1.0
abs.s16up                                d:T, a:T ; 1.0
neg.s16up                                d:T, a:T ; 1.0
min.{u16,u32,u64,s16,s64}                d:T, a:T, b:T ; 1.0
min{.relu}.s32                           d:T, a:T, b:T ; 1.0
min.u16x2                                d:T, a:T, b:T ; 8.0 sm_90
min{.relu}.s16x2                         d:T, a:T, b:T ; 8.0 sm_90
max.{u16,u32,u64,s16,s64}                d:T, a:T, b:T ; 1.0
max{.relu}.s32                           d:T, a:T, b:T ; 1.0
max.u16x2                                d:T, a:T, b:T ; 8.0 sm_90
max{.relu}.s16x2                         d:T, a:T, b:T ; 8.0 sm_90
popc.{b32,b64}                           d:u32, a:T ; 2.0 sm_20
clz.{b32,b64}                            d:u32, a:T ; 2.0 sm_20
bfind{.shiftamt}.int32up                 d:u32, a:T ; 2.0 sm_20
fns.b32                                  d:b32, mask:b32, base:b32, offset:s32 ; 6.0 sm_30
brev.{b32,b64}                           d:T, a:T ; 2.0 sm_20
bfe.int32up                              d:T, a:T, b:u32, c:u32 ; 2.0 sm_20
bfi.{b32,b64}                            d:T, a:T, b:T, c:u32, e:u32 ; 2.0 sm_20
szext.clampmode.i32                      d:T, a:T, b:u32 ; 7.6 sm_70
bmsk.clampmode.b32                       d:T, a:u32, b:u32 ; 7.6 sm_70
dp4a.i32.i32                             d:b32, a:b32, b:b32, c:b32 ; 5.0 sm_61
dp2a.lohi.i32.i32                        d:b32, a:b32, b:b32, c:b32 ; 5.0 sm_61

# extended precision
add.cc.i32                               d:T, a:T, b:T ; 1.2
add.cc.i64                               d:T, a:T, b:T ; 4.3
addc{.cc}.i32                            d:T, a:T, b:T ; 1.2
addc{.cc}.i64                            d:T, a:T, b:T ; 4.3
sub.cc.i32                               d:T, a:T, b:T ; 1.2
sub.cc.i64                               d:T, a:T, b:T ; 4.3
subc{.cc}.i32                            d:T, a:T, b:T ; 3.0
subc{.cc}.i64                            d:T, a:T, b:T ; 4.3
mad.lohi.cc.i32                         d:T, a:T, b:T, c:T ; 3.0 sm_20
mad.lohi.cc.i64                         d:T, a:T, b:T, c:T ; 4.3 sm_20
madc.lohi{.cc}.i32                      d:T, a:T, b:T, c:T ; 3.0 sm_20
madc.lohi{.cc}.i64                      d:T, a:T, b:T, c:T ; 4.3 sm_20
`

// floatRows: floating-point arithmetic of every precision. Rows of version 1.0
// without a rounding or approximation modifier are those of PTX before 1.4, where
// it was optional.
const floatRows = `
testp.{finite,infinite,number,notanumber,normal,subnormal}.{f32,f64}  d:pred, a:T ; 2.0 sm_20
copysign.{f32,f64}                       d:T, a:T, b:T ; 2.0 sm_20

add{.rnd}{.ftz}{.sat}.f32                d:T, a:T, b:T ; 1.0
add{.rnd}{.ftz}.f32x2                    d:T, a:T, b:T ; 8.6 sm_100
add{.rnd}.f64                            d:T, a:T, b:T ; 1.0 sm_13
add{.rn}{.ftz}{.sat}.half                d:T, a:T, b:T ; 4.2 sm_53
add{.rn}.bhalf                           d:T, a:T, b:T ; 7.8 sm_90
add{.rnd}{.sat}.f32.{f16,bf16}           d:T, a:T2, c:T ; 8.6 sm_100
sub{.rnd}{.ftz}{.sat}.f32                d:T, a:T, b:T ; 1.0
sub{.rnd}{.ftz}.f32x2                    d:T, a:T, b:T ; 8.6 sm_100
sub{.rnd}.f64                            d:T, a:T, b:T ; 1.0 sm_13
sub{.rn}{.ftz}{.sat}.half                d:T, a:T, b:T ; 4.2 sm_53
sub{.rn}.bhalf                           d:T, a:T, b:T ; 7.8 sm_90
sub{.rnd}{.sat}.f32.{f16,bf16}           d:T, a:T2, c:T ; 8.6 sm_100
mul{.rnd}{.ftz}{.sat}.f32                d:T, a:T, b:T ; 1.0
mul{.rnd}{.ftz}.f32x2                    d:T, a:T, b:T ; 8.6 sm_100
mul{.rnd}.f64                            d:T, a:T, b:T ; 1.0 sm_13
mul{.rn}{.ftz}{.sat}.half                d:T, a:T, b:T ; 4.2 sm_53
mul{.rn}.bhalf                           d:T, a:T, b:T ; 7.8 sm_90
fma.rnd{.ftz}{.sat}.f32                  d:T, a:T, b:T, c:T ; 2.0 sm_20
fma.rnd{.ftz}.f32x2                      d:T, a:T, b:T, c:T ; 8.6 sm_100
fma.rnd.f64                              d:T, a:T, b:T, c:T ; 1.4 sm_13
fma.rn{.ftz}{.sat}.half                  d:T, a:T, b:T, c:T ; 4.2 sm_53
fma.rn{.ftz}.relu.half                   d:T, a:T, b:T, c:T ; 7.0 sm_80
fma.rn{.relu}.bhalf                      d:T, a:T, b:T, c:T ; 7.0 sm_80
fma.rn.oob{.relu}.{f16,f16x2,bf16,bf16x2}  d:T, a:T, b:T, c:T ; 8.1 sm_90
fma.rnd{.sat}.f32.{f16,bf16}             d:T, a:T2, b:T2, c:T ; 8.6 sm_100
mad{.rnd}{.ftz}{.sat}.f32                d:T, a:T, b:T, c:T ; 1.0
mad{.rnd}.f64                            d:T, a:T, b:T, c:T ; 1.0 sm_13
div.{approx,full}{.ftz}.f32              d:T, a:T, b:T ; 1.4
div.rnd{.ftz}.f32                        d:T, a:T, b:T ; 1.4 sm_20
div.rnd.f64                              d:T, a:T, b:T ; 1.4 sm_13
div{.ftz}.f32                            d:T, a:T, b:T ; 1.0
div.f64                                  d:T, a:T, b:T ; 1.0 sm_13

abs{.ftz}.f32                            d:T, a:T ; 1.0
abs.f64                                  d:T, a:T ; 1.0 sm_13
abs{.ftz}.half                           d:T, a:T ; 6.5 sm_53
abs.bhalf                                d:T, a:T ; 7.0 sm_80
neg{.ftz}.f32                            d:T, a:T ; 1.0
neg.f64                                  d:T, a:T ; 1.0 sm_13
neg{.ftz}.half                           d:T, a:T ; 6.0 sm_53
neg.bhalf                                d:T, a:T ; 7.0 sm_80
min{.ftz}{.NaN}.f32                      d:T, a:T, b:T ; 1.0
min{.ftz}{.NaN}.xorsign.abs.f32          d:T, a:T, b:T ; 7.2 sm_86
min{.ftz}{.NaN}{.abs}.f32                d:T, a:T, b:T, c:T ; 8.8 sm_100
min.f64                                  d:T, a:T, b:T ; 1.0 sm_13
min{.ftz}{.NaN}.half                     d:T, a:T, b:T ; 7.0 sm_80
min{.ftz}{.NaN}.xorsign.abs.half         d:T, a:T, b:T ; 7.2 sm_86
min{.NaN}.bhalf                          d:T, a:T, b:T ; 7.0 sm_80
min{.NaN}.xorsign.abs.bhalf              d:T, a:T, b:T ; 7.2 sm_86
max{.ftz}{.NaN}.f32                      d:T, a:T, b:T ; 1.0
max{.ftz}{.NaN}.xorsign.abs.f32          d:T, a:T, b:T ; 7.2 sm_86
max{.ftz}{.NaN}{.abs}.f32                d:T, a:T, b:T, c:T ; 8.8 sm_100
max.f64                                  d:T, a:T, b:T ; 1.0 sm_13
max{.ftz}{.NaN}.half                     d:T, a:T, b:T ; 7.0 sm_80
max{.ftz}{.NaN}.xorsign.abs.half         d:T, a:T, b:T ; 7.2 sm_86
max{.NaN}.bhalf                          d:T, a:T, b:T ; 7.0 sm_80
max{.NaN}.xorsign.abs.bhalf              d:T, a:T, b:T ; 7.2 sm_86

rcp.approx{.ftz}.f32                     d:T, a:T ; 1.4
rcp.rnd{.ftz}.f32                        d:T, a:T ; 1.4 sm_20
rcp.rnd.f64                              d:T, a:T ; 1.4 sm_13
rcp.approx.ftz.f64                       d:T, a:T ; 2.1 sm_20
rcp{.ftz}.f32                            d:T, a:T ; 1.0
rcp.f64                                  d:T, a:T ; 1.0 sm_13
sqrt.approx{.ftz}.f32                    d:T, a:T ; 1.4
sqrt.rnd{.ftz}.f32                       d:T, a:T ; 1.4 sm_20
sqrt.rnd.f64                             d:T, a:T ; 1.4 sm_13
sqrt{.ftz}.f32                           d:T, a:T ; 1.0
sqrt.f64                                 d:T, a:T ; 1.0 sm_13
rsqrt.approx{.ftz}.f32                   d:T, a:T ; 1.4
rsqrt.approx.f64                         d:T, a:T ; 1.4 sm_13
rsqrt.approx.ftz.f64                     d:T, a:T ; 4.0 sm_20
rsqrt{.ftz}.{f32,f64}                    d:T, a:T ; 1.0
sin{.approx}{.ftz}.f32                   d:T, a:T ; 1.0
cos{.approx}{.ftz}.f32                   d:T, a:T ; 1.0
lg2{.approx}{.ftz}.f32                   d:T, a:T ; 1.0
ex2{.approx}{.ftz}.f32                   d:T, a:T ; 1.0
ex2.approx{.ftz}.half                    d:T, a:T ; 7.0 sm_75
ex2.approx.ftz.bhalf                     d:T, a:T ; 7.8 sm_90
tanh.approx.{f32,f16,f16x2}              d:T, a:T ; 7.0 sm_75
tanh.approx.bhalf                        d:T, a:T ; 7.8 sm_90
`

// logicRows: comparison, selection, bitwise logic and shifts.
const logicRows = `
set.cmpop{.ftz}.{u32,s32,f32}.cmptype    d:T, a:T2, b:T2 where cmp ; 1.0
set.cmpop.boolop{.ftz}.{u32,s32,f32}.cmptype  d:T, a:T2, b:T2, !c:pred where cmp ; 1.0
set.cmpop{.ftz}.f16.{cmptype,f16}        d:T, a:T2, b:T2 where cmp ; 4.2 sm_53
set.cmpop.boolop{.ftz}.f16.{cmptype,f16} d:T, a:T2, b:T2, !c:pred where cmp ; 4.2 sm_53
set.cmpop.bf16.{cmptype,f16,bf16}        d:T, a:T2, b:T2 where cmp ; 7.8 sm_90
set.cmpop.boolop.bf16.{cmptype,f16,bf16} d:T, a:T2, b:T2, !c:pred where cmp ; 7.8 sm_90
set.fcmpop{.ftz}.{u16,s16,u32,s32}.f16    d:T, a:T2, b:T2 where cmp ; 4.2 sm_53
set.fcmpop.boolop{.ftz}.{u16,s16,u32,s32}.f16  d:T, a:T2, b:T2, !c:pred where cmp ; 4.2 sm_53
set.fcmpop.{u16,s16,u32,s32}.bf16         d:T, a:T2, b:T2 where cmp ; 7.8 sm_90
set.fcmpop.boolop.{u16,s16,u32,s32}.bf16  d:T, a:T2, b:T2, !c:pred where cmp ; 7.8 sm_90
set.fcmpop{.ftz}.{f16x2,u32,s32}.f16x2    d:T, a:T2, b:T2 where cmp ; 4.2 sm_53
set.fcmpop.boolop{.ftz}.{f16x2,u32,s32}.f16x2  d:T, a:T2, b:T2, !c:pred where cmp ; 4.2 sm_53
set.fcmpop.{bf16x2,u32,s32}.bf16x2        d:T, a:T2, b:T2 where cmp ; 7.8 sm_90
set.fcmpop.boolop.{bf16x2,u32,s32}.bf16x2 d:T, a:T2, b:T2, !c:pred where cmp ; 7.8 sm_90
setp.cmpop{.ftz}.cmptype                 d:pred_{|q}, a:T, b:T where cmp ; 1.0
setp.cmpop.boolop{.ftz}.cmptype          d:pred_{|q}, a:T, b:T, !c:pred where cmp ; 1.0
setp.fcmpop{.ftz}.f16                     d:pred_{|q}, a:T, b:T where cmp ; 4.2 sm_53
setp.fcmpop.boolop{.ftz}.f16              d:pred_{|q}, a:T, b:T, !c:pred where cmp ; 4.2 sm_53
setp.fcmpop{.ftz}.f16x2                   d:pred_|q, a:T, b:T where cmp ; 4.2 sm_53
setp.fcmpop.boolop{.ftz}.f16x2            d:pred_|q, a:T, b:T, !c:pred where cmp ; 4.2 sm_53
setp.fcmpop.bf16                          d:pred_{|q}, a:T, b:T where cmp ; 7.8 sm_90
setp.fcmpop.boolop.bf16                   d:pred_{|q}, a:T, b:T, !c:pred where cmp ; 7.8 sm_90
setp.fcmpop.bf16x2                        d:pred_|q, a:T, b:T where cmp ; 7.8 sm_90
setp.fcmpop.boolop.bf16x2                 d:pred_|q, a:T, b:T, !c:pred where cmp ; 7.8 sm_90
slct.movtype.s32                         d:T, a:T, b:T, c:s32 ; 1.0
slct{.ftz}.movtype.f32                   d:T, a:T, b:T, c:f32 ; 1.0
selp.movtype                             d:T, a:T, b:T, c:pred ; 1.0

and.{pred,b16,b32,b64}                   d:T, a:T, b:T ; 1.0
or.{pred,b16,b32,b64}                    d:T, a:T, b:T ; 1.0
xor.{pred,b16,b32,b64}                   d:T, a:T, b:T ; 1.0
not.{pred,b16,b32,b64}                   d:T, a:T ; 1.0
cnot.bits16up                            d:T, a:T ; 1.0
lop3.b32                                 d:T, a:T, b:T, c:T, lut:imm ; 4.3 sm_50
lop3.{or,and}.b32                        d:T_|q, a:T, b:T, c:T, lut:imm, !e:pred ; 8.2 sm_70
shf.{l,r}.clampmode.b32                  d:T, a:T, b:T, c:u32 ; 3.1 sm_32
shl.bits16up                             d:T, a:T, b:u32 ; 1.0
shr.{b16,b32,b64,u16,u32,u64,s16,s32,s64}  d:T, a:T, b:u32 ; 1.0
`

// videoRows: scalar and SIMD video instructions. Operands may have a byte or half
// selector: `a.b0`, `d.h1`, `b.b7654`.
const videoRows = `
vadd.i32.i32.i32{.sat}                   d:T, a:b32, b:b32{, c:b32} ; 2.0 sm_20
vadd.i32.i32.i32{.sat}.op2               d:T, a:b32, b:b32, c:b32 ; 2.0 sm_20
vsub.i32.i32.i32{.sat}                   d:T, a:b32, b:b32{, c:b32} ; 2.0 sm_20
vsub.i32.i32.i32{.sat}.op2               d:T, a:b32, b:b32, c:b32 ; 2.0 sm_20
vabsdiff.i32.i32.i32{.sat}               d:T, a:b32, b:b32{, c:b32} ; 2.0 sm_20
vabsdiff.i32.i32.i32{.sat}.op2           d:T, a:b32, b:b32, c:b32 ; 2.0 sm_20
vmin.i32.i32.i32{.sat}                   d:T, a:b32, b:b32{, c:b32} ; 2.0 sm_20
vmin.i32.i32.i32{.sat}.op2               d:T, a:b32, b:b32, c:b32 ; 2.0 sm_20
vmax.i32.i32.i32{.sat}                   d:T, a:b32, b:b32{, c:b32} ; 2.0 sm_20
vmax.i32.i32.i32{.sat}.op2               d:T, a:b32, b:b32, c:b32 ; 2.0 sm_20
vshl.i32.i32.u32{.sat}.clampmode         d:T, a:b32, b:b32{, c:b32} ; 2.0 sm_20
vshl.i32.i32.u32{.sat}.clampmode.op2     d:T, a:b32, b:b32, c:b32 ; 2.0 sm_20
vshr.i32.i32.u32{.sat}.clampmode         d:T, a:b32, b:b32{, c:b32} ; 2.0 sm_20
vshr.i32.i32.u32{.sat}.clampmode.op2     d:T, a:b32, b:b32, c:b32 ; 2.0 sm_20
vmad.i32.i32.i32{.sat}{.shr7,.shr15}     d:T, !a:b32, !b:b32, !c:b32 ; 2.0 sm_20
vmad.i32.i32.i32.po{.sat}{.shr7,.shr15}  d:T, a:b32, b:b32, c:b32 ; 2.0 sm_20
vset.i32.i32.{eq,ne,lt,le,gt,ge}         d:u32, a:b32, b:b32{, c:b32} ; 2.0 sm_20
vset.i32.i32.{eq,ne,lt,le,gt,ge}.op2     d:u32, a:b32, b:b32, c:b32 ; 2.0 sm_20
vadd2.i32.i32.i32{.sat,.add}             d:T, a:b32, b:b32, c:b32 ; 3.0 sm_30
vsub2.i32.i32.i32{.sat,.add}             d:T, a:b32, b:b32, c:b32 ; 3.0 sm_30
vavrg2.i32.i32.i32{.sat,.add}            d:T, a:b32, b:b32, c:b32 ; 3.0 sm_30
vabsdiff2.i32.i32.i32{.sat,.add}         d:T, a:b32, b:b32, c:b32 ; 3.0 sm_30
vmin2.i32.i32.i32{.sat,.add}             d:T, a:b32, b:b32, c:b32 ; 3.0 sm_30
vmax2.i32.i32.i32{.sat,.add}             d:T, a:b32, b:b32, c:b32 ; 3.0 sm_30
vset2.i32.i32.{eq,ne,lt,le,gt,ge}{.add}  d:u32, a:b32, b:b32, c:b32 ; 3.0 sm_30
vadd4.i32.i32.i32{.sat,.add}             d:T, a:b32, b:b32, c:b32 ; 3.0 sm_30
vsub4.i32.i32.i32{.sat,.add}             d:T, a:b32, b:b32, c:b32 ; 3.0 sm_30
vavrg4.i32.i32.i32{.sat,.add}            d:T, a:b32, b:b32, c:b32 ; 3.0 sm_30
vabsdiff4.i32.i32.i32{.sat,.add}         d:T, a:b32, b:b32, c:b32 ; 3.0 sm_30
vmin4.i32.i32.i32{.sat,.add}             d:T, a:b32, b:b32, c:b32 ; 3.0 sm_30
vmax4.i32.i32.i32{.sat,.add}             d:T, a:b32, b:b32, c:b32 ; 3.0 sm_30
vset4.i32.i32.{eq,ne,lt,le,gt,ge}{.add}  d:u32, a:b32, b:b32, c:b32 ; 3.0 sm_30
`
