// What compare.c calls of ggml's public C interface (version 0.25), declared here so that
// no header of ggml is needed.
#ifndef API_H
#define API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct context context;
typedef struct graph graph;
typedef struct backend backend;
typedef struct buffer buffer;
typedef struct registry registry;
typedef struct device device;

typedef struct tensor {
  int type;
  void *buffer;
  int64_t ne[4]; // elements
  size_t nb[4];  // strides in bytes
} tensor;        // only its beginning

struct init_params {
  size_t mem_size;
  void *mem_buffer;
  bool no_alloc;
};

struct type_traits {
  const char *name;
  int64_t block, interleave;
  size_t size;
  bool quantized;
  void (*to_float)(const void *, float *, int64_t);
  void (*from_float)(const float *, void *, int64_t);
};

enum { F32 = 0, F16 = 1, I32 = 26, I64 = 27, BF16 = 30, TYPES = 43 };

// Contexts, tensors, graphs, backends.
context *ggml_init(struct init_params);
void ggml_free(context *);
const struct type_traits *ggml_get_type_traits(int type);
tensor *ggml_new_tensor_4d(context *, int type, int64_t, int64_t, int64_t, int64_t);
tensor *ggml_permute(context *, tensor *, int, int, int, int);
tensor *ggml_view_4d(context *, tensor *, int64_t, int64_t, int64_t, int64_t, size_t, size_t, size_t, size_t offset);
tensor *ggml_reshape_4d(context *, tensor *, int64_t, int64_t, int64_t, int64_t);
tensor *ggml_reshape_3d(context *, tensor *, int64_t, int64_t, int64_t);
tensor *ggml_transpose(context *, tensor *);
void ggml_set_param(tensor *);
int64_t ggml_nelements(const tensor *);
size_t ggml_nbytes(const tensor *);
size_t ggml_quantize_chunk(int type, const float *, void *, int64_t start, int64_t rows, int64_t columns, const float *imatrix);
bool ggml_quantize_requires_imatrix(int type);
graph *ggml_new_graph(context *);
void ggml_build_forward_expand(graph *, tensor *);
int ggml_graph_n_nodes(graph *);
tensor *ggml_graph_node(graph *, int);
void ggml_log_set(void (*)(int level, const char *, void *), void *);
const char *ggml_version(void);
backend *ggml_backend_dev_init(device *, const char *);
void ggml_backend_free(backend *);
device *ggml_backend_reg_dev_get(registry *, size_t);
void *ggml_backend_reg_get_proc_address(registry *, const char *);
const char *ggml_backend_dev_description(device *);
bool ggml_backend_supports_op(backend *, const tensor *);
buffer *ggml_backend_alloc_ctx_tensors(context *, backend *);
void ggml_backend_buffer_free(buffer *);
void ggml_backend_tensor_set(tensor *, const void *, size_t, size_t);
void ggml_backend_tensor_get(const tensor *, void *, size_t, size_t);
int ggml_backend_graph_compute(backend *, graph *);

