#include "paging.h"

/* The commands of the page-fault unit; hardware/src/main/scala/rackwright/pagefault/README.md is its contract. */
void unit_start(void) { fail("there is no page-fault unit yet:", 0); }
bool unit_store(struct frame *frame) { return frame != NULL; }
void unit_serve(void) {}
void unit_wait(void) {}
bool unit_fetch(uint64_t *entry) { return entry != NULL; }
