// Arguments of later versions of functions.
#ifndef HEDDLE_VERSIONS_H
#define HEDDLE_VERSIONS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// location is where managed memory is, from 12.2 on; location_device is its earlier form: the number of a device, or -1
// for the host, whose nodes have types 2 to 4. -2 is neither.
struct location {
  int type, id;
};

static inline int location_device(struct location l) {
  return l.type == 1 && l.id >= 0 ? l.id : l.type >= 2 && l.type <= 4 ? -1 : -2;
}

// edge is the data of an edge of a graph, from 12.3 on. They are always 0 here: full dependences.
struct edge {
  unsigned char data[8];
};

// full_edges stores the data of the edges that a call has returned.
static inline int full_edges(int err, struct edge *data, const size_t *n) {
  if (err == 0 && data)
    memset(data, 0, *n * sizeof *data);
  return err;
}

// tail_edges does the same for the edges of the next captured node, which the library owns.
static inline int tail_edges(int err, size_t count, const struct edge **data, size_t *n) {
  static const struct edge none[1024]; // more dependences than a stream is likely to have
  if (err == 0 && data)
    *data = count <= sizeof none / sizeof *none ? none : 0;
  if (err == 0 && n)
    *n = count;
  return err;
}

#endif
