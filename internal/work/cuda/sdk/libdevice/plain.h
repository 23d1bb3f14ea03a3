// Functions of one or a few instructions: conversions, rounding, integers, and float and
// double arithmetic with explicit rounding.

#define FN __attribute__((always_inline))
typedef long long ll;
typedef unsigned long long ull;
typedef unsigned int uint;

static FN double bits_d(ull u) { return __builtin_bit_cast(double, u); }
static FN ull d_bits(double x) { return __builtin_bit_cast(ull, x); }
static FN float bits_f(uint u) { return __builtin_bit_cast(float, u); }
static FN uint f_bits(float x) { return __builtin_bit_cast(uint, x); }

// Sums and products that are not fused. Clang may fuse all others in a kernel, and old
// releases treat the builtins with this rounding as plain operators.
#define UNFUSED(op, type, name, letter)                                     \
  static FN type op##_##name(type a, type b) {                              \
    type r;                                                                 \
    __asm__(#op ".rn." #name " %0, %1, %2;" : "=" letter(r) : letter(a), letter(b)); \
    return r;                                                               \
  }
UNFUSED(add, double, f64, "d")
UNFUSED(mul, double, f64, "d")
UNFUSED(add, float, f32, "f")
UNFUSED(mul, float, f32, "f")

FN double __nv_dadd_rn(double a, double b) { return add_f64(a, b); }
FN double __nv_dsub_rn(double a, double b) { return add_f64(a, -b); }
FN double __nv_dmul_rn(double a, double b) { return mul_f64(a, b); }
FN double __nv_ddiv_rn(double a, double b) { return __nvvm_div_rn_d(a, b); }
FN double __nv_drcp_rn(double a) { return __nvvm_rcp_rn_d(a); }
FN double __nv_dsqrt_rn(double a) { return __nvvm_sqrt_rn_d(a); }
FN float __nv_fadd_rn(float a, float b) { return add_f32(a, b); }
FN float __nv_fsub_rn(float a, float b) { return add_f32(a, -b); }
FN float __nv_fmul_rn(float a, float b) { return mul_f32(a, b); }
FN float __nv_fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
FN float __nv_frcp_rn(float a) { return __nvvm_rcp_rn_f(a); }
FN float __nv_fsqrt_rn(float a) { return __nvvm_sqrt_rn_f(a); }
FN double __nv_fma_rn(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
FN float __nv_fmaf_rn(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
FN float __nv_fmaf_ieee_rn(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
FN float __nv_double2float_rn(double a) { return __nvvm_d2f_rn(a); }
FN int __nv_double2int_rn(double a) { return __nvvm_d2i_rn(a); }
FN uint __nv_double2uint_rn(double a) { return __nvvm_d2ui_rn(a); }
FN ll __nv_double2ll_rn(double a) { return __nvvm_d2ll_rn(a); }
FN ull __nv_double2ull_rn(double a) { return __nvvm_d2ull_rn(a); }
FN int __nv_float2int_rn(float a) { return __nvvm_f2i_rn(a); }
FN uint __nv_float2uint_rn(float a) { return __nvvm_f2ui_rn(a); }
FN ll __nv_float2ll_rn(float a) { return __nvvm_f2ll_rn(a); }
FN ull __nv_float2ull_rn(float a) { return __nvvm_f2ull_rn(a); }
FN float __nv_int2float_rn(int a) { return __nvvm_i2f_rn(a); }
FN double __nv_int2double_rn(int a) { return __nvvm_i2d_rn(a); }
FN float __nv_uint2float_rn(uint a) { return __nvvm_ui2f_rn(a); }
FN double __nv_uint2double_rn(uint a) { return __nvvm_ui2d_rn(a); }
FN float __nv_ll2float_rn(ll a) { return __nvvm_ll2f_rn(a); }
FN double __nv_ll2double_rn(ll a) { return __nvvm_ll2d_rn(a); }
FN float __nv_ull2float_rn(ull a) { return __nvvm_ull2f_rn(a); }
FN double __nv_ull2double_rn(ull a) { return __nvvm_ull2d_rn(a); }
FN double __nv_dadd_rz(double a, double b) { return __nvvm_add_rz_d(a, b); }
FN double __nv_dsub_rz(double a, double b) { return __nvvm_add_rz_d(a, -b); }
FN double __nv_dmul_rz(double a, double b) { return __nvvm_mul_rz_d(a, b); }
FN double __nv_ddiv_rz(double a, double b) { return __nvvm_div_rz_d(a, b); }
FN double __nv_drcp_rz(double a) { return __nvvm_rcp_rz_d(a); }
FN double __nv_dsqrt_rz(double a) { return __nvvm_sqrt_rz_d(a); }
FN float __nv_fadd_rz(float a, float b) { return __nvvm_add_rz_f(a, b); }
FN float __nv_fsub_rz(float a, float b) { return __nvvm_add_rz_f(a, -b); }
FN float __nv_fmul_rz(float a, float b) { return __nvvm_mul_rz_f(a, b); }
FN float __nv_fdiv_rz(float a, float b) { return __nvvm_div_rz_f(a, b); }
FN float __nv_frcp_rz(float a) { return __nvvm_rcp_rz_f(a); }
FN float __nv_fsqrt_rz(float a) { return __nvvm_sqrt_rz_f(a); }
FN double __nv_fma_rz(double a, double b, double c) { return __nvvm_fma_rz_d(a, b, c); }
FN float __nv_fmaf_rz(float a, float b, float c) { return __nvvm_fma_rz_f(a, b, c); }
FN float __nv_fmaf_ieee_rz(float a, float b, float c) { return __nvvm_fma_rz_f(a, b, c); }
FN float __nv_double2float_rz(double a) { return __nvvm_d2f_rz(a); }
// Conversions between integers and floating point, towards zero. Old releases of clang
// treat their builtins for these as C's conversions, which round to nearest and are
// undefined out of range.
#define TOWARDS_ZERO(name, to, TO, out, from, FROM, in, mode)                \
  FN to __nv_##name##_rz(from a) {                                           \
    to r;                                                                    \
    __asm__("cvt." mode "." #TO "." #FROM " %0, %1;" : "=" out(r) : in(a));  \
    return r;                                                                \
  }
TOWARDS_ZERO(double2int, int, s32, "r", double, f64, "d", "rzi")
TOWARDS_ZERO(double2uint, uint, u32, "r", double, f64, "d", "rzi")
TOWARDS_ZERO(double2ll, ll, s64, "l", double, f64, "d", "rzi")
TOWARDS_ZERO(double2ull, ull, u64, "l", double, f64, "d", "rzi")
TOWARDS_ZERO(float2int, int, s32, "r", float, f32, "f", "rzi")
TOWARDS_ZERO(float2uint, uint, u32, "r", float, f32, "f", "rzi")
TOWARDS_ZERO(float2ll, ll, s64, "l", float, f32, "f", "rzi")
TOWARDS_ZERO(float2ull, ull, u64, "l", float, f32, "f", "rzi")
TOWARDS_ZERO(int2float, float, f32, "f", int, s32, "r", "rz")
TOWARDS_ZERO(uint2float, float, f32, "f", uint, u32, "r", "rz")
TOWARDS_ZERO(ll2float, float, f32, "f", ll, s64, "l", "rz")
TOWARDS_ZERO(ull2float, float, f32, "f", ull, u64, "l", "rz")
TOWARDS_ZERO(ll2double, double, f64, "d", ll, s64, "l", "rz")
TOWARDS_ZERO(ull2double, double, f64, "d", ull, u64, "l", "rz")
FN double __nv_dadd_rd(double a, double b) { return __nvvm_add_rm_d(a, b); }
FN double __nv_dsub_rd(double a, double b) { return __nvvm_add_rm_d(a, -b); }
FN double __nv_dmul_rd(double a, double b) { return __nvvm_mul_rm_d(a, b); }
FN double __nv_ddiv_rd(double a, double b) { return __nvvm_div_rm_d(a, b); }
FN double __nv_drcp_rd(double a) { return __nvvm_rcp_rm_d(a); }
FN double __nv_dsqrt_rd(double a) { return __nvvm_sqrt_rm_d(a); }
FN float __nv_fadd_rd(float a, float b) { return __nvvm_add_rm_f(a, b); }
FN float __nv_fsub_rd(float a, float b) { return __nvvm_add_rm_f(a, -b); }
FN float __nv_fmul_rd(float a, float b) { return __nvvm_mul_rm_f(a, b); }
FN float __nv_fdiv_rd(float a, float b) { return __nvvm_div_rm_f(a, b); }
FN float __nv_frcp_rd(float a) { return __nvvm_rcp_rm_f(a); }
FN float __nv_fsqrt_rd(float a) { return __nvvm_sqrt_rm_f(a); }
FN double __nv_fma_rd(double a, double b, double c) { return __nvvm_fma_rm_d(a, b, c); }
FN float __nv_fmaf_rd(float a, float b, float c) { return __nvvm_fma_rm_f(a, b, c); }
FN float __nv_fmaf_ieee_rd(float a, float b, float c) { return __nvvm_fma_rm_f(a, b, c); }
FN float __nv_double2float_rd(double a) { return __nvvm_d2f_rm(a); }
FN int __nv_double2int_rd(double a) { return __nvvm_d2i_rm(a); }
FN uint __nv_double2uint_rd(double a) { return __nvvm_d2ui_rm(a); }
FN ll __nv_double2ll_rd(double a) { return __nvvm_d2ll_rm(a); }
FN ull __nv_double2ull_rd(double a) { return __nvvm_d2ull_rm(a); }
FN int __nv_float2int_rd(float a) { return __nvvm_f2i_rm(a); }
FN uint __nv_float2uint_rd(float a) { return __nvvm_f2ui_rm(a); }
FN ll __nv_float2ll_rd(float a) { return __nvvm_f2ll_rm(a); }
FN ull __nv_float2ull_rd(float a) { return __nvvm_f2ull_rm(a); }
FN float __nv_int2float_rd(int a) { return __nvvm_i2f_rm(a); }
FN float __nv_uint2float_rd(uint a) { return __nvvm_ui2f_rm(a); }
FN float __nv_ll2float_rd(ll a) { return __nvvm_ll2f_rm(a); }
FN double __nv_ll2double_rd(ll a) { return __nvvm_ll2d_rm(a); }
FN float __nv_ull2float_rd(ull a) { return __nvvm_ull2f_rm(a); }
FN double __nv_ull2double_rd(ull a) { return __nvvm_ull2d_rm(a); }
FN double __nv_dadd_ru(double a, double b) { return __nvvm_add_rp_d(a, b); }
FN double __nv_dsub_ru(double a, double b) { return __nvvm_add_rp_d(a, -b); }
FN double __nv_dmul_ru(double a, double b) { return __nvvm_mul_rp_d(a, b); }
FN double __nv_ddiv_ru(double a, double b) { return __nvvm_div_rp_d(a, b); }
FN double __nv_drcp_ru(double a) { return __nvvm_rcp_rp_d(a); }
FN double __nv_dsqrt_ru(double a) { return __nvvm_sqrt_rp_d(a); }
FN float __nv_fadd_ru(float a, float b) { return __nvvm_add_rp_f(a, b); }
FN float __nv_fsub_ru(float a, float b) { return __nvvm_add_rp_f(a, -b); }
FN float __nv_fmul_ru(float a, float b) { return __nvvm_mul_rp_f(a, b); }
FN float __nv_fdiv_ru(float a, float b) { return __nvvm_div_rp_f(a, b); }
FN float __nv_frcp_ru(float a) { return __nvvm_rcp_rp_f(a); }
FN float __nv_fsqrt_ru(float a) { return __nvvm_sqrt_rp_f(a); }
FN double __nv_fma_ru(double a, double b, double c) { return __nvvm_fma_rp_d(a, b, c); }
FN float __nv_fmaf_ru(float a, float b, float c) { return __nvvm_fma_rp_f(a, b, c); }
FN float __nv_fmaf_ieee_ru(float a, float b, float c) { return __nvvm_fma_rp_f(a, b, c); }
FN float __nv_double2float_ru(double a) { return __nvvm_d2f_rp(a); }
FN int __nv_double2int_ru(double a) { return __nvvm_d2i_rp(a); }
FN uint __nv_double2uint_ru(double a) { return __nvvm_d2ui_rp(a); }
FN ll __nv_double2ll_ru(double a) { return __nvvm_d2ll_rp(a); }
FN ull __nv_double2ull_ru(double a) { return __nvvm_d2ull_rp(a); }
FN int __nv_float2int_ru(float a) { return __nvvm_f2i_rp(a); }
FN uint __nv_float2uint_ru(float a) { return __nvvm_f2ui_rp(a); }
FN ll __nv_float2ll_ru(float a) { return __nvvm_f2ll_rp(a); }
FN ull __nv_float2ull_ru(float a) { return __nvvm_f2ull_rp(a); }
FN float __nv_int2float_ru(int a) { return __nvvm_i2f_rp(a); }
FN float __nv_uint2float_ru(uint a) { return __nvvm_ui2f_rp(a); }
FN float __nv_ll2float_ru(ll a) { return __nvvm_ll2f_rp(a); }
FN double __nv_ll2double_ru(ll a) { return __nvvm_ll2d_rp(a); }
FN float __nv_ull2float_ru(ull a) { return __nvvm_ull2f_rp(a); }
FN double __nv_ull2double_ru(ull a) { return __nvvm_ull2d_rp(a); }
FN float __nv_frsqrt_rn(float a) {
  double x = a; // one rounding at the end, apart from a tiny error
  return (float)(1.0 / __builtin_sqrt(x));
}
FN int __nv_abs(int a) { return a < 0 ? (int)-(uint)a : a; }
FN ll __nv_llabs(ll a) { return a < 0 ? (ll)-(ull)a : a; }
FN int __nv_min(int a, int b) { return b < a ? b : a; }
FN int __nv_max(int a, int b) { return a < b ? b : a; }
FN uint __nv_umin(uint a, uint b) { return b < a ? b : a; }
FN uint __nv_umax(uint a, uint b) { return a < b ? b : a; }
FN ll __nv_llmin(ll a, ll b) { return b < a ? b : a; }
FN ll __nv_llmax(ll a, ll b) { return a < b ? b : a; }
FN ull __nv_ullmin(ull a, ull b) { return b < a ? b : a; }
FN ull __nv_ullmax(ull a, ull b) { return a < b ? b : a; }
FN int __nv_brev(int a) { return (int)__builtin_bitreverse32((uint)a); }
FN ll __nv_brevll(ll a) { return (ll)__builtin_bitreverse64((ull)a); }
FN int __nv_byte_perm(int a, int b, int c) {
  int d;
  __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c & 0x7777));
  return d;
}
FN int __nv_clz(int a) { return a ? __builtin_clz((uint)a) : 32; }
FN int __nv_clzll(ll a) { return a ? __builtin_clzll((ull)a) : 64; }
FN int __nv_ffs(int a) { return __builtin_ffs(a); }
FN int __nv_ffsll(ll a) { return __builtin_ffsll(a); }
FN int __nv_popc(uint a) { return __builtin_popcount(a); }
FN int __nv_popcll(ull a) { return __builtin_popcountll(a); }
FN int __nv_mulhi(int a, int b) { return (int)(((ll)a * b) >> 32); }
FN uint __nv_umulhi(uint a, uint b) { return (uint)(((ull)a * b) >> 32); }
FN ll __nv_mul64hi(ll a, ll b) { return __nvvm_mulhi_ll(a, b); }
FN ull __nv_umul64hi(ull a, ull b) { return __nvvm_mulhi_ull(a, b); }
FN int __nv_mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
FN uint __nv_umul24(uint a, uint b) { return __nvvm_mul24_ui(a, b); }
FN int __nv_sad(int a, int b, int c) { return __nvvm_sad_i(a, b, c); }
FN uint __nv_usad(uint a, uint b, uint c) { return __nvvm_sad_ui(a, b, c); }
FN int __nv_hadd(int a, int b) { return (int)(((ll)a + b) >> 1); }
FN int __nv_rhadd(int a, int b) { return (int)(((ll)a + b + 1) >> 1); }
FN uint __nv_uhadd(uint a, uint b) { return (uint)(((ull)a + b) >> 1); }
FN uint __nv_urhadd(uint a, uint b) { return (uint)(((ull)a + b + 1) >> 1); }

FN ull __nv_double_as_longlong(double a) { return d_bits(a); }
FN double __nv_longlong_as_double(ll a) { return bits_d((ull)a); }
FN int __nv_float_as_int(float a) { return (int)f_bits(a); }
FN uint __nv_float_as_uint(float a) { return f_bits(a); }
FN float __nv_int_as_float(int a) { return bits_f((uint)a); }
FN float __nv_uint_as_float(uint a) { return bits_f(a); }
FN int __nv_double2hiint(double a) { return (int)(d_bits(a) >> 32); }
FN int __nv_double2loint(double a) { return (int)d_bits(a); }
FN double __nv_hiloint2double(int hi, int lo) { return bits_d((ull)(uint)hi << 32 | (uint)lo); }
FN unsigned short __nv_float2half_rn(float a) {
  unsigned short h;
  __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(a));
  return h;
}
FN float __nv_half2float(unsigned short h) {
  float a;
  __asm__("cvt.f32.f16 %0, %1;" : "=f"(a) : "h"(h));
  return a;
}

