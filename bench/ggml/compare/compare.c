// Computes operations of ggml on the CPU and on a CUDA device and compares the results.
// cases.txt is the table of operations; run.sh builds and runs this.
#include <dlfcn.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api.h"

enum { MAX_KEYS = 16, MAX_VALUES = 48, MAX_INPUTS = 12 };

static _Noreturn void fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fflush(stdout);
  fprintf(stderr, "compare: ");
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  exit(2);
}

// The case being built: an operation and its parameters, key=value each.
static struct {
  const char *op;
  int keys;
  char *key[MAX_KEYS];
  char *value[MAX_KEYS];
  bool used[MAX_KEYS];
  char name[512]; // all of it, as in the output
} now;

static const char *word(const char *key, const char *otherwise) {
  for (int i = 0; i < now.keys; i++)
    if (!strcmp(now.key[i], key)) {
      now.used[i] = true;
      return now.value[i];
    }
  if (!otherwise) fail("%s: %s= is missing", now.name, key);
  return otherwise;
}

static double real(const char *key, double otherwise) {
  char text[32], *end;
  snprintf(text, sizeof text, "%.9g", otherwise);
  const char *s = word(key, text);
  double v = strtod(s, &end);
  if (end == s || *end) fail("%s: %s is not a number", now.name, key);
  return v;
}

static int num(const char *key, int otherwise) { return (int)real(key, otherwise); }

// dims reads a shape such as 10x5x4; dimensions that are not there are 1, as in ggml.
static void dims(const char *key, const char *otherwise, int64_t ne[4]) {
  const char *s = word(key, otherwise);
  for (int i = 0; i < 4; i++) ne[i] = 1;
  for (int i = 0; i < 4; i++) {
    char *end;
    ne[i] = strtoll(s, &end, 10);
    if (end == s || ne[i] < 1 || (*end && *end != 'x')) break;
    if (!*end) return;
    s = end + 1;
  }
  fail("%s: %s is no shape such as 10x5x4x3", now.name, key);
}

static int type_of(const char *key, const char *otherwise) {
  const char *s = word(key, otherwise);
  for (int i = 0; i < TYPES; i++) {
    const struct type_traits *t = ggml_get_type_traits(i);
    if (t->name && t->size && !strcasecmp(t->name, s)) return i;
  }
  fail("%s: ggml has no type %s", now.name, s);
}

// pick returns the index of a word in a list, which ends with NULL.
static int pick(const char *key, const char *const *list) {
  const char *s = word(key, NULL);
  for (int i = 0; list[i]; i++)
    if (!strcmp(list[i], s)) return i;
  fail("%s: unknown %s %s", now.name, key, s);
}

// An input of a case and what it is filled with.
enum fill { UNIFORM, WHOLE, ORDER, MASK, LOWER, POSITIONS };
struct input {
  tensor *t;
  enum fill fill;
  double low, high;
  void *bytes; // made once, for both backends
  size_t size;
};
static struct input inputs[MAX_INPUTS];
static int n_inputs, n_bytes;
static context *ctx;

static tensor *input(tensor *t, enum fill fill, double low, double high) {
  if (n_inputs == MAX_INPUTS) fail("%s: more than %d inputs", now.name, MAX_INPUTS);
  inputs[n_inputs].t = t;
  inputs[n_inputs].fill = fill;
  inputs[n_inputs].low = low;
  inputs[n_inputs++].high = high;
  return t;
}

// in_range makes an input of random numbers. The key perm (of the first input) or perm1 (of
// the second) lays it out in another order of dimensions, view and view1 in wider rows.
static tensor *in_range(int type, const int64_t ne[4], double low, double high) {
  char key[16];
  int axis[4];
  int64_t at[4];
  snprintf(key, sizeof key, n_inputs ? "perm%d" : "perm", n_inputs);
  const char *perm = word(key, "0123");
  for (int i = 0; i < 4; i++) {
    axis[i] = perm[i] - '0';
    if (axis[i] < 0 || axis[i] > 3 || strlen(perm) != 4) fail("%s: %s is no order such as 0213", now.name, key);
    at[i] = ne[axis[i]];
  }
  snprintf(key, sizeof key, n_inputs ? "view%d" : "view", n_inputs);
  int wider = num(key, 1);
  tensor *t = input(ggml_new_tensor_4d(ctx, type, at[0] * wider, at[1], at[2], at[3]), UNIFORM, low, high);
  if (wider > 1) t = ggml_view_4d(ctx, t, at[0], at[1], at[2], at[3], t->nb[1], t->nb[2], t->nb[3], 0);
  if (strcmp(perm, "0123")) t = ggml_permute(ctx, t, axis[0], axis[1], axis[2], axis[3]);
  return t;
}

static tensor *in4(int type, int64_t a, int64_t b, int64_t c, int64_t d, double low, double high) { return in_range(type, (int64_t[]){a, b, c, d}, low, high); }

static tensor *in(const char *shape, const char *otherwise) {
  int64_t ne[4];
  dims(shape, otherwise, ne);
  return in_range(type_of("type", "f32"), ne, real("low", -1), real("high", 1));
}

static tensor *plain(int type, enum fill fill, int64_t a, int64_t b, int64_t c, int64_t d, double low, double high) { return input(ggml_new_tensor_4d(ctx, type, a, b, c, d), fill, low, high); }

// rows makes row numbers below n.
static tensor *rows(int type, int64_t a, int64_t b, int64_t c, int64_t n) { return plain(type, WHOLE, a, b, c, 1, 0, n); }

static uint64_t seed;
static uint32_t next(void) { // the generator of Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators"
  uint64_t z = seed += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) >> 32;
}
static double uniform(double low, double high) { return low + (high - low) * ((next() >> 8) / 16777216.0); }

