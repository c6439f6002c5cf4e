/* Pipes: bytes from who has the end for writing to who has the other. */
#include "files.h"

enum { MOST = 32, ROOM = 16384, BROKEN = 32 };

struct pipe {
  uint64_t written, read;
  bool writer, reader; /* whether that end is open */
  uint8_t bytes[ROOM];
};

static struct pipe pipes[MOST];

struct pipe *pipe_make(void) {
  for (unsigned index = 0; index < MOST; ++index) {
    struct pipe *pipe = &pipes[index];
    if (pipe->writer || pipe->reader) continue;
    pipe->writer = pipe->reader = true;
    pipe->written = pipe->read = 0;
    return pipe;
  }
  return NULL;
}

void pipe_close(struct pipe *pipe, bool writer) {
  if (writer) pipe->writer = false;
  else pipe->reader = false;
  threads_wake(pipe);
}

uint64_t pipe_read(struct pipe *pipe, uint8_t *to, uint64_t count) {
  if (!count) return 0;
  while (pipe->read == pipe->written) {
    if (!pipe->writer) return 0;
    thread_wait(pipe);
  }
  uint64_t there = pipe->written - pipe->read;
  if (count > there) count = there;
  for (uint64_t index = 0; index < count; ++index) to[index] = pipe->bytes[pipe->read++ % ROOM];
  threads_wake(pipe);
  return count;
}

uint64_t pipe_write(struct pipe *pipe, const uint8_t *from, uint64_t count) {
  for (uint64_t index = 0; index < count;) {
    if (!pipe->reader) return index ? index : (uint64_t)-BROKEN;
    if (pipe->written - pipe->read == ROOM) {
      thread_wait(pipe);
      continue;
    }
    while (index < count && pipe->written - pipe->read < ROOM) pipe->bytes[pipe->written++ % ROOM] = from[index++];
    threads_wake(pipe);
  }
  return count;
}
