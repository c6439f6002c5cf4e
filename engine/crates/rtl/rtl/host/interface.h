// The C interface between the engine and a Verilated design. The Rust side of each struct is in
// src/interface.rs; the two must agree field by field.
#pragma once
#include <cstdint>

extern "C" {

// Raised whenever a struct or a function changes; the engine refuses a library of another version.
constexpr uint32_t rackwright_interface_version = 5;

struct RackwrightRequest {
    uint64_t cycle;
    uint64_t address;
    uint32_t mask;
    uint16_t tag;
    uint8_t port;
    uint8_t write;
    uint8_t data[32];
};

struct RackwrightResponse {
    uint64_t due;
    uint16_t tag;
    uint8_t port;
    uint8_t fault;
    uint8_t data[32];
};

struct RackwrightCommand {
    uint64_t due;
    uint64_t rs1;
    uint64_t rs2;
    uint8_t opcode;
    uint8_t funct;
    uint8_t rd;
    uint8_t xd;
};

struct RackwrightCommandResponse {
    uint64_t cycle;
    uint64_t data;
    uint32_t rd;
};

struct RackwrightRegisterAccess {
    uint64_t due;
    uint64_t data;
    uint32_t address;
    uint8_t write;
};

struct RackwrightRegisterAnswer {
    uint64_t cycle;
    uint64_t data;
};

// Up to eight bytes of a frame.
struct RackwrightFlit {
    uint64_t due;  // arriving: the first cycle in which the unit may see it; leaving: when it left
    uint64_t data;
    uint8_t port;  // number of the stream port
    uint8_t keep;  // a bit for each valid byte
    uint8_t last;
};

// A change of the unit's interrupt line.
struct RackwrightInterrupt {
    uint64_t cycle;
    uint32_t level;
};

// What one call of rackwright_step left behind. The pointers stay valid until the next call.
struct RackwrightStep {
    uint64_t cycle;             // the first cycle not yet simulated
    uint64_t evaluated;         // cycles simulated since the start, without the skipped ones
    uint64_t commands_accepted; // commands taken by the unit since the start
    uint64_t last_accept;       // cycle in which the last of them was taken
    uint64_t idle_broken;       // cycle in which the unit did something while idle, if that is checked; else UINT64_MAX
    uint64_t stopped_at;        // cycle in which an assertion failed, or the unit said $stop; else UINT64_MAX
    const char* complaint;      // what it said then
    const RackwrightRequest* requests;
    const RackwrightCommandResponse* command_responses;
    const RackwrightRegisterAnswer* register_answers;
    const RackwrightFlit* flits;
    const RackwrightInterrupt* interrupts;
    uint32_t request_count;
    uint32_t command_response_count;
    uint32_t register_answer_count;
    uint32_t flit_count;
    uint32_t interrupt_count;
    uint32_t idle;              // nothing will happen before new input arrives
};

// What a copy of the unit is made with.
struct RackwrightSetup {
    const char* wave_path;         // of an FST file, or null
    const char* folder;            // in which it finds its files
    const char* const* arguments;  // what $value$plusargs finds, each with its plus sign
    uint32_t argument_count;
};

struct RackwrightHost;

uint32_t rackwright_version();
// Null when there is no memory for it.
RackwrightHost* rackwright_create(const RackwrightSetup* setup);
void rackwright_destroy(RackwrightHost* host);
// What an idle unit's clock does: 0 it runs, 1 it stands, 2 it runs and the unit must keep what `idle` says.
void rackwright_clocking(RackwrightHost* host, uint32_t clocking);
void rackwright_command(RackwrightHost* host, const RackwrightCommand* command);
void rackwright_register_access(RackwrightHost* host, const RackwrightRegisterAccess* access);
void rackwright_respond(RackwrightHost* host, const RackwrightResponse* response);
void rackwright_flit(RackwrightHost* host, const RackwrightFlit* flit);
void rackwright_step(RackwrightHost* host, uint64_t until, RackwrightStep* step);
void rackwright_record(RackwrightHost* host, uint32_t enabled);
uint64_t rackwright_recorded(const RackwrightHost* host);
void rackwright_replay(const RackwrightHost* host);
uint64_t rackwright_event(const RackwrightHost* host, uint32_t index);
}