// fill makes the contents of an input and copies them to the backend.
static void fill(struct input *in, int index) {
  tensor *t = in->t;
  int64_t n = ggml_nelements(t), row = t->ne[0];
  if (index >= n_bytes) {
    n_bytes = index + 1;
    in->size = ggml_nbytes(t);
    in->bytes = malloc(in->size);
    float *f = malloc(n * sizeof *f);
    seed = 1000 + index;
    for (int64_t i = 0; i < n; i++) {
      int64_t column = i % row, line = i / row;
      switch (in->fill) {
      case UNIFORM: f[i] = uniform(in->low, in->high); break;
      case WHOLE: f[i] = floor(uniform(in->low, in->high)); break;
      case ORDER: { // the numbers of a row, shuffled
        int64_t j = column ? next() % (column + 1) : 0;
        f[i] = f[i - column + j];
        f[i - column + j] = column;
        break;
      }
      case MASK: f[i] = column && next() % 4 == 0 ? -INFINITY : uniform(-1, 0); break;
      case LOWER: // a lower triangle that is far from singular
        line %= t->ne[1];
        f[i] = column > line ? 0 : column == line ? uniform(1, 2) : uniform(-1, 1) / row;
        break;
      case POSITIONS: f[i] = column; break;
      }
    }
    if (t->type == I32)
      for (int64_t i = 0; i < n; i++) ((int32_t *)in->bytes)[i] = f[i];
    else if (t->type == I64)
      for (int64_t i = 0; i < n; i++) ((int64_t *)in->bytes)[i] = f[i];
    else {
      float *weights = NULL;
      if (ggml_quantize_requires_imatrix(t->type)) {
        weights = malloc(row * sizeof *weights);
        for (int64_t i = 0; i < row; i++) weights[i] = 1;
      }
      ggml_quantize_chunk(t->type, f, in->bytes, 0, n / row, row, weights);
      free(weights);
    }
    free(f);
  }
  ggml_backend_tensor_set(t, in->bytes, 0, in->size);
}

// The operations. Each builds its graph from the parameters and returns the result.

static const char *const unary_names[] = {"abs", "sgn", "neg", "step", "tanh", "elu", "relu", "sigmoid", "gelu", "gelu_quick", "silu", "hardswish", "hardsigmoid", "exp", "expm1", "softplus", "gelu_erf", "xielu", "floor", "ceil", "round", "trunc", NULL};
static tensor *unary(void) {
  int op = pick("op", unary_names);
  tensor *a = in("ne", NULL);
  return op == 17 ? ggml_xielu(ctx, a, 4, 20, 0.5, 1e-7) : ggml_unary(ctx, a, op);
}

static const char *const math_names[] = {"sqr", "sqrt", "log", "sin", "cos", "cumsum", "sum", "sum_rows", "mean", "argmax", "cont", "dup", NULL};
static tensor *(*const math_calls[])(context *, tensor *) = {ggml_sqr, ggml_sqrt, ggml_log, ggml_sin, ggml_cos, ggml_cumsum, ggml_sum, ggml_sum_rows, ggml_mean, ggml_argmax, ggml_cont, ggml_dup};
static tensor *math(void) {
  int op = pick("op", math_names);
  return math_calls[op](ctx, in("ne", NULL));
}

static tensor *leaky_relu(void) { return ggml_leaky_relu(ctx, in("ne", NULL), 0.1, false); }
static tensor *clamp(void) { return ggml_clamp(ctx, in("ne", NULL), -0.5, 0.5); }
static tensor *scale(void) { return ggml_scale_bias(ctx, in("ne", NULL), 2, real("bias", 0)); }
static tensor *fill_with(void) { return ggml_fill(ctx, in("ne", NULL), 3.5); }
static tensor *arange(void) { return ggml_arange(ctx, real("start", 0), real("stop", 10), real("step", 1)); }

static const char *const glu_names[] = {"reglu", "geglu", "swiglu", "swiglu_oai", "geglu_erf", "geglu_quick", NULL};
static tensor *glu(void) {
  int op = pick("op", glu_names);
  tensor *a = in("ne", NULL);
  if (num("split", 0)) {
    tensor *b = in("ne", NULL);
    return op == 3 ? ggml_swiglu_oai(ctx, a, b, 1.702, 7) : ggml_glu_split(ctx, a, b, op);
  }
  return ggml_glu(ctx, a, op, num("swapped", 0));
}

static const char *const binary_names[] = {"add", "sub", "mul", "div", "add1", NULL};
static tensor *(*const binary_calls[])(context *, tensor *, tensor *) = {ggml_add, ggml_sub, ggml_mul, ggml_div, ggml_add1};
static tensor *binary(void) {
  int op = pick("op", binary_names);
  int64_t ne[4];
  tensor *a = in("ne", NULL);
  dims("b", word("ne", NULL), ne);
  return binary_calls[op](ctx, a, in_range(type_of("btype", word("type", "f32")), ne, 0.5, 1.5));
}

static tensor *add_id(void) {
  int64_t n = num("n", 10), used = num("used", 2), tokens = num("tokens", 5), width = num("width", 64);
  tensor *a = in4(F32, width, used, tokens, 1, -1, 1), *b = in4(F32, width, n, 1, 1, -1, 1);
  return ggml_add_id(ctx, a, b, rows(I32, used, tokens, 1, n));
}

static tensor *silu_back(void) {
  tensor *a = in("ne", NULL);
  return ggml_silu_back(ctx, a, in("ne", NULL));
}

// acc adds the second tensor into a corner of the first, set writes it there.
static tensor *corner(tensor *(*call)(context *, tensor *, tensor *, size_t, size_t, size_t, size_t)) {
  tensor *a = in("ne", NULL), *b = in("b", NULL);
  return call(ctx, a, b, a->nb[1], a->nb[2], a->nb[3], num("offset", 0) * a->nb[0]);
}
static tensor *acc(void) { return corner(ggml_acc); }
static tensor *set(void) { return corner(ggml_set); }