FN double __nv_fabs(double a) { return __builtin_fabs(a); }
FN double __nv_ceil(double a) { return __builtin_ceil(a); }
FN double __nv_floor(double a) { return __builtin_floor(a); }
FN double __nv_trunc(double a) { return __builtin_trunc(a); }
FN double __nv_rint(double a) { return __builtin_rint(a); }
FN double __nv_nearbyint(double a) { return __builtin_rint(a); }
FN double __nv_copysign(double a, double b) { return __builtin_copysign(a, b); }
FN double __nv_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
FN double __nv_fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
FN double __nv_fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
FN double __nv_sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
FN double __nv_fdim(double a, double b) { return a <= b ? 0 : a - b; }
FN double __nv_round(double a) {
  double t = __builtin_trunc(a);
  if (__builtin_fabs(a - t) >= (double)0.5) t += __builtin_copysign(1, a);
  return __builtin_copysign(t, a);
}
FN ll __nv_llrint(double a) { return __nvvm_d2ll_rn(a); }
FN ll __nv_llround(double a) { return __nv_double2ll_rz(__nv_round(a)); }
FN double __nv_modf(double a, double *whole) {
  double t = __builtin_trunc(a);
  *whole = t;
  return __builtin_copysign(__builtin_fabs(a) == __builtin_inf() ? 0 : a - t, a);
}

