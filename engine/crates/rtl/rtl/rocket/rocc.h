// The port for commands of one core: custom instructions become commands of the engine, which returns values for
// their destination registers.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>

#include "interface.h"

namespace rocket {

// The signals of a core that src/rocket/rocc.rs adds, and those of its pipeline that they belong to.
struct RoccPins {
    // Driven: the opcodes that units answer to, whether a command is accepted, whether a unit is busy, a response.
    uint8_t* opcodes;
    uint8_t* ready;
    uint8_t* busy;
    uint8_t* response_valid;
    uint64_t* response_data;
    uint8_t* response_rd;
    // Sampled: a command in the stage EX, its operands, whether that of the cycle before is cancelled in MEM, and
    // whether a response is accepted.
    const uint8_t* request;
    const uint32_t* instruction;
    const uint64_t* rs1;
    const uint64_t* rs2;
    const uint8_t* kill;
    const uint8_t* response_ready;
};

class RoccPort {
  public:
    RoccPort(uint32_t core, const RoccPins& pins) : core_(core), pins_(pins) {}

    // Commands of `opcodes`, a bit for each, are legal.
    void offer(uint8_t opcodes) { opcodes_ = opcodes; }

    // How many commands the units accept, and whether one of them is busy.
    void set_state(uint32_t room, bool busy) {
        room_ = room;
        busy_ = busy;
    }

    // A value for register `rd`, which is at the core's pins in `cycle`.
    void respond(uint64_t cycle, uint8_t rd, uint64_t data) { responses_.push_back({cycle, data, rd}); }

    void drive(uint64_t cycle) {
        const bool responds = !responses_.empty() && responses_.front().cycle <= cycle;
        *pins_.opcodes = opcodes_;
        *pins_.ready = room_ > (started_ ? 1u : 0u);
        *pins_.busy = busy_;
        *pins_.response_valid = responds;
        *pins_.response_data = responds ? responses_.front().data : 0;
        *pins_.response_rd = responds ? responses_.front().rd : 0;
    }

    // The command that leaves the core with the clock edge at the end of `cycle`, if one does. A command is certain to
    // complete once it has passed MEM.
    std::optional<RocketCommand> sample(uint64_t cycle) {
        std::optional<RocketCommand> left;
        if (started_ && !*pins_.kill) {
            left = started_;
            left->cycle = cycle + 1;
        }
        started_.reset();
        if (*pins_.request) started_ = RocketCommand{0, *pins_.rs1, *pins_.rs2, core_, *pins_.instruction};
        if (*pins_.response_valid && *pins_.response_ready) responses_.pop_front();
        return left;
    }

  private:
    struct Response {
        uint64_t cycle;
        uint64_t data;
        uint8_t rd;
    };

    uint32_t core_;
    RoccPins pins_;
    uint8_t opcodes_ = 0;
    uint32_t room_ = 0;
    bool busy_ = false;
    // The command in MEM.
    std::optional<RocketCommand> started_;
    std::deque<Response> responses_;
};

}  // namespace rocket
