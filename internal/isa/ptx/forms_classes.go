package ptx

// classRows names the sets of modifiers that rows of the instruction table share: a
// name, then its values or earlier names. Rows use a name like a modifier, so it
// must not be one.
const classRows = `
rnd      rn rz rm rp
frnd2    rn rz
irnd     rni rzi rmi rpi
cmpop    eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan
fcmpop   eq ne lt le gt ge equ neu ltu leu gtu geu num nan
boolop   and or xor
lohi     lo hi
vec      v2 v4 v8
clampmode clamp wrap

# state spaces
spaces   const global local param param::entry param::func shared shared::cta shared::cluster
stspaces global local param param::func shared shared::cta shared::cluster
gsspaces global shared shared::cta shared::cluster
shspaces shared shared::cta shared::cluster
ctaspaces shared shared::cta
wspaces  global shared shared::cta

# memory: scopes, orders, cache operators and hints
scope    cta cluster gpu sys
sem      relaxed acquire release acq_rel
ldcop    ca cg cs lu cv
nccop    ca cg cs
stcop    wb cg cs wt
l1evict  L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate
l2evict  L2::evict_normal L2::evict_first L2::evict_last
cachehint L2::cache_hint
prefsize L2::64B L2::128B L2::256B

# types
u16up    u16 u32 u64
s16up    s16 s32 s64
int16up  u16up s16up
int32up  u32 u64 s32 s64
bits16up b16 b32 b64
i32      u32 s32
i64      u64 s64
movtype  b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64
cmptype  movtype
memtype  b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64
vectype  b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64
half     f16 f16x2
bhalf    bf16 bf16x2
f8x2     e4m3x2 e5m2x2
f6x2     e2m3x2 e3m2x2
f4x2     e2m1x2
f8x4     e4m3x4 e5m2x4
f6x4     e2m3x4 e3m2x4
f4x4     e2m1x4
inttype  u8 u16 u32 u64 s8 s16 s32 s64
f8       e4m3 e5m2
f8f6f4   e4m3 e5m2 e3m2 e2m3 e2m1

# textures and surfaces
texgeom  1d 2d 3d a1d a2d cube acube
surfgeom 1d 2d 3d a1d a2d
texquery width height depth channel_data_type channel_order normalized_coords num_mipmap_levels num_samples array_size
sampquery force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 addr_mode_2
surfquery width height depth channel_data_type channel_order array_size memory_layout
clampsurf trap clamp zero

# matrices
layout   row col
wshape   m16n16k16 m8n32k16 m32n8k16
wgshape8 m64n8k8 m64n16k8 m64n24k8 m64n32k8 m64n40k8 m64n48k8 m64n56k8 m64n64k8 m64n72k8 m64n80k8 m64n88k8 m64n96k8 m64n104k8 m64n112k8 m64n120k8 m64n128k8 m64n136k8 m64n144k8 m64n152k8 m64n160k8 m64n168k8 m64n176k8 m64n184k8 m64n192k8 m64n200k8 m64n208k8 m64n216k8 m64n224k8 m64n232k8 m64n240k8 m64n248k8 m64n256k8
wgshape16 m64n8k16 m64n16k16 m64n24k16 m64n32k16 m64n40k16 m64n48k16 m64n56k16 m64n64k16 m64n72k16 m64n80k16 m64n88k16 m64n96k16 m64n104k16 m64n112k16 m64n120k16 m64n128k16 m64n136k16 m64n144k16 m64n152k16 m64n160k16 m64n168k16 m64n176k16 m64n184k16 m64n192k16 m64n200k16 m64n208k16 m64n216k16 m64n224k16 m64n232k16 m64n240k16 m64n248k16 m64n256k16
wgshape32 m64n8k32 m64n16k32 m64n24k32 m64n32k32 m64n40k32 m64n48k32 m64n56k32 m64n64k32 m64n72k32 m64n80k32 m64n88k32 m64n96k32 m64n104k32 m64n112k32 m64n120k32 m64n128k32 m64n136k32 m64n144k32 m64n152k32 m64n160k32 m64n168k32 m64n176k32 m64n184k32 m64n192k32 m64n200k32 m64n208k32 m64n216k32 m64n224k32 m64n232k32 m64n240k32 m64n248k32 m64n256k32
wgshape64 m64n8k64 m64n16k64 m64n24k64 m64n32k64 m64n40k64 m64n48k64 m64n56k64 m64n64k64 m64n72k64 m64n80k64 m64n88k64 m64n96k64 m64n104k64 m64n112k64 m64n120k64 m64n128k64 m64n136k64 m64n144k64 m64n152k64 m64n160k64 m64n168k64 m64n176k64 m64n184k64 m64n192k64 m64n200k64 m64n208k64 m64n216k64 m64n224k64 m64n232k64 m64n240k64 m64n248k64 m64n256k64
wgint32 m64n8k32 m64n16k32 m64n24k32 m64n32k32 m64n48k32 m64n64k32 m64n80k32 m64n96k32 m64n112k32 m64n128k32 m64n144k32 m64n160k32 m64n176k32 m64n192k32 m64n208k32 m64n224k32 m64n240k32 m64n256k32
wgint64 m64n8k64 m64n16k64 m64n24k64 m64n32k64 m64n48k64 m64n64k64 m64n80k64 m64n96k64 m64n112k64 m64n128k64 m64n144k64 m64n160k64 m64n176k64 m64n192k64 m64n208k64 m64n224k64 m64n240k64 m64n256k64
wgint256 m64n8k256 m64n16k256 m64n24k256 m64n32k256 m64n48k256 m64n64k256 m64n80k256 m64n96k256 m64n112k256 m64n128k256 m64n144k256 m64n160k256 m64n176k256 m64n192k256 m64n208k256 m64n224k256 m64n240k256 m64n256k256
tcnum    x1 x2 x4 x8 x16 x32 x64 x128
tckind   kind::f16 kind::tf32 kind::f8f6f4 kind::i8
tcmxkind kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4

# video
op2      add min max
simdop2  add
`
