/* Processes of Linux that sleep until a tile has moved an index of their queues, for root; C and C++, with the extensions of GNU.
 *
 * docs/tiles.md has an example. */
#ifndef RACKWRIGHT_PROCESS_SLEEP_H
#define RACKWRIGHT_PROCESS_SLEEP_H

#include "rackwright/pci.h"
#include "rackwright/process_queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By which the tiles interrupt processes of root: a function of the PCI bus, which the driver `uio_pci_generic` has. */
typedef struct rw_pci_card rw_tile_line;

#define RW_TILE_LINE "0000:00:0f.0"

/* Opens the line, after `modprobe uio_pci_generic`; false without tiles that interrupt, or the driver. Every process that sleeps
 * has to open it itself. */
static inline bool rw_tile_listen(rw_tile_line *line)
{
    if (rw_pci_open(line, RW_TILE_LINE) != 0) {
        /* A machine that goes on from a checkpoint has tiles that its kernel has not seen. */
        const int bus = open("/sys/bus/pci/rescan", O_WRONLY | O_CLOEXEC);
        const bool scanned = bus >= 0 && write(bus, "1", 1) == 1;
        if (bus >= 0) close(bus);
        if (!scanned || rw_pci_open(line, RW_TILE_LINE) != 0) return false;
    }
    /* While another process has the driver take the line, it is not there yet. */
    for (unsigned looks = 0; looks < RW_ENDPOINT_LOOKS; looks++, sched_yield())
        if (rw_pci_listen(line, RW_TILE_LINE) == 0) return true;
    rw_pci_close(line);
    return false;
}

/* The rest of a function that attempts until that succeeds, and sleeps between attempts until the tile has moved an index of this
 * endpoint. The wish to be woken comes before an attempt, so that no change is missed. Processes share the line, and are all woken
 * for each change that one of them awaits. */
#define RW_ENDPOINT_SLEEP(endpoint, line, attempt)                                                          \
    for (unsigned looks = 0; looks < RW_ENDPOINT_LOOKS; looks++)                                            \
        if (attempt) return true;                                                                           \
    for (;;) {                                                                                              \
        const uint64_t state = rw_endpoint_ask_await((endpoint)->tile, (endpoint)->number, true);           \
        const bool succeeds = attempt;                                                                      \
        const bool woken = succeeds || state != RW_TILE_OPEN || rw_pci_wait(line) >= 0;                     \
        (void)rw_endpoint_ask_await((endpoint)->tile, (endpoint)->number, false);                           \
        if (succeeds || (attempt)) return true;                                                             \
        if (!woken || !rw_endpoint_serve(endpoint)) return attempt;                                         \
    }

/* As `rw_endpoint_pop`, asleep; false also if the process cannot sleep. */
static inline bool rw_endpoint_pop_asleep(const rw_endpoint *endpoint, rw_tile_line *line, rw_ending *ending)
{
    RW_ENDPOINT_SLEEP(endpoint, line, rw_queue_try_pop(endpoint->outgoing, ending))
}

/* As `rw_endpoint_push`, asleep; false also if the process cannot sleep. */
static inline bool rw_endpoint_push_asleep(const rw_endpoint *endpoint, rw_tile_line *line, const rw_descriptor *descriptor)
{
    RW_ENDPOINT_SLEEP(endpoint, line, rw_queue_try_push(endpoint->incoming, descriptor))
}

#ifdef __cplusplus
}
#endif

#endif
