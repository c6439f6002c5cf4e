// The C interface between the engine and the Verilated Rocket core. The Rust side is
// src/rocket/interface.rs; the two must agree field by field.
#pragma once
#include <cstdint>

extern "C" {

// Raised whenever a struct or a function changes; the engine refuses a library of another version.
constexpr uint32_t rocket_interface_version = 1;

// What the system's two buses ask of the engine: once per burst, never per cycle.
// The first two return the cycle of the first data beat, or of the acknowledgement.
struct RocketBus {
    void* context;
    uint64_t (*read)(void* context, uint64_t cycle, uint64_t address, uint8_t* data, uint32_t bytes);
    uint64_t (*write)(void* context, uint64_t cycle, uint64_t address, const uint8_t* data, uint32_t bytes);
    // Asked after each burst: nonzero leaves rocket_run after the current cycle.
    uint8_t (*finished)(void* context);
};

struct RocketState {
    uint64_t cycle;         // the first cycle not yet simulated, counted from the end of reset
    uint64_t instructions;  // retired since then by all cores together
};

uint32_t rocket_version();
void* rocket_create();
void rocket_destroy(void* core);
RocketState rocket_run(void* core, RocketBus* bus, uint64_t until);
}
