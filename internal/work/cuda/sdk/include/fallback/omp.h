// OpenMP's functions for a program that runs on one thread: used if the compiler has no
// OpenMP library.
#ifndef HEDDLE_OMP_H
#define HEDDLE_OMP_H

#include <time.h>

#define HEDDLE_OMP static inline __attribute__((unused))
#if defined(__cplusplus)
extern "C" {
#endif

typedef int omp_lock_t;
typedef int omp_nest_lock_t;
typedef enum omp_sched_t { omp_sched_static = 1, omp_sched_dynamic, omp_sched_guided, omp_sched_auto } omp_sched_t;

HEDDLE_OMP int omp_get_num_threads(void) { return 1; }
HEDDLE_OMP int omp_get_max_threads(void) { return 1; }
HEDDLE_OMP int omp_get_thread_num(void) { return 0; }
HEDDLE_OMP int omp_get_num_procs(void) { return 1; }
HEDDLE_OMP int omp_get_thread_limit(void) { return 1; }
HEDDLE_OMP int omp_get_level(void) { return 0; }
HEDDLE_OMP int omp_in_parallel(void) { return 0; }
HEDDLE_OMP int omp_get_dynamic(void) { return 0; }
HEDDLE_OMP int omp_get_nested(void) { return 0; }
HEDDLE_OMP int omp_get_num_devices(void) { return 0; }
HEDDLE_OMP void omp_set_num_threads(int n) { (void)n; }
HEDDLE_OMP void omp_set_dynamic(int on) { (void)on; }
HEDDLE_OMP void omp_set_nested(int on) { (void)on; }
HEDDLE_OMP void omp_set_max_active_levels(int n) { (void)n; }
HEDDLE_OMP void omp_set_schedule(omp_sched_t kind, int chunk) { (void)kind, (void)chunk; }
HEDDLE_OMP void omp_init_lock(omp_lock_t *l) { *l = 0; }
HEDDLE_OMP void omp_destroy_lock(omp_lock_t *l) { (void)l; }
HEDDLE_OMP void omp_set_lock(omp_lock_t *l) { *l = 1; }
HEDDLE_OMP void omp_unset_lock(omp_lock_t *l) { *l = 0; }
HEDDLE_OMP int omp_test_lock(omp_lock_t *l) { return *l ? 0 : (*l = 1); }
HEDDLE_OMP void omp_init_nest_lock(omp_nest_lock_t *l) { *l = 0; }
HEDDLE_OMP void omp_destroy_nest_lock(omp_nest_lock_t *l) { (void)l; }
HEDDLE_OMP void omp_set_nest_lock(omp_nest_lock_t *l) { ++*l; }
HEDDLE_OMP void omp_unset_nest_lock(omp_nest_lock_t *l) { --*l; }
HEDDLE_OMP double omp_get_wtime(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
HEDDLE_OMP double omp_get_wtick(void) { return 1e-9; }

#undef HEDDLE_OMP
#if defined(__cplusplus)
}
#endif

#endif
