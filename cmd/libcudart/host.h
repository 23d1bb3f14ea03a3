// What the library asks of C: the thread that calls, pages at an address, the
// program's standard output, and calls of the program's own functions.
#ifndef HEDDLE_HOST_H
#define HEDDLE_HOST_H

#include <stddef.h>
#include <stdint.h>

#define HEDDLE_CUDA_TYPES_ONLY
#include "cuda.h"
#include "driver_types.h"

// heddle_thread returns the number of the calling thread, from 1.
uint64_t heddle_thread(void);

// heddle_map makes n bytes of zeros at addr; it returns 0 if it could.
int heddle_map(uintptr_t addr, size_t n);
void heddle_unmap(uintptr_t addr, size_t n);

// heddle_print writes to the program's standard output, in the order of its own
// output.
void heddle_print(const void *text, size_t n);

// heddle_listen returns a pipe that says by a byte how the program is about to
// end: by a signal, or by _exit (0); -1 if there is none. It waits until
// heddle_answer says that the report is written. heddle_own is 0 in a process
// that the program left, and after the report. heddle_die ends by a signal,
// heddle_fault by that of an access to no memory, with a report.
int heddle_listen(void);
void heddle_answer(void);
int heddle_own(void);
void heddle_die(int sig);
void heddle_fault(void);

// heddle_child is not 0 in a process that was left by the one that loaded the
// library.
int heddle_child(void);

// heddle_at_exit has heddleExit called when the program ends.
void heddle_at_exit(void);

void heddle_call(uintptr_t fn, uintptr_t data);
void heddle_callback(uintptr_t fn, uintptr_t stream, int status, uintptr_t data);

// heddle_shared_of asks the program how much shared memory a block of so many
// threads wants.
size_t heddle_shared_of(uintptr_t fn, int threads);

// heddle_symbol returns the address of a function of this library, 0 if it has
// none of the name.
uintptr_t heddle_symbol(const char *name);

void heddle_free(void *p);

// heddle_length returns the bytes of a text up to its zero byte.
size_t heddle_length(uintptr_t text);

#endif
