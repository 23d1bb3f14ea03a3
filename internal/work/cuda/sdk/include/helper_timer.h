// The stop watch of sample programs, in milliseconds of the host.
#ifndef HEDDLE_HELPER_TIMER_H
#define HEDDLE_HELPER_TIMER_H

#include <time.h>

class StopWatchInterface {
  double total, since;
  int sessions;
  bool running;
  static double now() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
  }

 public:
  StopWatchInterface() : total(0), since(0), sessions(0), running(false) {}
  void start() {
    since = now();
    running = true;
  }
  void stop() {
    total += now() - since;
    sessions++;
    running = false;
  }
  void reset() {
    total = 0;
    sessions = 0;
    since = now();
  }
  float getTime() { return (float)(total + (running ? now() - since : 0)); }
  float getAverageTime() { return sessions ? (float)(total / sessions) : 0; }
};
static inline bool sdkCreateTimer(StopWatchInterface **t) { return (*t = new StopWatchInterface) != 0; }
static inline bool sdkDeleteTimer(StopWatchInterface **t) {
  delete *t;
  *t = 0;
  return true;
}
static inline bool sdkStartTimer(StopWatchInterface **t) { return (*t)->start(), true; }
static inline bool sdkStopTimer(StopWatchInterface **t) { return (*t)->stop(), true; }
static inline bool sdkResetTimer(StopWatchInterface **t) { return (*t)->reset(), true; }
static inline float sdkGetTimerValue(StopWatchInterface **t) { return (*t)->getTime(); }
static inline float sdkGetAverageTimerValue(StopWatchInterface **t) { return (*t)->getAverageTime(); }

#endif