static tensor *argsort(void) {
  int64_t ne[4];
  dims("ne", NULL, ne);
  tensor *a = plain(F32, ORDER, ne[0], ne[1], ne[2], ne[3], 0, 0);
  int k = num("k", 0);
  return k ? ggml_top_k(ctx, a, k) : ggml_argsort(ctx, a, num("descending", 0));
}

static tensor *count_equal(void) {
  int64_t ne[4];
  dims("ne", NULL, ne);
  tensor *a = plain(I32, WHOLE, ne[0], ne[1], ne[2], ne[3], 0, 3);
  return ggml_count_equal(ctx, a, plain(I32, WHOLE, ne[0], ne[1], ne[2], ne[3], 0, 3));
}

static tensor *repeat(void) {
  int64_t n[4];
  tensor *a = in("ne", NULL);
  dims("times", NULL, n);
  return ggml_repeat_4d(ctx, a, a->ne[0] * n[0], a->ne[1] * n[1], a->ne[2] * n[2], a->ne[3] * n[3]);
}

static tensor *repeat_back(void) {
  int64_t n[4], ne[4];
  dims("times", NULL, n);
  dims("ne", NULL, ne);
  tensor *shape = plain(F32, UNIFORM, ne[0], ne[1], ne[2], ne[3], 0, 1);
  return ggml_repeat_back(ctx, in4(F32, ne[0] * n[0], ne[1] * n[1], ne[2] * n[2], ne[3] * n[3], -1, 1), shape);
}

static tensor *concat(void) {
  int64_t ne[4];
  int dim = num("dim", 0);
  tensor *a = in("ne", NULL);
  dims("ne", NULL, ne);
  ne[dim] = num("more", 1);
  return ggml_concat(ctx, a, in_range(a->type, ne, -1, 1), dim);
}

static tensor *norm(void) { return ggml_norm(ctx, in("ne", NULL), real("eps", 1e-6)); }
static tensor *rms_norm(void) {
  tensor *a = in("ne", NULL), *r = ggml_rms_norm(ctx, a, real("eps", 1e-6));
  if (num("mul", 0)) r = ggml_mul(ctx, r, in4(F32, a->ne[0], 1, 1, 1, -1, 1)); // these are fused
  if (num("add", 0)) r = ggml_add(ctx, r, in4(F32, a->ne[0], a->ne[1], a->ne[2], a->ne[3], -1, 1));
  return r;
}
static tensor *rms_norm_back(void) {
  tensor *a = in("ne", NULL);
  return ggml_rms_norm_back(ctx, a, in("ne", NULL), real("eps", 1e-6));
}
static tensor *l2_norm(void) { return ggml_l2_norm(ctx, in("ne", NULL), real("eps", 1e-6)); }
static tensor *group_norm(void) { return ggml_group_norm(ctx, in("ne", NULL), num("groups", 4), real("eps", 1e-6)); }

// The matrix is of m rows, the other of n columns; k is what they share. batch is the
// number of matrices, each for repeat others.
static tensor *mul_mat(void) {
  int64_t m = num("m", 16), n = num("n", 1), k = num("k", 256), batch[4], repeat[4];
  dims("batch", "1x1", batch);
  dims("repeat", "1x1", repeat);
  tensor *a = in4(type_of("type", NULL), k, m, batch[0], batch[1], -1, 1);
  return ggml_mul_mat(ctx, a, in4(type_of("btype", "f32"), k, n, batch[0] * repeat[0], batch[1] * repeat[1], -1, 1));
}

static tensor *mul_mat_id(void) {
  int64_t m = num("m", 32), n = num("n", 1), k = num("k", 256), experts = num("experts", 4), used = num("used", 2);
  tensor *as = in4(type_of("type", NULL), k, m, experts, 1, -1, 1);
  tensor *all = plain(I32, ORDER, experts, n, 1, 1, 0, 0);
  tensor *ids = used == experts ? all : ggml_view_4d(ctx, all, used, n, 1, 1, all->nb[1], all->nb[2], all->nb[3], 0);
  return ggml_mul_mat_id(ctx, as, in4(type_of("btype", "f32"), k, num("shared", 0) ? 1 : used, n, 1, -1, 1), ids);
}

static tensor *out_prod(void) {
  int64_t m = num("m", 16), n = num("n", 16), k = num("k", 16), batch[4], repeat[4];
  dims("batch", "1x1", batch);
  dims("repeat", "1x1", repeat);
  tensor *a = in4(type_of("type", "f32"), m, k, batch[0], batch[1], -1, 1);
  if (!num("transposed", 0)) return ggml_out_prod(ctx, a, in4(F32, n, k, batch[0] * repeat[0], batch[1] * repeat[1], -1, 1));
  return ggml_out_prod(ctx, a, ggml_transpose(ctx, in4(F32, k, n, batch[0] * repeat[0], batch[1] * repeat[1], -1, 1)));
}

static tensor *solve_tri(void) {
  int64_t n = num("n", 16), k = num("k", 8), batch[4];
  dims("batch", "1x1", batch);
  tensor *a = plain(F32, LOWER, n, n, batch[0], batch[1], 0, 0);
  return ggml_solve_tri(ctx, a, in4(F32, k, n, batch[0], batch[1], -1, 1), true, true, false);
}

static tensor *cpy(void) {
  int64_t ne[4];
  dims("ne", NULL, ne);
  tensor *a = in("ne", NULL);
  return ggml_cpy(ctx, a, in_range(type_of("to", word("type", "f32")), ne, -1, 1));
}

static tensor *get_rows(void) {
  int64_t n = num("n", 32), m = num("m", 8), width = num("width", 256), batch = num("batch", 1), r = num("rows", 4);
  return ggml_get_rows(ctx, in4(type_of("type", NULL), width, n, batch, 1, -1, 1), rows(I32, r, batch, 1, m));
}

