// The C interface of the engine's DRAM, which the harness of a chip finds in a library. The Rust side is src/lib.rs.
#pragma once
#include <cstdint>

extern "C" {

// A channel of DDR4-3200, on the clock of the chip.
struct RackwrightDram;

// Null for a clock that the model does not have.
RackwrightDram* rackwright_dram_create(uint64_t clock_hz);

// An access to the line of an address that arrives in `cycle`, no earlier than the one before it; gives the cycle of its
// data, or of the acknowledgement of a write.
uint64_t rackwright_dram_access(RackwrightDram* dram, uint64_t cycle, uint64_t address, bool write);

void rackwright_dram_destroy(RackwrightDram* dram);
}
