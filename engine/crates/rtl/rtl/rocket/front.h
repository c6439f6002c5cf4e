// The near end of the system's AXI4 port for other masters: accesses of the engine, which the hub keeps coherent with
// the cores' caches.
#pragma once
#include <array>
#include <cstring>
#include <deque>
#include <optional>

#include "interface.h"

namespace rocket {

template <class Pins>
class FrontPort {
  public:
    void request(const RocketRequest& request) { (request.write ? writes_ : reads_).waiting.push_back(request); }

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        start(reads_, cycle);
        start(writes_, cycle);
        Pins::ar_valid(model) = reads_.current.has_value();
        if (reads_.current) {
            Pins::ar_addr(model) = aligned(*reads_.current);
            Pins::ar_len(model) = beats(*reads_.current) - 1;
            Pins::ar_id(model) = reads_.id;
            Pins::ar_size(model) = beat_size;
            Pins::ar_burst(model) = incrementing;
        }
        Pins::aw_valid(model) = writes_.current && !address_sent_;
        Pins::w_valid(model) = writes_.current && beat_ < beats(*writes_.current);
        if (writes_.current) drive_write(model, *writes_.current);
        Pins::r_ready(model) = 1;
        Pins::b_ready(model) = 1;
    }

    // Called when the inputs of `cycle` have settled; passes the accesses that are complete to `complete`.
    template <class Model, class Complete>
    void sample(Model& model, uint64_t cycle, Complete complete) {
        if (Pins::ar_valid(model) && Pins::ar_ready(model)) reads_.current.reset();
        if (Pins::aw_valid(model) && Pins::aw_ready(model)) address_sent_ = true;
        if (Pins::w_valid(model) && Pins::w_ready(model)) ++beat_;
        if (writes_.current && address_sent_ && beat_ == beats(*writes_.current)) {
            writes_.current.reset();
            address_sent_ = false;
            beat_ = 0;
        }
        if (Pins::r_valid(model) && Pins::r_last(model)) complete(finish(reads_, Pins::r_id(model), cycle));
        if (Pins::b_valid(model)) complete(finish(writes_, Pins::b_id(model), cycle));
    }

  private:
    static constexpr unsigned beat_size = 3;
    static constexpr unsigned beat_bytes = 1 << beat_size;
    static constexpr unsigned incrementing = 1;
    static constexpr unsigned ids = 16;

    // Accesses of one direction: those that wait, the one at the pins, and those that the system has.
    struct Direction {
        std::deque<RocketRequest> waiting;
        std::optional<RocketRequest> current;
        unsigned id = 0;
        std::array<std::optional<uint64_t>, ids> outstanding;
    };

    Direction reads_;
    Direction writes_;
    bool address_sent_ = false;
    unsigned beat_ = 0;

    static uint64_t aligned(const RocketRequest& request) { return request.address & ~uint64_t{beat_bytes - 1}; }

    static unsigned beats(const RocketRequest& request) {
        const uint64_t end = request.address + request.bytes;
        return unsigned((end - aligned(request) + beat_bytes - 1) / beat_bytes);
    }

    void start(Direction& direction, uint64_t cycle) {
        if (direction.current || direction.waiting.empty() || direction.waiting.front().cycle > cycle) return;
        for (unsigned id = 0; id < ids; ++id) {
            if (direction.outstanding[id]) continue;
            direction.current = direction.waiting.front();
            direction.waiting.pop_front();
            direction.outstanding[id] = direction.current->number;
            direction.id = id;
            return;
        }
    }

    template <class Model>
    void drive_write(Model& model, const RocketRequest& write) {
        Pins::aw_addr(model) = aligned(write);
        Pins::aw_len(model) = beats(write) - 1;
        Pins::aw_id(model) = writes_.id;
        Pins::aw_size(model) = beat_size;
        Pins::aw_burst(model) = incrementing;
        // Bytes of the beat before and after those of the access have no strobe.
        uint8_t data[beat_bytes] = {};
        unsigned strobe = 0;
        for (unsigned byte = 0; byte < beat_bytes; ++byte) {
            const uint64_t offset = aligned(write) + beat_ * beat_bytes + byte - write.address;
            if (offset >= write.bytes || !(write.mask >> offset & 1)) continue;
            data[byte] = write.data[offset];
            strobe |= 1u << byte;
        }
        std::memcpy(&Pins::w_data(model), data, beat_bytes);
        Pins::w_strb(model) = strobe;
        Pins::w_last(model) = beat_ + 1 == beats(write);
    }

    RocketCompletion finish(Direction& direction, unsigned id, uint64_t cycle) {
        const RocketCompletion completion{*direction.outstanding[id], cycle + 1};
        direction.outstanding[id].reset();
        return completion;
    }
};

}  // namespace rocket
