/* Frames between memory and the AXI4-Stream ports of a unit beside the core, by its mover. A stream is known by the
 * address of its first register: FIR_REGISTERS + FIR_S_AXIS_ADDRESS of the header that
 * `./rw units manifest.json --header units.h` writes. */
#ifndef RACKWRIGHT_MOVER_H
#define RACKWRIGHT_MOVER_H

#include <stdint.h>

#include "rackwright/mover_registers.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"

static inline volatile uint32_t *rw_mover_register(uintptr_t stream, unsigned offset)
{
    return (volatile uint32_t *)(stream + offset);
}

/* Has the unit take a frame of `bytes` bytes from `buffer`, or has the unit's next frame written there, for which there
 * is room for `bytes`. The stream must not be moving a frame. */
static inline void rw_mover_start(uintptr_t stream, const void *buffer, uint32_t bytes)
{
    rackwright_fence();
    *rw_mover_register(stream, RW_MOVER_REGISTER_ADDRESS) = (uint32_t)(uintptr_t)buffer;
    *rw_mover_register(stream, RW_MOVER_REGISTER_ADDRESS_HIGH) = (uint32_t)((uint64_t)(uintptr_t)buffer >> 32);
    *rw_mover_register(stream, RW_MOVER_REGISTER_BYTES) = bytes;
}

/* Whether a frame is being moved. */
static inline int rw_mover_busy(uintptr_t stream)
{
    return *rw_mover_register(stream, RW_MOVER_REGISTER_STATUS) >> RW_MOVER_REGISTER_STATUS_BUSY_BIT & 1;
}

/* Waits for the end of the frame; returns how it ended. */
static inline rackwright_status rw_mover_wait(uintptr_t stream)
{
    uint32_t status;
    do {
        status = *rw_mover_register(stream, RW_MOVER_REGISTER_STATUS);
    } while (status >> RW_MOVER_REGISTER_STATUS_BUSY_BIT & 1);
    rackwright_fence();
    return (rackwright_status)(status >> RW_MOVER_REGISTER_STATUS_CODE_BIT & 7);
}

/* Bytes of the frame that have been moved; of the last frame, if none is being moved. */
static inline uint32_t rw_mover_moved(uintptr_t stream)
{
    return *rw_mover_register(stream, RW_MOVER_REGISTER_MOVED);
}

/* Ends the frame with what has been moved, for a unit that sends fewer bytes than there is room for and marks no ends.
 * The stream interrupts no more. */
static inline void rw_mover_stop(uintptr_t stream)
{
    *rw_mover_register(stream, RW_MOVER_REGISTER_CONTROL) = 1u << RW_MOVER_REGISTER_CONTROL_STOP_BIT;
}

#endif
