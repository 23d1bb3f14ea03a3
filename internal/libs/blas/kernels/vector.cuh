// Functions of vectors: elementwise ones, and reductions in two stages, whose order
// depends only on the number of blocks.
#pragma once
#include "operand.cuh"

// in says with what type an element is computed, and what the type of its absolute value is.
template <class T> struct in { typedef T acc; typedef T real; typedef T part; };
template <> struct in<__half> { typedef float acc; typedef float real; typedef __half part; };
template <> struct in<__nv_bfloat16> { typedef float acc; typedef float real; typedef __nv_bfloat16 part; };
template <class R> struct in<complex<R>> { typedef complex<R> acc; typedef R real; typedef R part; };

// each calls f for the elements of this thread.
template <class F> __device__ inline void each(int n, F f) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) f(i);
}

// vectors calls f(x, y) for the elements of two vectors. x may be changed too.
template <class T, class F> __device__ inline void vectors(const task<T> &p, F f) {
  T *x = const_cast<T *>(p.a.base(blockIdx.z)), *y = p.c.base(blockIdx.z);
  each(p.n, [&](int64_t i) { f(x[i * p.a.ld], y[i * p.c.ld]); });
}

template <class T> __device__ inline void axpy(const task<T> &p) {
  typedef typename in<T>::acc Acc;
  const Acc alpha = p.alpha.template get<Acc>();
  if (alpha == Acc(0)) return; // x is not read
  vectors(p, [&](T &x, T &y) { y = put<T>(mad(alpha, get<Acc>(x), get<Acc>(y))); });
}

template <class T> __device__ inline void scal(const task<T> &p) {
  typedef typename in<T>::acc Acc;
  const Acc alpha = p.alpha.template get<Acc>();
  T *x = p.c.base(0);
  each(p.n, [&](int64_t i) { x[i * p.c.ld] = put<T>(alpha * get<Acc>(x[i * p.c.ld])); });
}

// rot: alpha is the cosine, beta the sine.
template <class T> __device__ inline void rot(const task<T> &p) {
  typedef typename in<T>::acc Acc;
  const Acc c = p.alpha.template get<Acc>(), s = p.beta.template get<Acc>();
  vectors(p, [&](T &x, T &y) {
    const Acc vx = get<Acc>(x), vy = get<Acc>(y);
    x = put<T>(mad(s, vy, c * vx));
    y = put<T>(mad(negative(conj(s)), vx, c * vy));
  });
}

// rotm: alpha is where the flag and the matrix H are.
template <class T> __device__ inline void rotm(const task<T> &p) {
  typedef typename in<T>::acc Acc;
  const T *h = (const T *)p.alpha.at;
  const Acc flag = get<Acc>(h[0]);
  if (flag == -2) return;
  const Acc h11 = flag == 0 ? Acc(1) : get<Acc>(h[1]), h21 = flag == 1 ? Acc(-1) : get<Acc>(h[2]);
  const Acc h12 = flag == 1 ? Acc(1) : get<Acc>(h[3]), h22 = flag == 0 ? Acc(1) : get<Acc>(h[4]);
  vectors(p, [&](T &x, T &y) {
    const Acc vx = get<Acc>(x), vy = get<Acc>(y);
    x = put<T>(mad(h12, vy, h11 * vx));
    y = put<T>(mad(h21, vx, h22 * vy));
  });
}

// Rotations that make b zero.
template <class T> __device__ inline void rotg(T *pa, T *pb, T *pc, T *ps) {
  typedef typename in<T>::acc Acc;
  const Acc a = get<Acc>(*pa), b = get<Acc>(*pb);
  const Acc larger = fabs(a) > fabs(b) ? a : b, scale = fabs(larger);
  Acc r = 0, z = 0, c = 1, s = 0;
  if (a != 0 || b != 0) {
    const Acc x = a / scale, y = b / scale, length = copysign(sqrt(fma(x, x, y * y)), larger);
    r = scale * length;
    c = x / length;
    s = y / length;
    z = fabs(a) > fabs(b) ? s : c != 0 ? 1 / c : Acc(1);
  }
  *pa = put<T>(r), *pb = put<T>(z), *pc = put<T>(c), *ps = put<T>(s);
}

template <class R> __device__ inline void rotg(complex<R> *pa, complex<R> *pb, R *pc, complex<R> *ps) {
  const complex<R> a = *pa, b = *pb;
  const R size = hypot(a.x, a.y), other = hypot(b.x, b.y);
  if (size == 0) {
    *pc = 0, *ps = 1, *pa = b;
    return;
  }
  const R norm = hypot(size, other);
  const complex<R> direction(a.x / size, a.y / size), t = direction * conj(b);
  *pc = size / norm;
  *ps = complex<R>(t.x / norm, t.y / norm);
  *pa = complex<R>(direction.x * norm, direction.y * norm);
}

