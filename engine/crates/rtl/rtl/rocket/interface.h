// The C interface between the engine and the Verilated Rocket cores. The Rust side is
// src/rocket/interface.rs; the two must agree field by field.
#pragma once
#include <cstdint>

extern "C" {

// Raised whenever a struct or a function changes; the engine refuses a library of another version.
constexpr uint32_t rocket_interface_version = 4;

// In place of the cycle of a response that is not known yet.
constexpr uint64_t rocket_unknown = UINT64_MAX;

// The memory behind the caches: called once per burst of that number, or once for each range that it writes, never per
// cycle. Both return the cycle of the first data beat, or of the acknowledgement; or rocket_unknown, and rocket_complete
// follows for each such call.
struct RocketMemory {
    void* context;
    uint64_t (*read)(void* context, uint64_t burst, uint64_t cycle, uint64_t address, uint8_t* data, uint32_t bytes);
    uint64_t (*write)(void* context, uint64_t burst, uint64_t cycle, uint64_t address, const uint8_t* data,
                      uint32_t bytes);
};

// A load or store of a device, by any of the cores.
struct RocketAccess {
    uint64_t address;
    uint64_t data;   // the stored bytes, from the lowest on
    uint32_t bytes;  // at most 8
    uint32_t store;  // whether it is a store
};

// A custom instruction that has left a core.
struct RocketCommand {
    uint64_t cycle;
    uint64_t rs1;
    uint64_t rs2;
    uint32_t core;
    uint32_t instruction;
};

constexpr uint32_t rocket_request_bytes = 32;

// An access to memory by another master than the cores, coherent with their caches.
struct RocketRequest {
    uint64_t number;  // of the access, for its completion
    uint64_t cycle;   // in which it is at the pins, at the earliest
    uint64_t address;
    uint32_t bytes;
    uint32_t mask;  // of a write: a bit for each byte
    uint32_t write;
    uint32_t reserved;
    uint8_t data[rocket_request_bytes];
};

// An access that has its response in `cycle`.
struct RocketCompletion {
    uint64_t number;
    uint64_t cycle;
};

struct RocketState {
    uint64_t cycle;         // the first cycle not yet simulated, counted from the end of reset
    uint64_t instructions;  // retired since then by all cores together
    uint64_t pc;            // of the last instruction in the first core's last stage
    uint32_t accesses;      // accesses of devices that have no response yet, of the cycle before `cycle`
    uint32_t events;        // commands and completions that have not been taken
    RocketAccess access;    // the first of the accesses
};

constexpr uint32_t rocket_boot_bytes = 64;

uint32_t rocket_version();
// Cores that have just left reset, at cycle 0. Code for their boot ROM takes `latency` cycles.
void* rocket_create(uint64_t latency);
void rocket_destroy(void* cores);
// Before the first run: their boot ROM continues with `code`, of rocket_boot_bytes bytes.
void rocket_boot(void* cores, const uint8_t* code);
// Simulates up to cycle `until`, or up to the end of a cycle with accesses of devices, commands or completions.
RocketState rocket_run(void* cores, RocketMemory* memory, uint64_t until);
// The response to a call of the memory for a burst is due.
void rocket_complete(void* cores, uint64_t burst, uint64_t due);
// Ends the first access: its response is at the cores' pins in cycle `due`.
RocketState rocket_answer(void* cores, uint64_t due, uint64_t data);
// Takes the first command or completion; returns whether there was one.
uint32_t rocket_take_command(void* cores, RocketCommand* command);
uint32_t rocket_take_completion(void* cores, RocketCompletion* completion);
// Custom instructions of these opcodes, a bit for each, are commands; others are illegal.
void rocket_offer(void* cores, uint32_t opcodes);
// The units of a core accept `room` further commands, and one of them is busy, for which fences wait.
void rocket_set_units(void* cores, uint32_t core, uint32_t room, uint32_t busy);
// A value for register `rd` of a core, which is at its pins in `cycle`.
void rocket_respond(void* cores, uint32_t core, uint64_t cycle, uint32_t rd, uint64_t data);
void rocket_request(void* cores, const RocketRequest* request);
}
