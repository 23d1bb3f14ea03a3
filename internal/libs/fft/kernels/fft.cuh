// A pass of a discrete Fourier transform, as Stockham orders it: a transform of n elements
// is a sequence of passes, each of which reads groups of radix elements, transforms them,
// and writes them to where the next pass expects them; the last leaves them in order. The
// radix is what fits into shared memory, where a group is transformed by the same scheme,
// with radices of 2 to 8.
#pragma once
#include <stdint.h>

// complex is a complex number.
template <class T> struct __align__(2 * sizeof(T)) complex {
  T x, y;
  __device__ complex operator+(complex b) const { return {x + b.x, y + b.y}; }
  __device__ complex operator-(complex b) const { return {x - b.x, y - b.y}; }
  __device__ complex operator*(complex b) const { return {fma(x, b.x, -(y * b.y)), fma(x, b.y, y * b.x)}; }
  __device__ complex operator*(T b) const { return {x * b, y * b}; }
};

// add adds a product with a real number.
template <class T> __device__ inline complex<T> add(complex<T> sum, complex<T> a, T b) { return {fma(a.x, b, sum.x), fma(a.y, b, sum.y)}; }

// turned is a times -i, the root of unity of order 4.
template <class T> __device__ inline complex<T> turned(complex<T> a) { return {a.y, -a.x}; }

enum form { COMPLEX, REAL, HERMITIAN };
enum conjugation { BEFORE = 1, AFTER = 2 }; // the multiplication with factors

// side is what a pass reads, or what it writes.
struct side {
  uint64_t at;
  int64_t step;       // from one element of a transform to the next
  int64_t strides[4]; // from one transform to the next, in each direction of the batch
  uint64_t factors;   // by element, or null
  int32_t form;
  int32_t count;     // of a transform's elements; those beyond it are zero, and not written
  int32_t conjugate;
  int32_t across; // neighbouring threads access neighbouring groups rather than elements
  int32_t plain;  // complex numbers, all of which are in memory, and as they are
  int32_t unused;
};

// pass is the argument of the kernels. One of the directions of its batch, own, is that of
// the groups of one transform.
struct pass {
  side from, to;
  int64_t groups;          // of all transforms
  uint64_t roots;          // of unity of order radix
  uint64_t coarse, fine;   // those of order n: the product of coarse[i >> shift] and fine[i % (1 << shift)]
  int32_t extent[4];
  int32_t own;
  int32_t n, radix;
  int32_t before;  // product of the radices of the passes before
  int32_t rooms;   // groups of a block
  int32_t shift;
  uint64_t radices; // those whose product is radix, the first in the lowest bits, 4 of each
};

// group is where a group lies.
struct group {
  int64_t from, to;  // that of its transform
  int32_t first, last; // number of its first element in what is read and in what is written
  int32_t turn;      // exponent of the second element's root
};

// A block has a thread for every 4 elements.
constexpr int each = 4;

// walk visits all pairs of an inner and an outer index, thread by thread.
struct walk {
  int in, out;
  const int width, in_step, out_step;
  __device__ walk(int width) : in(threadIdx.x % width), out(threadIdx.x / width), width(width), in_step(blockDim.x % width), out_step(blockDim.x / width) {}
  __device__ void next() {
    in += in_step;
    out += out_step;
    if (in >= width) {
      in -= width;
      out++;
    }
  }
};

// slot is where an element of a group lies in shared memory. A gap after every 128 bytes
// keeps elements at distances of powers of two in different banks.
template <class T> __device__ inline int slot(int i) { return i + i / int(128 / sizeof(complex<T>)); }

template <class T> __device__ inline complex<T> treat(const side &s, complex<T> v, int at) {
  if (s.conjugate & BEFORE) v.y = -v.y;
  if (s.factors) v = v * ((const complex<T> *)s.factors)[at];
  if (s.conjugate & AFTER) v.y = -v.y;
  return v;
}

template <class T, bool plain> __device__ inline complex<T> load(const side &s, int64_t base, int at) {
  if (plain) return ((const complex<T> *)s.at)[base + at * s.step];
  complex<T> v = {0, 0};
  if (at >= s.count) return v;
  const bool mirrored = s.form == HERMITIAN && at > s.count / 2;
  const int64_t i = base + (mirrored ? s.count - at : at) * s.step;
  if (s.form == REAL)
    v.x = ((const T *)s.at)[i];
  else
    v = ((const complex<T> *)s.at)[i];
  if (mirrored) v.y = -v.y;
  return treat(s, v, at);
}