static tensor *get_rows_back(void) {
  int64_t n = num("n", 8), r = num("rows", 4), width = num("width", 256);
  tensor *a = in4(F32, width, r, 1, 1, -1, 1);
  tensor *shape = plain(F32, UNIFORM, width, n, 1, 1, 0, 1);
  return ggml_get_rows_back(ctx, a, rows(I32, r, 1, 1, n), shape);
}

static tensor *set_rows(void) {
  int64_t n = num("n", 16), width = num("width", 256), r = num("rows", 3), batch[4];
  dims("batch", "1x1", batch);
  tensor *a = in4(type_of("type", NULL), width, n, batch[0], batch[1], -1, 1);
  tensor *b = in4(type_of("from", "f32"), width, r, batch[0], batch[1], -1, 1);
  // No row is written twice, as the order of such writes is free.
  tensor *all = plain(type_of("index", "i64"), ORDER, n, 1, 1, 1, 0, 0);
  return ggml_set_rows(ctx, a, b, ggml_view_4d(ctx, all, r, 1, 1, 1, all->nb[1], all->nb[2], all->nb[3], 0));
}

static tensor *diag(void) { return ggml_diag(ctx, in("ne", NULL)); }
static tensor *diag_mask_inf(void) { return ggml_diag_mask_inf(ctx, in("ne", NULL), num("past", 0)); }
static tensor *tri(void) { return ggml_tri(ctx, in("ne", NULL), num("kind", 0)); }

static tensor *soft_max(void) {
  tensor *a = in("ne", NULL), *mask = NULL;
  if (strcmp(word("mask", "none"), "none")) mask = plain(type_of("mask", NULL), MASK, a->ne[0], a->ne[1], 1, 1, 0, 0);
  tensor *r = ggml_soft_max_ext(ctx, a, mask, real("scale", 1), real("bias", 0));
  if (num("sinks", 0)) ggml_soft_max_add_sinks(r, in4(F32, a->ne[2], 1, 1, 1, -1, 1));
  return r;
}

static tensor *soft_max_back(void) {
  tensor *a = in("ne", NULL);
  return ggml_soft_max_ext_back(ctx, a, in("ne", NULL), real("scale", 1), 0);
}

static tensor *rope(void) {
  static const char *const modes[] = {"normal", "neox", "mrope", "vision", "imrope", NULL};
  static const int numbers[] = {0, 2, 8, 24, 40}; // as in ggml.h
  int mode = numbers[pick("mode", modes)];
  tensor *a = in("ne", NULL);
  int n = num("dims", a->ne[0]);
  tensor *at = plain(I32, mode & 8 ? WHOLE : POSITIONS, a->ne[2] * (mode & 8 ? 4 : 1), 1, 1, 1, 0, 20);
  tensor *factors = num("factors", 0) ? in4(F32, n / 2, 1, 1, 1, 0.9, 1.1) : NULL;
  float scale = real("scale", 1), ext = real("ext", 0);
  if (mode & 8) {
    int sections[4] = {n / 6, n / 6, n / 6, 0};
    if (mode == 24) sections[0] = sections[1] = n / 2, sections[2] = 0;
    if (mode == 24) n = a->ne[0] / 2;
    return ggml_rope_multi(ctx, a, at, factors, n, sections, mode, 0, 10000, scale, ext, 1, 1, 1);
  }
  return (num("back", 0) ? ggml_rope_ext_back : ggml_rope_ext)(ctx, a, at, factors, n, mode, 512, 10000, scale, ext, real("attn", 1), 32, 1);
}

// Convolutions: image and kernel are shapes, s the strides, p the padding, d the dilation.
static tensor *image(const char *key) {
  int64_t ne[4];
  dims(key, NULL, ne);
  return in_range(F32, ne, -1, 1);
}
static tensor *kernel(void) {
  int64_t ne[4];
  dims("kernel", NULL, ne);
  return in_range(type_of("type", "f32"), ne, -1, 1);
}
static tensor *im2col(void) {
  int s = num("s", 1), p = num("p", 0), d = num("d", 1);
  tensor *k = kernel(), *b = image("image");
  if (num("one", 0)) return ggml_im2col(ctx, k, b, s, 0, p, 0, d, 0, false, type_of("to", "f32"));
  return ggml_im2col(ctx, k, b, s, s, p, p, d, d, true, type_of("to", "f32"));
}
static tensor *im2col_3d(void) {
  int s = num("s", 1), p = num("p", 0), d = num("d", 1);
  tensor *k = kernel(), *b = image("image");
  return ggml_im2col_3d(ctx, k, b, num("channels", 1), s, s, s, p, p, p, d, d, d, type_of("to", "f32"));
}
static tensor *col2im_1d(void) { return ggml_col2im_1d(ctx, in("ne", NULL), num("s", 1), num("channels", 1), num("p", 0)); }
static tensor *conv_2d(void) {
  int s = num("s", 1), p = num("p", 0), d = num("d", 1);
  tensor *k = kernel();
  return ggml_conv_2d_direct(ctx, k, image("image"), s, s, p, p, d, d);
}
static tensor *conv_2d_dw(void) {
  int s = num("s", 1), p = num("p", 0), d = num("d", 1);
  tensor *k = kernel();
  return ggml_conv_2d_dw_direct(ctx, k, image("image"), s, s, p, p, d, d);
}
static tensor *conv_transpose_1d(void) {
  tensor *k = kernel();
  return ggml_conv_transpose_1d(ctx, k, image("image"), num("s", 1), 0, 1);
}
static tensor *conv_transpose_2d(void) {
  tensor *k = kernel();
  return ggml_conv_transpose_2d_p0(ctx, k, image("image"), num("s", 1));
}
static tensor *pool_2d(void) {
  static const char *const ops[] = {"max", "avg", NULL};
  int op = pick("op", ops), k = num("k", 2), s = num("s", 1), p = num("p", 0);
  return ggml_pool_2d(ctx, in("ne", NULL), op, k, k, s, s, p, p);
}
static tensor *upscale(void) {
  static const char *const modes[] = {"nearest", "bilinear", "bicubic", NULL};
  int64_t to[4];
  dims("to", NULL, to);
  int mode = pick("mode", modes) | (num("corners", 0) ? 1 << 8 : 0) | (num("antialias", 0) ? 1 << 9 : 0);
  return ggml_interpolate(ctx, in("ne", NULL), to[0], to[1], to[2], to[3], mode);
}
static tensor *pad(void) {
  int l = num("left", 0), r = num("right", 1);
  return (num("circular", 0) ? ggml_pad_ext_circular : ggml_pad_ext)(ctx, in("ne", NULL), l, r, l, r, l, r, l, r);
}
static tensor *pad_reflect_1d(void) { return ggml_pad_reflect_1d(ctx, in("ne", NULL), num("left", 1), num("right", 1)); }
static tensor *roll(void) { return ggml_roll(ctx, in("ne", NULL), num("s0", 1), num("s1", 0), num("s2", 0), 0); }
static tensor *timestep_embedding(void) {
  return ggml_timestep_embedding(ctx, plain(F32, UNIFORM, num("n", 4), 1, 1, 1, 0, 100), num("dim", 32), num("period", 10000));
}