FN float __nv_fabsf(float a) { return __builtin_fabsf(a); }
FN float __nv_ceilf(float a) { return __builtin_ceilf(a); }
FN float __nv_floorf(float a) { return __builtin_floorf(a); }
FN float __nv_truncf(float a) { return __builtin_truncf(a); }
FN float __nv_rintf(float a) { return __builtin_rintf(a); }
FN float __nv_nearbyintf(float a) { return __builtin_rintf(a); }
FN float __nv_copysignf(float a, float b) { return __builtin_copysignf(a, b); }
FN float __nv_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FN float __nv_fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
FN float __nv_fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
FN float __nv_sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
FN float __nv_fdimf(float a, float b) { return a <= b ? 0 : a - b; }
FN float __nv_roundf(float a) {
  float t = __builtin_truncf(a);
  if (__builtin_fabsf(a - t) >= (float)0.5) t += __builtin_copysignf(1, a);
  return __builtin_copysignf(t, a);
}
FN ll __nv_llrintf(float a) { return __nvvm_f2ll_rn(a); }
FN ll __nv_llroundf(float a) { return __nv_float2ll_rz(__nv_roundf(a)); }
FN float __nv_modff(float a, float *whole) {
  float t = __builtin_truncf(a);
  *whole = t;
  return __builtin_copysignf(__builtin_fabsf(a) == __builtin_inff() ? 0 : a - t, a);
}

