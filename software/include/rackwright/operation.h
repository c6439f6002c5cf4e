/* The end of an operation that a process has started: waiting, and starting again when pages were missing.
 *
 * For units that end with a completion record, one that decompresses in custom-0 and one that compresses in custom-1. */
#ifndef RACKWRIGHT_OPERATION_H
#define RACKWRIGHT_OPERATION_H

#include "rackwright/process.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An operation that was started, and how to start it again. */
typedef struct {
    const uint64_t *flag; /* first word of its completion record: 0 while under way, then 1 + status | bytes << 8 */
    rackwright_range source, destination;
    bool compresses;
    void (*start)(void *request);
    void *request;
} rackwright_operation;

/* Waits for its end, and repeats it as long as pages were missing that can be had. */
void rackwright_finish(const rackwright_operation *operation);

#ifdef __cplusplus
}
#endif

#endif