// Attention of head size d over kv positions for n of heads; group of these share keys and values.
static tensor *flash_attn(void) {
  int64_t d = num("d", 64), dv = num("dv", d), heads = num("heads", 4), group = num("group", 1), n = num("n", 1), kv = num("kv", 256);
  int type = type_of("type", NULL), vtype = type_of("vtype", word("type", NULL));
  tensor *q = in4(F32, d, n, heads * group, 1, -1, 1), *k = in4(type, d, kv, heads, 1, -1, 1), *v;
  if (num("latent", 0)) v = ggml_view_4d(ctx, k, dv, kv, heads, 1, k->nb[1], k->nb[2], k->nb[3], 0); // values are the beginning of keys
  else v = in4(vtype, dv, kv, heads, 1, -1, 1);
  tensor *mask = num("mask", 1) ? plain(F16, MASK, kv, n, 1, 1, 0, 0) : NULL;
  tensor *r = ggml_flash_attn_ext(ctx, q, k, v, mask, 1 / sqrt(d), real("bias", 0), real("softcap", 0));
  if (num("sinks", 0)) ggml_flash_attn_ext_add_sinks(r, in4(F32, heads * group, 1, 1, 1, -1, 1));
  ggml_flash_attn_ext_set_prec(r, 10); // single precision, as models ask for
  return r;
}

static tensor *cross_entropy(void) {
  int64_t ne[4];
  tensor *a = in("ne", NULL);
  dims("ne", NULL, ne);
  return ggml_cross_entropy_loss(ctx, a, in_range(F32, ne, 0, 1));
}
static tensor *cross_entropy_back(void) {
  int64_t ne[4];
  dims("ne", NULL, ne);
  tensor *grad = plain(F32, UNIFORM, 1, 1, 1, 1, 0, 1), *a = in_range(F32, ne, -1, 1);
  return ggml_cross_entropy_loss_back(ctx, grad, a, in_range(F32, ne, 0, 1));
}
static tensor *adamw(void) {
  int64_t ne[4];
  dims("ne", NULL, ne);
  tensor *a = in_range(F32, ne, -1, 1);
  ggml_set_param(a);
  tensor *grad = in_range(F32, ne, -1, 1), *m = in_range(F32, ne, -1, 1), *v = in_range(F32, ne, 0, 1);
  return ggml_opt_step_adamw(ctx, a, grad, m, v, plain(F32, UNIFORM, 7, 1, 1, 1, 0.1, 0.9));
}
static tensor *sgd(void) {
  int64_t ne[4];
  dims("ne", NULL, ne);
  tensor *a = in_range(F32, ne, -1, 1);
  ggml_set_param(a);
  return ggml_opt_step_sgd(ctx, a, in_range(F32, ne, -1, 1), plain(F32, UNIFORM, 2, 1, 1, 1, 0.1, 0.9));
}

static tensor *ssm_conv(void) {
  int64_t d = num("d", 4), inner = num("inner", 256), n = num("n", 1), seqs = num("seqs", 1);
  tensor *a = in4(F32, d - 1 + n, inner, seqs, 1, -1, 1), *r = ggml_ssm_conv(ctx, a, in4(F32, d, inner, 1, 1, -1, 1));
  return num("silu", 0) ? ggml_unary(ctx, r, 10) : r;
}
static tensor *ssm_scan(void) {
  int64_t state = num("state", 16), dim = num("dim", 1), heads = num("heads", 128), groups = num("groups", 1), n = num("n", 4), seqs = num("seqs", 2);
  tensor *s = in4(F32, state, dim, heads, seqs, -1, 1), *x = in4(F32, dim, heads, n, seqs, -1, 1), *dt = in4(F32, heads, n, seqs, 1, -1, 1);
  tensor *a = in4(F32, dim > 1 ? 1 : state, heads, 1, 1, -1, 0), *b = in4(F32, state, groups, n, seqs, -1, 1), *c = in4(F32, state, groups, n, seqs, -1, 1);
  return ggml_ssm_scan(ctx, s, x, dt, a, b, c, plain(I32, ORDER, seqs, 1, 1, 1, 0, 0), 1);
}