template <class T, bool plain> __device__ inline void store(const side &s, int64_t base, int at, complex<T> v) {
  const int64_t i = base + at * s.step;
  if (!plain) {
    if (at >= s.count) return;
    v = treat(s, v, at);
    if (s.form == REAL) {
      ((T *)s.at)[i] = v.x;
      return;
    }
  }
  ((complex<T> *)s.at)[i] = v;
}

// read loads a block's groups into shared memory.
template <class T, bool plain> __device__ inline void read(const pass &p, const group *groups, complex<T> *data, int here) {
  const int room = slot<T>(p.radix), between = p.n / p.radix, width = p.from.across ? here : p.radix, height = p.from.across ? p.radix : here;
  complex<T> v[each];
  int to[each], turn[each];
  walk w(width);
#pragma unroll
  for (int k = 0; k < each; k++, w.next()) {
    to[k] = -1;
    if (w.out < height) {
      const int i = p.from.across ? w.out : w.in, at = p.from.across ? w.in : w.out;
      const group &g = groups[at];
      v[k] = load<T, plain>(p.from, g.from, g.first + i * between);
      to[k] = at * room + slot<T>(i);
      turn[k] = g.turn * i;
    }
  }
#pragma unroll
  for (int k = 0; k < each; k++)
    if (to[k] >= 0) {
      if (p.before > 1) v[k] = v[k] * (((const complex<T> *)p.coarse)[turn[k] >> p.shift] * ((const complex<T> *)p.fine)[turn[k] & ((1 << p.shift) - 1)]);
      data[to[k]] = v[k];
    }
}

// write stores them.
template <class T, bool plain> __device__ inline void write(const pass &p, const group *groups, const complex<T> *from, int here) {
  const int room = slot<T>(p.radix), width = p.to.across ? here : p.radix, height = p.to.across ? p.radix : here;
  walk w(width);
#pragma unroll
  for (int k = 0; k < each; k++, w.next())
    if (w.out < height) {
      const int i = p.to.across ? w.out : w.in, at = p.to.across ? w.in : w.out;
      const group &g = groups[at];
      store<T, plain>(p.to, g.to, g.last + i * p.before, from[at * room + slot<T>(i)]);
    }
}

// cosines and sines of multiples of a turn divided by an odd number.
template <int r> struct angles;
template <> struct angles<3> {
  static constexpr double cosines[] = {1, -0.5}, sines[] = {0, 0.86602540378443864676};
};
template <> struct angles<5> {
  static constexpr double cosines[] = {1, 0.30901699437494742410, -0.80901699437494742410}, sines[] = {0, 0.95105651629515357212, 0.58778525229247312917};
};
template <> struct angles<7> {
  static constexpr double cosines[] = {1, 0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624},
                          sines[] = {0, 0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048};
};
template <int r> constexpr double cosine(int i) { return angles<r>::cosines[i % r > r / 2 ? r - i % r : i % r]; }
template <int r> constexpr double sine(int i) { return i % r > r / 2 ? -angles<r>::sines[r - i % r] : angles<r>::sines[i % r]; }

// transform of r numbers in registers: of an odd number, the sums and differences of
// elements at the same distance from the first need real factors only.
template <class T, int r> struct butterfly {
  static __device__ void run(complex<T> (&v)[r]) {
    complex<T> sums[r / 2], differences[r / 2], first = v[0];
#pragma unroll
    for (int i = 0; i < r / 2; i++) {
      sums[i] = v[i + 1] + v[r - 1 - i];
      differences[i] = v[i + 1] - v[r - 1 - i];
      v[0] = v[0] + sums[i];
    }
#pragma unroll
    for (int k = 1; k <= r / 2; k++) {
      complex<T> even = first, odd = {0, 0};
#pragma unroll
      for (int i = 0; i < r / 2; i++) {
        even = add(even, sums[i], T(cosine<r>(k * (i + 1))));
        odd = i == 0 ? differences[0] * T(sine<r>(k)) : add(odd, differences[i], T(sine<r>(k * (i + 1))));
      }
      odd = turned(odd);
      v[k] = even + odd;
      v[r - k] = even - odd;
    }
  }
};
template <class T> struct butterfly<T, 2> {
  static __device__ void run(complex<T> (&v)[2]) {
    const complex<T> a = v[0];
    v[0] = a + v[1];
    v[1] = a - v[1];
  }
};
template <class T> struct butterfly<T, 4> {
  static __device__ void run(complex<T> (&v)[4]) {
    const complex<T> a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = turned(v[1] - v[3]);
    v[0] = a + c;
    v[1] = b + d;
    v[2] = a - c;
    v[3] = b - d;
  }
};
template <class T> struct butterfly<T, 8> {
  static __device__ void run(complex<T> (&v)[8]) {
    const T root = T(0.70710678118654752440);
    complex<T> even[4] = {v[0], v[2], v[4], v[6]}, odd[4] = {v[1], v[3], v[5], v[7]};
    butterfly<T, 4>::run(even);
    butterfly<T, 4>::run(odd);
    odd[1] = (odd[1] + turned(odd[1])) * root;
    odd[2] = turned(odd[2]);
    odd[3] = (turned(odd[3]) - odd[3]) * root;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      v[i] = even[i] + odd[i];
      v[i + 4] = even[i] - odd[i];
    }
  }
};