// Operations.
tensor *ggml_unary(context *, tensor *, int op);
tensor *ggml_xielu(context *, tensor *, float, float, float, float);
tensor *ggml_sqr(context *, tensor *);
tensor *ggml_sqrt(context *, tensor *);
tensor *ggml_log(context *, tensor *);
tensor *ggml_sin(context *, tensor *);
tensor *ggml_cos(context *, tensor *);
tensor *ggml_leaky_relu(context *, tensor *, float slope, bool inplace);
tensor *ggml_clamp(context *, tensor *, float min, float max);
tensor *ggml_scale_bias(context *, tensor *, float scale, float bias);
tensor *ggml_fill(context *, tensor *, float);
tensor *ggml_arange(context *, float start, float stop, float step);
tensor *ggml_glu(context *, tensor *, int op, bool swapped);
tensor *ggml_glu_split(context *, tensor *, tensor *, int op);
tensor *ggml_swiglu_oai(context *, tensor *, tensor *, float alpha, float limit);
tensor *ggml_add(context *, tensor *, tensor *);
tensor *ggml_sub(context *, tensor *, tensor *);
tensor *ggml_mul(context *, tensor *, tensor *);
tensor *ggml_div(context *, tensor *, tensor *);
tensor *ggml_add1(context *, tensor *, tensor *);
tensor *ggml_add_id(context *, tensor *, tensor *, tensor *ids);
tensor *ggml_silu_back(context *, tensor *, tensor *);
tensor *ggml_acc(context *, tensor *, tensor *, size_t, size_t, size_t, size_t offset);
tensor *ggml_set(context *, tensor *, tensor *, size_t, size_t, size_t, size_t offset);
tensor *ggml_sum(context *, tensor *);
tensor *ggml_sum_rows(context *, tensor *);
tensor *ggml_mean(context *, tensor *);
tensor *ggml_cumsum(context *, tensor *);
tensor *ggml_argmax(context *, tensor *);
tensor *ggml_argsort(context *, tensor *, int order);
tensor *ggml_top_k(context *, tensor *, int k);
tensor *ggml_count_equal(context *, tensor *, tensor *);
tensor *ggml_repeat_4d(context *, tensor *, int64_t, int64_t, int64_t, int64_t);
tensor *ggml_repeat_back(context *, tensor *, tensor *);
tensor *ggml_concat(context *, tensor *, tensor *, int dim);
tensor *ggml_norm(context *, tensor *, float eps);
tensor *ggml_rms_norm(context *, tensor *, float eps);
tensor *ggml_rms_norm_back(context *, tensor *, tensor *, float eps);
tensor *ggml_l2_norm(context *, tensor *, float eps);
tensor *ggml_group_norm(context *, tensor *, int groups, float eps);
tensor *ggml_mul_mat(context *, tensor *, tensor *);
tensor *ggml_mul_mat_id(context *, tensor *, tensor *, tensor *ids);
tensor *ggml_out_prod(context *, tensor *, tensor *);
tensor *ggml_solve_tri(context *, tensor *, tensor *, bool left, bool lower, bool unit);
tensor *ggml_cpy(context *, tensor *, tensor *);
tensor *ggml_cont(context *, tensor *);
tensor *ggml_dup(context *, tensor *);
tensor *ggml_get_rows(context *, tensor *, tensor *rows);
tensor *ggml_get_rows_back(context *, tensor *, tensor *rows, tensor *shape);
tensor *ggml_set_rows(context *, tensor *, tensor *, tensor *rows);
tensor *ggml_diag(context *, tensor *);
tensor *ggml_diag_mask_inf(context *, tensor *, int past);
tensor *ggml_tri(context *, tensor *, int kind);
tensor *ggml_soft_max_ext(context *, tensor *, tensor *mask, float scale, float max_bias);
tensor *ggml_soft_max_ext_back(context *, tensor *, tensor *, float scale, float max_bias);
void ggml_soft_max_add_sinks(tensor *, tensor *sinks);
tensor *ggml_rope_ext(context *, tensor *, tensor *positions, tensor *factors, int dims, int mode, int original, float base, float scale, float ext, float attn, float fast, float slow);
tensor *ggml_rope_ext_back(context *, tensor *, tensor *positions, tensor *factors, int dims, int mode, int original, float base, float scale, float ext, float attn, float fast, float slow);
tensor *ggml_rope_multi(context *, tensor *, tensor *positions, tensor *factors, int dims, int sections[4], int mode, int original, float base, float scale, float ext, float attn, float fast, float slow);
tensor *ggml_im2col(context *, tensor *, tensor *, int s0, int s1, int p0, int p1, int d0, int d1, bool two, int type);
tensor *ggml_im2col_3d(context *, tensor *, tensor *, int64_t channels, int s0, int s1, int s2, int p0, int p1, int p2, int d0, int d1, int d2, int type);
tensor *ggml_col2im_1d(context *, tensor *, int stride, int channels, int pad);
tensor *ggml_conv_2d_direct(context *, tensor *, tensor *, int s0, int s1, int p0, int p1, int d0, int d1);
tensor *ggml_conv_2d_dw_direct(context *, tensor *, tensor *, int s0, int s1, int p0, int p1, int d0, int d1);
tensor *ggml_conv_transpose_1d(context *, tensor *, tensor *, int s0, int p0, int d0);
tensor *ggml_conv_transpose_2d_p0(context *, tensor *, tensor *, int stride);
tensor *ggml_pool_2d(context *, tensor *, int op, int k0, int k1, int s0, int s1, float p0, float p1);
tensor *ggml_interpolate(context *, tensor *, int64_t, int64_t, int64_t, int64_t, uint32_t mode);
tensor *ggml_pad_ext(context *, tensor *, int, int, int, int, int, int, int, int);
tensor *ggml_pad_ext_circular(context *, tensor *, int, int, int, int, int, int, int, int);
tensor *ggml_pad_reflect_1d(context *, tensor *, int, int);
tensor *ggml_roll(context *, tensor *, int, int, int, int);
tensor *ggml_timestep_embedding(context *, tensor *, int dim, int max_period);
tensor *ggml_flash_attn_ext(context *, tensor *q, tensor *k, tensor *v, tensor *mask, float scale, float max_bias, float softcap);
void ggml_flash_attn_ext_set_prec(tensor *, int);
void ggml_flash_attn_ext_add_sinks(tensor *, tensor *sinks);
tensor *ggml_cross_entropy_loss(context *, tensor *, tensor *);
tensor *ggml_cross_entropy_loss_back(context *, tensor *, tensor *, tensor *);
tensor *ggml_opt_step_adamw(context *, tensor *, tensor *, tensor *, tensor *, tensor *);
tensor *ggml_opt_step_sgd(context *, tensor *, tensor *, tensor *);
tensor *ggml_ssm_conv(context *, tensor *, tensor *);
tensor *ggml_ssm_scan(context *, tensor *s, tensor *x, tensor *dt, tensor *a, tensor *b, tensor *c, tensor *ids, int64_t k);
tensor *ggml_rwkv_wkv6(context *, tensor *k, tensor *v, tensor *r, tensor *tf, tensor *td, tensor *state);
tensor *ggml_rwkv_wkv7(context *, tensor *r, tensor *w, tensor *k, tensor *v, tensor *a, tensor *b, tensor *state);
tensor *ggml_gated_linear_attn(context *, tensor *k, tensor *v, tensor *q, tensor *g, tensor *state, float scale);
tensor *ggml_gated_delta_net(context *, tensor *q, tensor *k, tensor *v, tensor *g, tensor *beta, tensor *state, int64_t k_);
tensor *ggml_lightning_indexer(context *, tensor *q, tensor *k, tensor *weights, tensor *mask);
tensor *ggml_dsv4_hc_comb(context *, tensor *mixes, tensor *scale, tensor *base, float eps, int32_t rounds);
tensor *ggml_dsv4_hc_pre(context *, tensor *x, tensor *weights);
tensor *ggml_dsv4_hc_post(context *, tensor *x, tensor *residual, tensor *post, tensor *comb);

#endif
