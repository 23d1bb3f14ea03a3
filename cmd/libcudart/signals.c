// Reports for programs that do not return from main. Go must not be called here, because
// a signal can come at any time: a byte in a pipe requests the report from a goroutine,
// and another pipe signals its completion.
#define _GNU_SOURCE
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// patience is the time that a dying program waits for its report, in milliseconds.
enum { patience = 10000 };

static int ask[2] = {-1, -1}, answer[2] = {-1, -1};
static volatile pid_t owner; // 0 until there is something to report, and after the report

int heddle_listen(void) {
  if (pipe2(ask, O_CLOEXEC) || pipe2(answer, O_CLOEXEC))
    return -1;
  int *all[] = {&ask[0], &ask[1], &answer[0], &answer[1]};
  for (int i = 0; i < 4; i++) { // move it away from the low numbers that programs expect
    int up = fcntl(*all[i], F_DUPFD_CLOEXEC, 100);
    if (up >= 0) {
      close(*all[i]);
      *all[i] = up;
    }
  }
  owner = getpid();
  return ask[0];
}

void heddle_answer(void) {
  owner = 0;
  close(answer[1]); // for all waiting threads
}

int heddle_own(void) { return owner == getpid(); }

static pid_t loader; // the process that loaded the library

int heddle_child(void) { return loader != getpid(); }

static int ours[8], files; // those of observers: two, each with its lock

static void close_ours(void) {
  for (int i = 0; i < files; i++)
    close(ours[i]);
  files = 0; // their numbers may soon be those of the child's own files
}

void heddle_close_in_children(int fd) {
  static int ready;
  if (fd < 0)
    files = 0;
  else if (files < (int)(sizeof ours / sizeof *ours)) {
    ours[files++] = fd;
    if (!ready++)
      pthread_atfork(0, 0, close_ours);
  }
}

// Children inherit that a signal is ignored: clang, which has children too, would fail.
void heddle_keep_children(int on) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static struct sigaction theirs;
  static int calls;
  struct sigaction now = {.sa_handler = SIG_DFL};
  pthread_mutex_lock(&lock);
  if (on && calls++ == 0)
    sigaction(SIGCHLD, &now, &theirs);
  if (!on && --calls == 0) {
    if (sigaction(SIGCHLD, 0, &now) == 0 && now.sa_handler == SIG_DFL) // else the program has changed it meanwhile
      sigaction(SIGCHLD, &theirs, 0);
    if (theirs.sa_handler == SIG_IGN || theirs.sa_flags & SA_NOCLDWAIT)
      while (waitpid(-1, 0, WNOHANG) > 0) // the program's children that have ended meanwhile
        ;
    else
      kill(getpid(), SIGCHLD); // so that its handler sees them
  }
  pthread_mutex_unlock(&lock);
}

// report requests the report, and waits for it if the program is about to end.
static void report(int why, int wait) {
  int saved = errno;
  unsigned char b = why;
  if (heddle_own() && write(ask[1], &b, 1) == 1 && wait) {
    struct pollfd p = {answer[0], POLLIN, 0};
    while (poll(&p, 1, patience) < 0 && errno == EINTR)
      ;
  }
  errno = saved;
}

// die ends the program by a signal.
static void die(int sig) {
  struct sigaction usual = {.sa_handler = SIG_DFL};
  sigaction(sig, &usual, 0);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, sig);
  pthread_sigmask(SIG_UNBLOCK, &only, 0);
  kill(getpid(), sig);
}

void heddle_die(int sig) { die(sig); }

// fatal is called when the program cannot continue.
static void fatal(int sig, siginfo_t *info, void *context) {
  report(sig, 1);
  die(sig);
}

void heddle_fault(void) { fatal(SIGSEGV, 0, 0); }

// asked is called when the user wants the program to end. A second request ends it
// without a report, except in the first second, when the same request may arrive in more
// than one way.
static void asked(int sig, siginfo_t *info, void *context) {
  static volatile time_t first;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!heddle_own() || first && now.tv_sec > first + 1)
    die(sig);
  else if (!first) {
    first = now.tv_sec;
    report(sig, 0); // then heddle_die
  }
}

// handle installs a handler if there is none.
static void handle(int sig, void (*f)(int, siginfo_t *, void *)) {
  struct sigaction now, ours = {.sa_sigaction = f, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  if (sigaction(sig, 0, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
    sigaction(sig, &ours, 0);
}

// Runs before Go's constructor, whose handlers pass on signals outside of Go code.
__attribute__((constructor(101))) static void begin(void) {
  loader = getpid();
  handle(SIGSEGV, fatal);
  handle(SIGBUS, fatal);
  handle(SIGFPE, fatal);
  handle(SIGILL, fatal);
  handle(SIGABRT, fatal);
  handle(SIGINT, asked);
  handle(SIGTERM, asked);
  handle(SIGHUP, asked);
}

// Programs that end in this way do not run functions registered with atexit.
void _exit(int status) {
  report(0, 1);
  for (;;)
    syscall(SYS_exit_group, status);
}

void _Exit(int status) __attribute__((alias("_exit")));