// The recurrences: heads of the size d, n tokens for each of seqs sequences.
static int64_t d, heads, n, seqs;
static void recurrence(void) {
  d = num("d", 64), heads = num("heads", 2), seqs = num("seqs", 1), n = num("n", 1) * seqs;
}
static tensor *token(double low, double high) { return in4(F32, d, heads, n, 1, low, high); }
static tensor *state(void) { return in4(F32, d * d * heads, seqs, 1, 1, -1, 1); }
static tensor *rwkv6(void) {
  recurrence();
  tensor *k = token(-1, 1), *v = token(-1, 1), *r = token(-1, 1), *tf = in4(F32, d, heads, 1, 1, -1, 1), *td = token(0, 1);
  return ggml_rwkv_wkv6(ctx, k, v, r, tf, td, state());
}
static tensor *rwkv7(void) {
  recurrence();
  tensor *r = token(-1, 1), *w = token(0, 1), *k = token(-1, 1), *v = token(-1, 1), *a = token(-0.1, 0.1), *b = token(-0.1, 0.1);
  return ggml_rwkv_wkv7(ctx, r, w, k, v, a, b, state());
}
static tensor *gla(void) {
  recurrence();
  tensor *k = token(-1, 1), *v = token(-1, 1), *q = token(-1, 1), *g = token(0, 1);
  return ggml_gated_linear_attn(ctx, k, v, q, g, state(), 0.125);
}
static tensor *delta_net(void) {
  recurrence();
  n /= seqs;
  tensor *q = in4(F32, d, heads, n, seqs, -0.3, 0.3), *k = in4(F32, d, heads, n, seqs, -0.3, 0.3), *v = in4(F32, d, heads, n, seqs, -1, 1);
  tensor *g = in4(F32, num("vector", 0) ? d : 1, heads, n, seqs, -1, 0), *beta = in4(F32, 1, heads, n, seqs, 0, 1);
  return ggml_gated_delta_net(ctx, q, k, v, g, beta, in4(F32, d, d, heads, seqs, -1, 1), 1);
}
static tensor *indexer(void) {
  int64_t width = num("d", 128), h = num("heads", 64), tokens = num("n", 4), kv = num("kv", 64);
  tensor *q = in4(F32, width, h, tokens, 1, -1, 1), *k = in4(type_of("type", "f16"), width, 1, kv, 1, -1, 1), *w = in4(F32, h, tokens, 1, 1, 0, 1);
  return ggml_lightning_indexer(ctx, q, k, w, plain(F16, MASK, kv, tokens, 1, 1, 0, 0));
}

// Hyper-connections: four streams in place of one residual.
static tensor *hyper(void) {
  static const char *const steps[] = {"comb", "pre", "post", NULL};
  int64_t streams = 4, mixes = (2 + streams) * streams, width = num("width", 256), tokens = num("n", 1);
  switch (pick("step", steps)) {
  case 0: {
    tensor *m = in4(F32, mixes, tokens, 1, 1, -1, 1), *s = in4(F32, 3, 1, 1, 1, 0.5, 1.5);
    return ggml_dsv4_hc_comb(ctx, m, s, in4(F32, mixes, 1, 1, 1, -1, 1), 1e-6, num("rounds", 4));
  }
  case 1: {
    tensor *x = in4(F32, width, streams, tokens, 1, -1, 1);
    return ggml_dsv4_hc_pre(ctx, x, in4(F32, streams, tokens, 1, 1, 0, 1));
  }
  default: {
    tensor *x = in4(F32, width, tokens, 1, 1, -1, 1), *r = in4(F32, width, streams, tokens, 1, -1, 1), *post = in4(F32, streams, tokens, 1, 1, 0, 1);
    return ggml_dsv4_hc_post(ctx, x, r, post, in4(F32, streams, streams, tokens, 1, 0, 1));
  }
  }
}

// The greatest normalised mean squared error: 1e-7 where both compute in single precision;
// for products what tolerance says. The key tol overrides it.
static const double exact = 1e-7, product = 5e-4;
static const struct {
  const char *name;
  tensor *(*build)(void);
  double tolerance;
} ops[] = {
    {"unary", unary, exact}, {"math", math, exact}, {"leaky_relu", leaky_relu, exact}, {"clamp", clamp, exact}, {"scale", scale, exact}, {"fill", fill_with, exact}, {"arange", arange, exact},
    {"glu", glu, exact}, {"binary", binary, exact}, {"add_id", add_id, exact}, {"silu_back", silu_back, exact}, {"acc", acc, exact}, {"set", set, exact}, {"argsort", argsort, 0}, {"count_equal", count_equal, 0},
    {"repeat", repeat, 0}, {"repeat_back", repeat_back, exact}, {"concat", concat, 0}, {"norm", norm, exact}, {"rms_norm", rms_norm, exact}, {"rms_norm_back", rms_norm_back, exact}, {"l2_norm", l2_norm, exact}, {"group_norm", group_norm, exact},
    {"mul_mat", mul_mat, product}, {"mul_mat_id", mul_mat_id, product}, {"out_prod", out_prod, product}, {"solve_tri", solve_tri, exact}, {"cpy", cpy, exact}, {"get_rows", get_rows, exact}, {"get_rows_back", get_rows_back, exact}, {"set_rows", set_rows, exact},
    {"diag", diag, 0}, {"diag_mask_inf", diag_mask_inf, 0}, {"tri", tri, 0}, {"soft_max", soft_max, exact}, {"soft_max_back", soft_max_back, exact}, {"rope", rope, exact},
    {"im2col", im2col, 0}, {"im2col_3d", im2col_3d, 0}, {"col2im_1d", col2im_1d, exact}, {"conv_2d", conv_2d, product}, {"conv_2d_dw", conv_2d_dw, exact}, {"conv_transpose_1d", conv_transpose_1d, exact}, {"conv_transpose_2d", conv_transpose_2d, product},
    {"pool_2d", pool_2d, exact}, {"upscale", upscale, exact}, {"pad", pad, 0}, {"pad_reflect_1d", pad_reflect_1d, 0}, {"roll", roll, 0}, {"timestep_embedding", timestep_embedding, exact},
    {"flash_attn", flash_attn, product}, {"cross_entropy", cross_entropy, exact}, {"cross_entropy_back", cross_entropy_back, exact}, {"adamw", adamw, exact}, {"sgd", sgd, exact},
    {"ssm_conv", ssm_conv, exact}, {"ssm_scan", ssm_scan, exact}, {"rwkv6", rwkv6, exact}, {"rwkv7", rwkv7, exact}, {"gla", gla, exact}, {"delta_net", delta_net, exact}, {"indexer", indexer, product}, {"hyper", hyper, exact},
};