FN int __nv_isinfd(double a) { return (d_bits(a) & ~(1ull << 63)) == 0x7ffull << 52; }
FN int __nv_isinff(float a) { return (f_bits(a) & 0x7fffffffu) == 0x7f800000u; }
FN int __nv_isnand(double a) { return (d_bits(a) & ~(1ull << 63)) > 0x7ffull << 52; }
FN int __nv_isnanf(float a) { return (f_bits(a) & 0x7fffffffu) > 0x7f800000u; }
FN int __nv_isfinited(double a) { return (d_bits(a) & ~(1ull << 63)) < 0x7ffull << 52; }
FN int __nv_finitef(float a) { return (f_bits(a) & 0x7fffffffu) < 0x7f800000u; }
FN int __nv_signbitd(double a) { return (int)(d_bits(a) >> 63); }
FN int __nv_signbitf(float a) { return (int)(f_bits(a) >> 31); }
FN float __nv_saturatef(float a) { return __nvvm_saturate_f(a); }
FN double __nv_rcp64h(double a) { return __nvvm_rcp_approx_ftz_d(a); }
FN double __nv_nan(const signed char *tag) { return bits_d(0x7ff8ull << 48); }
FN float __nv_nanf(const signed char *tag) { return bits_f(0x7fffffffu); }