// rotmg: the modified rotation that makes the second of (sqrt(d1) x1, sqrt(d2) y1) zero.
// Factors stay within 4096^-2 and 4096^2, as in the reference BLAS.
template <class T> __device__ inline void rotmg(T *pd1, T *pd2, T *px1, const T *py1, T *param) {
  typedef typename in<T>::acc Acc;
  const Acc g = 4096, most = g * g, least = 1 / most;
  Acc d1 = get<Acc>(*pd1), d2 = get<Acc>(*pd2), x1 = get<Acc>(*px1);
  const Acc y1 = get<Acc>(*py1), p1 = d1 * x1, p2 = d2 * y1;
  Acc flag, h11 = 0, h12 = 0, h21 = 0, h22 = 0;
  const Acc q1 = p1 * x1, q2 = p2 * y1;
  if (d1 < 0) {
    flag = -1;
    d1 = d2 = x1 = 0;
  } else if (p2 == 0) {
    param[0] = put<T>(Acc(-2));
    return;
  } else if (fabs(q1) > fabs(q2)) {
    h21 = -y1 / x1;
    h12 = p2 / p1;
    const Acc u = 1 - h12 * h21;
    flag = u > 0 ? Acc(0) : Acc(-1);
    if (u > 0) {
      d1 /= u, d2 /= u, x1 *= u;
    } else {
      d1 = d2 = x1 = h12 = h21 = 0;
    }
  } else if (q2 < 0) {
    flag = -1;
    d1 = d2 = x1 = 0;
  } else {
    flag = 1;
    h11 = p1 / p2;
    h22 = x1 / y1;
    const Acc u = 1 + h11 * h22, d = d2 / u;
    d2 = d1 / u, d1 = d;
    x1 = y1 * u;
  }
  // Rescaling needs all of H.
  auto whole = [&] {
    if (flag == 0) h11 = h22 = 1;
    if (flag == 1) h21 = -1, h12 = 1;
    flag = -1;
  };
  // A factor that is not finite has no scale.
  for (int i = 0; i < 200 && d1 != 0 && (d1 <= least || d1 >= most); i++) {
    whole();
    const bool small = d1 <= least;
    d1 = small ? d1 * most : d1 / most;
    const Acc f = small ? 1 / g : g;
    x1 *= f, h11 *= f, h12 *= f;
  }
  for (int i = 0; i < 200 && d2 != 0 && (fabs(d2) <= least || fabs(d2) >= most); i++) {
    whole();
    const bool small = fabs(d2) <= least;
    d2 = small ? d2 * most : d2 / most;
    const Acc f = small ? 1 / g : g;
    h21 *= f, h22 *= f;
  }
  *pd1 = put<T>(d1), *pd2 = put<T>(d2), *px1 = put<T>(x1);
  param[0] = put<T>(flag);
  if (flag != 1) param[2] = put<T>(h21), param[3] = put<T>(h12);
  if (flag != 0) param[1] = put<T>(h11), param[4] = put<T>(h22);
}

// Reductions: each has a state, to which elements are added, and states are merged.
template <class T, bool conjugated> struct dot {
  typedef typename in<T>::acc Acc;
  Acc sum = Acc(0);
  __device__ void add(const T &x, const T &y, int64_t) { sum = mad(conjugated ? conj(get<Acc>(x)) : get<Acc>(x), get<Acc>(y), sum); }
  __device__ void merge(const dot &b) { sum = sum + b.sum; }
  __device__ void store(void *to, bool) const { *(T *)to = put<T>(sum); }
};

template <class T> struct asum {
  typedef typename in<T>::acc Acc;
  typename in<T>::real sum = 0;
  __device__ void add(const T &x, const T &, int64_t) {
    const Acc v = get<Acc>(x);
    sum += fabs(realOf(v)) + fabs(imaginaryOf(v));
  }
  __device__ void merge(const asum &b) { sum += b.sum; }
  __device__ void store(void *to, bool) const { *(typename in<T>::part *)to = put<typename in<T>::part>(sum); }
};

// nrm2: squares are summed in three ranges, of which the outer ones are scaled, so that
// none overflows or vanishes (J. L. Blue, A Portable Fortran Program to Find the Euclidean
// Norm of a Vector, 1978).
template <class R> struct range;
template <> struct range<float> {
  static constexpr float small = 0x1p-63f, large = 0x1p52f, up = 0x1p75f, down = 0x1p-76f;
};
template <> struct range<double> {
  static constexpr double small = 0x1p-511, large = 0x1p486, up = 0x1p537, down = 0x1p-538;
};
template <class T> struct nrm2 {
  typedef typename in<T>::acc Acc;
  typedef typename in<T>::real R;
  R low = 0, middle = 0, high = 0;
  __device__ void part(R v) {
    v = fabs(v);
    if (v < range<R>::small) v *= range<R>::up, low = fma(v, v, low);
    else if (v > range<R>::large) v *= range<R>::down, high = fma(v, v, high);
    else middle = fma(v, v, middle);
  }
  __device__ void add(const T &x, const T &, int64_t) {
    const Acc v = get<Acc>(x);
    part(realOf(v));
    if (parts<Acc>::count == 2) part(imaginaryOf(v));
  }
  __device__ void merge(const nrm2 &b) { low += b.low, middle += b.middle, high += b.high; }
  __device__ R norm() const {
    if (high > 0) return sqrt(fma(middle * range<R>::down, range<R>::down, high)) / range<R>::down;
    if (!(low > 0)) return sqrt(middle);
    if (middle == 0) return sqrt(low) / range<R>::up;
    const R a = sqrt(middle), b = sqrt(low) / range<R>::up, most = a > b ? a : b, least = a > b ? b : a, q = least / most;
    return most * sqrt(fma(q, q, R(1)));
  }
  __device__ void store(void *to, bool) const { *(typename in<T>::part *)to = put<typename in<T>::part>(norm()); }
};