static bool fp4; // the GPU multiplies numbers of 4 bits

// tolerance returns the bound of an operation. Of a product the GPU rounds the second matrix
// to what goes with the first: to the 10 bits of TF32 for single precision, by ggml's choice,
// to 10 or 7 bits for half precision and bfloat16, to blocks of 8 bits for quantised types,
// where the bound is that of llama.cpp's own tests. A GPU that multiplies numbers of 4 bits
// rounds it to these, if those of the first are: the bound of llama.cpp's tests again.
static double tolerance(int op) {
  if (ops[op].tolerance != product) return ops[op].tolerance;
  int type = type_of("type", "f32");
  if (fp4 && strstr(word("type", "f32"), "fp4")) return 2e-2;
  return type == F32 ? exact : type == F16 || type == BF16 ? 1e-5 : product;
}

static backend *cpu, *cuda;
static bool hashes, times, list;
static int part = 1, parts = 1, index_of_case;
static const char *filter = "";
static int right, wrong, unsupported;

struct result {
  int type;
  int64_t n, columns;
  size_t size;
  unsigned char *bytes; // NULL if the backend does not support it
};

static struct result compute(backend *on, tensor *(*build)(void)) {
  struct result r = {0};
  ctx = ggml_init((struct init_params){.mem_size = 1 << 20, .no_alloc = true});
  n_inputs = 0;
  tensor *t = build();
  graph *g = ggml_new_graph(ctx);
  ggml_build_forward_expand(g, t);
  for (int i = 0; i < ggml_graph_n_nodes(g); i++)
    if (!ggml_backend_supports_op(on, ggml_graph_node(g, i))) goto end;
  buffer *memory = ggml_backend_alloc_ctx_tensors(ctx, on);
  if (!memory) fail("%s: no memory", now.name);
  for (int i = 0; i < n_inputs; i++) fill(&inputs[i], i);
  int status = ggml_backend_graph_compute(on, g);
  if (status) fail("%s: ggml_backend_graph_compute returns %d", now.name, status);
  r.type = t->type;
  r.n = ggml_nelements(t);
  r.columns = t->ne[0];
  r.size = ggml_nbytes(t);
  r.bytes = malloc(r.size);
  ggml_backend_tensor_get(t, r.bytes, 0, r.size);
  ggml_backend_buffer_free(memory);
end:
  ggml_free(ctx);
  return r;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double *numbers(const struct result *r, bool sorted) {
  double *v = malloc(r->n * sizeof *v);
  if (r->type == I32)
    for (int64_t i = 0; i < r->n; i++) v[i] = ((int32_t *)r->bytes)[i];
  else if (r->type == I64)
    for (int64_t i = 0; i < r->n; i++) v[i] = ((int64_t *)r->bytes)[i];
  else {
    float *f = (float *)r->bytes;
    if (r->type != F32) {
      f = malloc(r->n * sizeof *f);
      ggml_get_type_traits(r->type)->to_float(r->bytes, f, r->n);
    }
    for (int64_t i = 0; i < r->n; i++) v[i] = f[i];
    if (r->type != F32) free(f);
  }
  for (int64_t i = 0; sorted && i < r->n; i += r->columns) qsort(v + i, r->columns, sizeof *v, ascending);
  return v;
}

// Kernels of ggml write the least number where its CPU code writes minus infinity.
static bool endless(double v) { return isinf(v) || fabs(v) == FLT_MAX; }

// difference is the normalised mean squared error; infinite if infinities or NaNs differ.
static double difference(const struct result *want, const struct result *got, bool sorted) {
  double *x = numbers(want, sorted), *y = numbers(got, sorted), error = 0, size = 0;
  for (int64_t i = 0; i < want->n; i++) {
    if (endless(x[i]) && endless(y[i]) && signbit(x[i]) == signbit(y[i])) continue;
    if (isnan(x[i]) && isnan(y[i])) continue;
    if (!isfinite(x[i]) || !isfinite(y[i])) {
      error = INFINITY;
      break;
    }
    error += (x[i] - y[i]) * (x[i] - y[i]);
    size += x[i] * x[i];
  }
  free(x);
  free(y);
  return error == 0 ? 0 : error / size;
}

static void run(void) {
  int op = -1;
  now.name[0] = 0;
  strcat(now.name, now.op);
  for (int i = 0; i < now.keys; i++) {
    size_t len = strlen(now.name);
    snprintf(now.name + len, sizeof now.name - len, " %s=%s", now.key[i], now.value[i]);
    now.used[i] = false;
  }
  if (!strstr(now.name, filter) || index_of_case++ % parts != part - 1) return;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (!strcmp(ops[i].name, now.op)) op = i;
  if (op < 0) fail("unknown operation %s", now.op);
  if (list) {
    puts(now.name);
    return;
  }
  printf("%s: ", now.name);
  fflush(stdout); // an operation that ends the process is seen
  double bound = real("tol", tolerance(op));
  struct timespec start, end;
  struct result want = compute(cpu, ops[op].build);
  clock_gettime(CLOCK_MONOTONIC, &start);
  struct result got = want.bytes ? compute(cuda, ops[op].build) : (struct result){0};
  clock_gettime(CLOCK_MONOTONIC, &end);
  if (!want.bytes || !got.bytes) {
    printf("not supported by ggml on the %s\n", want.bytes ? "GPU" : "CPU");
    unsupported++;
  } else {
    double error = difference(&want, &got, !strcmp(now.op, "argsort") && num("k", 0));
    bool ok = error <= bound;
    *(ok ? &right : &wrong) += 1;
    printf("error %.2g of %.2g: %s", error, bound, ok ? "right" : "WRONG");
    if (hashes) { // Fowler, Noll and Vo's FNV-1a
      uint64_t h = 0xcbf29ce484222325;
      for (size_t i = 0; i < got.size; i++) h = (h ^ got.bytes[i]) * 0x100000001b3;
      printf(" %016llx", (unsigned long long)h);
    }
    if (times) printf(" %.2f s", end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) / 1e9);
    printf("\n");
  }
  for (int i = 0; i < now.keys; i++)
    if (!now.used[i]) fail("%s: %s= is not a parameter of it", now.name, now.key[i]);
  for (int i = 0; i < n_bytes; i++) free(inputs[i].bytes);
  n_bytes = 0;
  free(want.bytes);
  free(got.bytes);
}