// The approximate float functions, as the instructions compute them.
FN float __nv_fast_sinf(float a) { return __nvvm_sin_approx_f(a); }
FN float __nv_fast_cosf(float a) { return __nvvm_cos_approx_f(a); }
FN void __nv_fast_sincosf(float a, float *s, float *c) {
  *s = __nvvm_sin_approx_f(a);
  *c = __nvvm_cos_approx_f(a);
}
FN float __nv_fast_tanf(float a) { return __nvvm_div_approx_f(__nvvm_sin_approx_f(a), __nvvm_cos_approx_f(a)); }
FN float __nv_fast_expf(float a) { return __nvvm_ex2_approx_f(a * 0x1.715476p+0f); }
FN float __nv_fast_exp10f(float a) { return __nvvm_ex2_approx_f(a * 0x1.a934fp+1f); }
FN float __nv_fast_log2f(float a) { return __nvvm_lg2_approx_f(a); }
FN float __nv_fast_logf(float a) { return __nvvm_lg2_approx_f(a) * 0x1.62e43p-1f; }
FN float __nv_fast_log10f(float a) { return __nvvm_lg2_approx_f(a) * 0x1.344136p-2f; }
FN float __nv_fast_powf(float a, float b) { return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)); }
FN float __nv_fast_fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
