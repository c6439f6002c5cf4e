/* The memory behind a program, for queues and stores, which nobody gives back. */
#include "bare.h"

#include <stddef.h>

void *aligned_alloc(size_t alignment, size_t bytes) {
  static uintptr_t next;
  if (!next) next = (uintptr_t)free_memory;
  const uintptr_t found = (next + alignment - 1) & ~(alignment - 1);
  next = found + bytes;
  return (void *)found;
}
