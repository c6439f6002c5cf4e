// Channels: what moves data between the pins of one port and the queues of the engine.
//
// Every channel is a template over a `Pins` type that src/binding.rs writes from the manifest, so
// that each pin access is a direct member access and costs nothing in the per-cycle loop. In a
// cycle, `drive` sets the inputs before the logic settles and `sample` reads the outputs after.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "interface.h"

namespace rackwright {

// Items with a due cycle, in the order of (due, arrival).
//
// Answers of memory overtake each other all the time, so that the order is kept among small
// entries of a heap while the items, with their data, stay where they are.
template <class Item>
class DueQueue {
  public:
    void push(const Item& item) {
        const uint32_t slot = keep(item);
        heap_.push_back({item.due, arrivals_++, slot});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    bool empty() const { return heap_.empty(); }
    bool ready(uint64_t cycle) const { return next_due() <= cycle && !heap_.empty(); }
    const Item& front() const { return items_[heap_.front().slot]; }
    void pop() {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        free_.push_back(heap_.back().slot);
        heap_.pop_back();
    }
    uint64_t next_due() const { return heap_.empty() ? UINT64_MAX : heap_.front().due; }

  private:
    struct Entry {
        uint64_t due;
        uint64_t arrival;
        uint32_t slot;
    };

    std::vector<Entry> heap_;
    std::vector<Item> items_;
    std::vector<uint32_t> free_;
    uint64_t arrivals_ = 0;

    static bool later(const Entry& one, const Entry& other) {
        return one.due != other.due ? one.due > other.due : one.arrival > other.arrival;
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