// extreme is the first index, from 1, of the element of largest or smallest size; 0 if
// there is none. A size that is not a number counts only if no other does, so that the
// result does not depend on the order in which sizes meet.
template <class T, bool largest> struct extreme {
  typedef typename in<T>::acc Acc;
  typename in<T>::real size = 0;
  int64_t index = 0;
  __device__ bool beats(const extreme &b) const {
    if (!index || !b.index) return index;
    const bool none = size != size, noneB = b.size != b.size;
    if (none != noneB) return noneB;
    return none || size == b.size ? index < b.index : largest ? size > b.size : size < b.size;
  }
  __device__ void add(const T &x, const T &, int64_t i) {
    const Acc v = get<Acc>(x);
    extreme e;
    e.size = fabs(realOf(v)) + fabs(imaginaryOf(v)), e.index = i + 1;
    merge(e);
  }
  __device__ void merge(const extreme &b) {
    if (b.beats(*this)) *this = b;
  }
  __device__ void store(void *to, bool wide) const {
    if (wide) *(int64_t *)to = index;
    else *(int32_t *)to = (int32_t)index;
  }
};

// together merges the states of a block.
template <class State> __device__ inline State together(State own) {
  __shared__ __align__(16) char bytes[256 * sizeof(State)]; // a State would want a constructor
  State *states = (State *)bytes;
  const int t = threadIdx.x;
  states[t] = own;
  for (int n = 128; n > 0; n /= 2) {
    __syncthreads();
    if (t < n) states[t].merge(states[t + n]);
  }
  return states[0];
}

// reduce is the first stage: the state of a block, or the result if it is the only one. at
// is for states.
template <class State, class T> __device__ inline void reduce(const task<T> &p, State *at, void *result) {
  State s;
  const T *x = p.a.base(0), *y = p.b.base(0);
  each(p.n, [&](int64_t i) { s.add(x[i * p.a.ld], y[i * p.b.ld], i); });
  s = together(s);
  if (threadIdx.x == 0) {
    if (gridDim.x == 1) s.store(result, p.flags);
    else at[blockIdx.x] = s;
  }
}

// finish is the second stage: p.n is the number of blocks of the first.
template <class State, class T> __device__ inline void finish(const task<T> &p, const State *at, void *result) {
  State s;
  for (int i = threadIdx.x; i < p.n; i += blockDim.x) s.merge(at[i]);
  s = together(s);
  if (threadIdx.x == 0) s.store(result, p.flags);
}

#define REDUCTION(T, name, which, ...) \
  extern "C" __global__ void __launch_bounds__(256) which##_##name(task<T> p, void *at, void *to) { reduce(p, (__VA_ARGS__ *)at, to); } \
  extern "C" __global__ void __launch_bounds__(256) which##_end_##name(task<T> p, void *at, void *to) { finish(p, (const __VA_ARGS__ *)at, to); }
#define VECTOR(T, name) \
  extern "C" __global__ void copy_##name(task<T> p) { vectors(p, [](T &x, T &y) { y = x; }); } \
  extern "C" __global__ void swap_##name(task<T> p) { vectors(p, [](T &x, T &y) { const T t = x; x = y, y = t; }); } \
  extern "C" __global__ void axpy_##name(task<T> p) { axpy(p); } \
  extern "C" __global__ void scal_##name(task<T> p) { scal(p); } \
  extern "C" __global__ void rot_##name(task<T> p) { rot(p); } \
  extern "C" __global__ void rotg_##name(T *a, T *b, in<T>::part *c, T *s) { rotg(a, b, c, s); } \
  REDUCTION(T, name, dot, dot<T, false>) \
  REDUCTION(T, name, asum, asum<T>) \
  REDUCTION(T, name, nrm2, nrm2<T>) \
  REDUCTION(T, name, amax, extreme<T, true>) \
  REDUCTION(T, name, amin, extreme<T, false>)
#define REAL(T, name) \
  VECTOR(T, name) \
  extern "C" __global__ void rotm_##name(task<T> p) { rotm(p); } \
  extern "C" __global__ void rotmg_##name(T *d1, T *d2, T *x1, const T *y1, T *param) { rotmg(d1, d2, x1, y1, param); }
#define COMPLEX(T, name) \
  VECTOR(T, name) \
  REDUCTION(T, name, dotc, dot<T, true>)