// expand runs every combination of the values that the keys of a line have, the last key
// fastest.
static void expand(char *values[][MAX_VALUES], const int *counts, int key) {
  if (key == now.keys) {
    run();
    return;
  }
  for (int i = 0; i < counts[key]; i++) {
    now.value[key] = values[key][i];
    expand(values, counts, key + 1);
  }
}

static void read_cases(const char *path) {
  FILE *f = fopen(path, "r");
  if (!f) fail("%s: %s", path, strerror(errno));
  char line[2048];
  while (fgets(line, sizeof line, f)) {
    static char *values[MAX_KEYS][MAX_VALUES];
    int counts[MAX_KEYS];
    line[strcspn(line, "#\n")] = 0;
    char *rest, *save, *s = strtok_r(line, " ", &rest);
    if (!s) continue;
    now.op = s;
    now.keys = 0;
    while ((s = strtok_r(NULL, " ", &rest))) {
      char *value = strchr(s, '=');
      if (!value) fail("%s: in the line of %s, %s is not key=value", path, now.op, s);
      *value++ = 0;
      if (now.keys == MAX_KEYS) fail("%s: a line of %s has more than %d keys", path, now.op, MAX_KEYS);
      int k = now.keys++;
      now.key[k] = s;
      counts[k] = 0;
      for (char *v = strtok_r(value, ",", &save); v; v = strtok_r(NULL, ",", &save)) {
        if (counts[k] == MAX_VALUES) fail("%s: %s of %s has more than %d values", path, s, now.op, MAX_VALUES);
        values[k][counts[k]++] = v;
      }
    }
    expand(values, counts, 0);
  }
  fclose(f);
}

static void quiet(int level, const char *text, void *unused) {
  (void)unused;
  if (level == 3 || level == 4) fputs(text, stderr); // warnings and errors
}

// load opens a backend of the package. Functions are bound when they are called first: a
// case that needs one that is missing ends there, not all of them.
static void *load(const char *dir, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!library) fail("%s", dlerror());
  return library;
}

static backend *start(void *library) {
  registry *(*registry_of)(void) = (registry * (*)(void)) dlsym(library, "ggml_backend_init");
  registry *r = registry_of ? registry_of() : NULL;
  device *d = r ? ggml_backend_reg_dev_get(r, 0) : NULL;
  backend *b = d ? ggml_backend_dev_init(d, NULL) : NULL;
  if (!b) fail("the backend has no device");
  fprintf(stderr, "compare: %s\n", ggml_backend_dev_description(d));
  struct feature {
    const char *name, *value;
  } *(*features)(registry *) = (struct feature * (*)(registry *)) ggml_backend_reg_get_proc_address(r, "ggml_backend_get_features");
  for (struct feature *f = features ? features(r) : NULL; f && f->name; f++)
    if (!strcmp(f->name, "BLACKWELL_NATIVE_FP4")) fp4 = true;
  return b;
}

static const char usage[] =
    "usage: compare [options] LIBRARIES CASES\n"
    "  LIBRARIES       the folder of libggml-base.so, libggml-cpu-x64.so and libggml-cuda.so\n"
    "  CASES           the table of operations\n"
    "  --filter TEXT   only cases whose line contains it\n"
    "  --part I/N      every Nth of them, from the Ith\n"
    "  --list          name them, compute nothing\n"
    "  --hash          print a hash of every result of the GPU\n"
    "  --time          print how long the GPU took for each\n";

int main(int argc, char **argv) {
  int i = 1;
  for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
    bool more = i + 1 < argc;
    if (!strcmp(argv[i], "--filter") && more) filter = argv[++i];
    else if (!strcmp(argv[i], "--part") && more) {
      if (sscanf(argv[++i], "%d/%d", &part, &parts) != 2 || part < 1 || part > parts) fail("--part %s: want I/N, such as 1/10", argv[i]);
    } else if (!strcmp(argv[i], "--list")) list = true;
    else if (!strcmp(argv[i], "--hash")) hashes = true;
    else if (!strcmp(argv[i], "--time")) times = true;
    else break;
  }
  if (argc - i != 2) {
    fputs(usage, stderr);
    return 2;
  }
  ggml_log_set(quiet, NULL);
  if (!list) {
    void *host = load(argv[i], "libggml-cpu-x64.so");
    cpu = start(host);
    // ggml's reference code: plain loops, one thread.
    void (*plain_code)(backend *, bool) = (void (*)(backend *, bool))dlsym(host, "ggml_backend_cpu_set_use_ref");
    void (*threads)(backend *, int) = (void (*)(backend *, int))dlsym(host, "ggml_backend_cpu_set_n_threads");
    if (!plain_code || !threads) fail("libggml-cpu-x64.so of another version of ggml");
    plain_code(cpu, true);
    threads(cpu, 1);
    cuda = start(load(argv[i], "libggml-cuda.so"));
  }
  read_cases(argv[i + 1]);
  if (list) return 0;
  ggml_backend_free(cuda);
  ggml_backend_free(cpu);
  printf("%d cases: %d right, %d wrong; %d not supported by ggml\n", right + wrong, right, wrong, unsupported);
  return right + wrong == 0 ? 2 : wrong > 0;
}