// combine is a pass in shared memory over the groups of a block, in place: all threads
// read before the first one writes.
template <class T, int r> __device__ inline void combine(const pass &p, complex<T> *data, int groups, int before) {
  constexpr int most = (each + r - 1) / r; // of a thread
  const complex<T> *roots = (const complex<T> *)p.roots;
  int radix = p.radix;
  asm volatile("" : "+r"(radix)); // otherwise what depends on it is computed for all r at once, and takes registers
  const int count = radix / r, room = slot<T>(radix), turn = count / before;
  const unsigned reciprocal = 0xffffffffu / before + 1; // quotients are exact for the indices in shared memory
  complex<T> v[most][r];
  int to[most], at[most]; // the group in shared memory, and the element
  walk w(count);
#pragma unroll
  for (int k = 0; k < most; k++, w.next()) {
    to[k] = -1;
    if (w.out < groups) {
      const int high = before == 1 ? w.in : __umulhi(w.in, reciprocal), low = w.in - high * before, base = w.out * room;
      at[k] = high * before * r + low;
      to[k] = base;
#pragma unroll
      for (int i = 0; i < r; i++) v[k][i] = data[base + slot<T>(w.in + i * count)];
      if (before > 1)
#pragma unroll
        for (int i = 1; i < r; i++) v[k][i] = v[k][i] * roots[low * turn * i];
      butterfly<T, r>::run(v[k]);
    }
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < most; k++)
    if (to[k] >= 0)
#pragma unroll
      for (int i = 0; i < r; i++) data[to[k] + slot<T>(at[k] + i * before)] = v[k][i];
  __syncthreads();
}

template <class T> __device__ inline void transform(const pass &p) {
  extern __shared__ __align__(16) unsigned char memory[];
  complex<T> *data = (complex<T> *)memory;
  group *groups = (group *)(data + p.rooms * slot<T>(p.radix));
  const int64_t first = int64_t(blockIdx.x) * p.rooms;
  const int here = min(int64_t(p.rooms), p.groups - first), between = p.n / p.radix;

  for (int i = threadIdx.x; i < here; i += blockDim.x) {
    int64_t rest = first + i;
    group g = {0, 0, 0, 0, 0};
#pragma unroll
    for (int d = 0; d < 4; d++) {
      const int at = rest % p.extent[d];
      rest /= p.extent[d];
      if (d == p.own) g.first = at;
      g.from += at * p.from.strides[d];
      g.to += at * p.to.strides[d];
    }
    const int high = g.first / p.before, low = g.first % p.before;
    g.last = high * p.before * p.radix + low;
    g.turn = low * (between / p.before);
    groups[i] = g;
  }
  __syncthreads();

  if (p.from.plain)
    read<T, true>(p, groups, data, here);
  else
    read<T, false>(p, groups, data, here);
  __syncthreads();
  int before = 1;
  for (uint64_t rest = p.radices; rest; rest >>= 4) {
    const int r = rest & 15;
    if (r == 2) combine<T, 2>(p, data, here, before);
    if (r == 3) combine<T, 3>(p, data, here, before);
    if (r == 4) combine<T, 4>(p, data, here, before);
    if (r == 5) combine<T, 5>(p, data, here, before);
    if (r == 7) combine<T, 7>(p, data, here, before);
    if (r == 8) combine<T, 8>(p, data, here, before);
    before *= r;
  }
  if (p.to.plain)
    write<T, true>(p, groups, data, here);
  else
    write<T, false>(p, groups, data, here);
}
