// The C side of the library: the calling thread, pages at an address, the program's
// standard output, and calls of the program's own functions.
#ifndef HEDDLE_HOST_H
#define HEDDLE_HOST_H

#include <stddef.h>
#include <stdint.h>

#define HEDDLE_CUDA_TYPES_ONLY
#include "cuda.h"
#include "driver_types.h"
#include "calls.h"

// heddle_thread returns the number of the calling thread, from 1.
uint64_t heddle_thread(void);

// heddle_map maps n bytes of zeros at addr; it returns 0 on success.
int heddle_map(uintptr_t addr, size_t n);
void heddle_unmap(uintptr_t addr, size_t n);

// heddle_print writes to the program's standard output, in the order of its own
// output.
void heddle_print(const void *text, size_t n);

// heddle_listen returns a pipe whose byte says how the program is about to end: by
// a signal, or by _exit (0); -1 if it cannot be created. The program then waits
// until heddle_answer says that the report is written. heddle_own returns 0 in a
// forked child, and after the report. heddle_die ends the program by a signal,
// heddle_fault by that of an access to unmapped memory, with a report.
int heddle_listen(void);
void heddle_answer(void);
int heddle_own(void);
void heddle_die(int sig);
void heddle_fault(void);

// heddle_child returns nonzero in a process forked from the one that loaded the
// library.
int heddle_child(void);

// heddle_close_in_children arranges that forked children close a file; -1 ends this for
// all files, before their numbers are used for others.
void heddle_close_in_children(int fd);

// heddle_keep_children(1) lets the library's children leave their exit status to it, and
// not to a program that ignores SIGCHLD or waits for all children; (0) ends this.
void heddle_keep_children(int on);

// heddle_at_exit arranges that heddleExit is called when the program ends.
void heddle_at_exit(void);

// heddle_environment is the value of a variable of the environment, null without it.
char *heddle_environment(const char *name);

void heddle_call(uintptr_t fn, uintptr_t data);
void heddle_callback(uintptr_t fn, uintptr_t stream, int status, uintptr_t data);

// heddle_shared_of asks the program how much shared memory a block with the given
// number of threads needs.
size_t heddle_shared_of(uintptr_t fn, int threads);

// heddle_symbol returns the address of a function of this library by name, 0 if
// there is none.
uintptr_t heddle_symbol(const char *name);

void heddle_free(void *p);

// heddle_export_table returns the address of the driver's private table with an identifier of 16 bytes at an address,
// 0 if it is not known. heddle_left calls the function that hears of the end of a context.
uintptr_t heddle_export_table(uintptr_t id);
void heddle_left(uintptr_t fn, uintptr_t context, uintptr_t key, uintptr_t value);

// heddle_length returns the length of a zero-terminated text.
size_t heddle_length(uintptr_t text);

// heddle_watch(1) lets calls of the program be recorded, (0) ends this.
void heddle_watch(int on);

// heddle_watch_callers says whether the callers of calls are noted; heddle_callers stores the return
// addresses of the call in progress, at most 24 of them, and returns their number.
void heddle_watch_callers(int on);
int heddle_callers(uintptr_t *to);

// heddle_request and heddle_complete call a profiler's functions that give and take its
// buffers; heddle_busy returns nonzero while the calling thread is in one of them.
// heddle_clock calls the one that tells the time.
int heddle_busy(void);
void heddle_request(uintptr_t fn, uint8_t **buffer, size_t *size, size_t *records);
void heddle_complete(uintptr_t fn, uintptr_t buffer, size_t size, size_t valid);
uint64_t heddle_clock(uintptr_t fn);

// heddle_inject loads a profiler's library and calls its function InitializeInjection; it
// returns null, or what went wrong.
const char *heddle_inject(const char *path);

// heddle_unsubscribe ends the calls of a profiler's function.
void heddle_unsubscribe(void);

#endif
