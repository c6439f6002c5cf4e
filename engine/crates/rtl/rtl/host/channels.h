// Channels: what moves data between the pins of one port and the queues of the engine.
//
// Every channel is a template over a `Pins` type that src/binding.rs writes from the manifest, so
// that each pin access is a direct member access and costs nothing in the per-cycle loop. In a
// cycle, `drive` sets the inputs before the logic settles and `sample` reads the outputs after.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "interface.h"

namespace rackwright {

// Items with a due cycle, in the order of (due, arrival).
//
// The order is kept among small entries of a ring while the items, with their data, stay where they
// are. Most items are due after all others; the rest find their place from the end, past the few
// that they overtake.
template <class Item>
class DueQueue {
  public:
    void push(const Item& item) {
        if (end_ - begin_ == ring_.size()) grow();
        uint64_t place = end_++;
        for (; place != begin_ && at(place - 1).due > item.due; --place) at(place) = at(place - 1);
        at(place) = {item.due, keep(item)};
        next_due_ = at(begin_).due;
    }
    bool empty() const { return begin_ == end_; }
    bool ready(uint64_t cycle) const { return next_due_ <= cycle && !empty(); }
    const Item& front() const { return items_[at(begin_).slot]; }
    // The same for the item that has so many before it.
    bool ready(uint64_t cycle, uint64_t before) const {
        return before < end_ - begin_ && at(begin_ + before).due <= cycle;
    }
    const Item& behind(uint64_t before) const { return items_[at(begin_ + before).slot]; }
    void pop() {
        free_.push_back(at(begin_++).slot);
        next_due_ = empty() ? UINT64_MAX : at(begin_).due;
    }
    uint64_t next_due() const { return next_due_; }

  private:
    struct Entry {
        uint64_t due;
        uint32_t slot;
    };

    // A power of two of entries; `begin_` and `end_` count on and on.
    std::vector<Entry> ring_ = std::vector<Entry>(64);
    uint64_t begin_ = 0;
    uint64_t end_ = 0;
    uint64_t next_due_ = UINT64_MAX;
    std::vector<Item> items_;
    std::vector<uint32_t> free_;

    Entry& at(uint64_t place) { return ring_[place & (ring_.size() - 1)]; }
    const Entry& at(uint64_t place) const { return ring_[place & (ring_.size() - 1)]; }

    void grow() {
        std::vector<Entry> larger(2 * ring_.size());
        for (uint64_t place = begin_; place != end_; ++place) {
            larger[place & (larger.size() - 1)] = at(place);
        }
        ring_.swap(larger);
    }

    uint32_t keep(const Item& item) {
        if (free_.empty()) {
            items_.push_back(item);
            return static_cast<uint32_t>(items_.size() - 1);
        }
        const uint32_t slot = free_.back();
        free_.pop_back();
        items_[slot] = item;
        return slot;
    }
};

// A memory port of the unit: requests are always taken, one per cycle; responses go in when due.
template <class Pins>
class MemoryChannel {
  public:
    DueQueue<RackwrightResponse> responses;

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        Pins::request_ready(model) = 1;
        const bool valid = responses.ready(cycle);
        Pins::response_valid(model) = valid;
        if (valid) {
            const RackwrightResponse& response = responses.front();
            Pins::response_tag(model) = response.tag;
            Pins::response_fault(model) = response.fault;
            std::memcpy(&Pins::response_data(model), response.data, Pins::bytes);
        }
    }

    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightRequest>& requests) {
        if (Pins::response_valid(model) && Pins::response_ready(model)) responses.pop();
        if (!Pins::request_valid(model)) return;
        requests.emplace_back();
        RackwrightRequest& request = requests.back();
        request.cycle = cycle;
        request.address = Pins::request_address(model);
        request.write = Pins::request_write(model);
        request.tag = Pins::request_tag(model);
        request.port = Pins::index;
        request.mask = Pins::request_mask(model);
        std::memcpy(request.data, &Pins::request_data(model), Pins::bytes);
    }
};

// The command port: commands go in, in order, from their due cycle on; answers come out.
template <class Pins>
class CommandChannel {
  public:
    DueQueue<RackwrightCommand> commands;
    uint64_t accepted = 0;
    uint64_t last_accept = 0;

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        Pins::response_ready(model) = 1;
        const bool valid = commands.ready(cycle);
        Pins::request_valid(model) = valid;
        if (valid) {
            const RackwrightCommand& command = commands.front();
            Pins::request_opcode(model) = command.opcode;
            Pins::request_funct(model) = command.funct;
            Pins::request_rs1(model) = command.rs1;
            Pins::request_rs2(model) = command.rs2;
            Pins::request_rd(model) = command.rd;
            Pins::request_xd(model) = command.xd;
        }
    }

    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightCommandResponse>& responses) {
        if (Pins::request_valid(model) && Pins::request_ready(model)) {
            commands.pop();
            ++accepted;
            last_accept = cycle;
        }
        if (Pins::response_valid(model)) {
            responses.push_back({cycle, Pins::response_data(model), Pins::response_rd(model)});
        }
    }
};

// A register (MMIO) port of the unit: accesses go in, in order; every one is answered, in order.
template <class Pins>
class RegisterChannel {
  public:
    DueQueue<RackwrightRegisterAccess> accesses;
    uint64_t unanswered = 0;

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        Pins::response_ready(model) = 1;
        const bool valid = accesses.ready(cycle);
        Pins::request_valid(model) = valid;
        if (valid) {
            const RackwrightRegisterAccess& access = accesses.front();
            Pins::request_address(model) = access.address;
            Pins::request_write(model) = access.write;
            Pins::request_data(model) = access.data;
        }
    }

    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightRegisterAnswer>& answers) {
        if (Pins::request_valid(model) && Pins::request_ready(model)) {
            accesses.pop();
            ++unanswered;
        }
        if (Pins::response_valid(model)) {
            answers.push_back({cycle, Pins::response_data(model)});
            --unanswered;
        }
    }
};

}  // namespace rackwright
