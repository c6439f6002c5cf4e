// An AXI4 master port of the unit, seen as memory requests and responses.
//
// A read burst becomes one request per beat and its beats go back in order; a write beat becomes a
// request when it comes, and the burst is answered when all of its beats are. The tag of a request
// numbers the beat, so that answers may come from memory in any order.
//
// Bursts of every type and beats narrower than the bus are those of AMBA AXI4 (IHI 0022, section A3.4.1): memory
// gives and takes whole words of the bus, in which the master finds its lanes by the address and by the strobes.
#pragma once
#include <array>
#include <deque>

#include "channels.h"

namespace rackwright {

template <class Pins>
class AxiChannel {
  public:
    // Answers from the engine, by due cycle.
    DueQueue<RackwrightResponse> responses;
    // Beats asked of memory and not yet given back to the unit.
    uint64_t unanswered = 0;

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        collect(cycle);
        // Both address channels may take a burst in the same cycle. A write burst has its room from its address on.
        const bool room = unanswered + beats_to_write_ + 2 * longest_burst <= beats;
        Pins::ar_ready(model) = room;
        Pins::aw_ready(model) = room && beats_to_write_ == 0;
        Pins::w_ready(model) = beats_to_write_ != 0;
        drive_read(model);
        drive_write(model);
    }

    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightRequest>& requests) {
        if (Pins::r_valid(model) && Pins::r_ready(model)) retire(reads_);
        if (Pins::b_valid(model) && Pins::b_ready(model)) retire_write();
        if (Pins::w_valid(model) && Pins::w_ready(model)) write_beat(model, cycle, requests);
        if (Pins::aw_valid(model) && Pins::aw_ready(model)) {
            beats_to_write_ = Pins::aw_length(model) + 1;
            write_id_ = Pins::aw_id(model);
            write_ = Burst(Pins::aw_address(model), Pins::aw_size(model), Pins::aw_burst(model), beats_to_write_);
        }
        if (Pins::ar_valid(model) && Pins::ar_ready(model)) read_burst(model, cycle, requests);
    }

  protected:
    // Beats of the write burst under way that have not come yet.
    unsigned beats_to_write() const { return beats_to_write_; }

  private:
    static constexpr unsigned longest_burst = 256;
    static constexpr unsigned beats = 1024;
    static constexpr uint8_t slave_error = 2;

    struct Beat {
        bool done;
        bool fault;
        bool last;
        uint8_t id;
        uint16_t slot;
        uint8_t data[32];
    };

    // The addresses of the beats of a burst.
    class Burst {
      public:
        Burst() = default;
        Burst(uint64_t address, unsigned size, unsigned type, unsigned length)
            : address_(address), size_(uint64_t(1) << size), type_(type), wrap_(size_ * length) {}

        // The word of the bus with the next beat.
        uint64_t next() {
            const uint64_t word = address_ & ~uint64_t(Pins::bytes - 1);
            if (type_ == fixed) return word;
            const uint64_t after = (address_ & ~(size_ - 1)) + size_;
            // A burst that wraps does so at a multiple of its bytes.
            address_ = type_ == wrapping && after % wrap_ == 0 ? after - wrap_ : after;
            return word;
        }

      private:
        static constexpr unsigned fixed = 0;
        static constexpr unsigned wrapping = 2;

        uint64_t address_ = 0;
        uint64_t size_ = Pins::bytes;
        unsigned type_ = fixed;
        uint64_t wrap_ = Pins::bytes;
    };

    // The slots of outstanding beats in the order in which they were asked for.
    using Order = std::deque<uint16_t>;

    std::array<Beat, beats> table_{};
    std::vector<uint16_t> free_ = all_slots();
    Order reads_;
    Order writes_;
    unsigned beats_to_write_ = 0;
    uint8_t write_id_ = 0;
    Burst write_;

    static std::vector<uint16_t> all_slots() {
        std::vector<uint16_t> slots;
        for (uint16_t slot = beats; slot > 0; --slot) slots.push_back(slot - 1);
        return slots;
    }

    void collect(uint64_t cycle) {
        while (responses.ready(cycle)) {
            const RackwrightResponse& response = responses.front();
            Beat& beat = table_[response.tag];
            beat.done = true;
            beat.fault = response.fault;
            std::memcpy(beat.data, response.data, Pins::bytes);
            responses.pop();
        }
    }

    template <class Model>
    void drive_read(Model& model) {
        const bool valid = !reads_.empty() && table_[reads_.front()].done;
        Pins::r_valid(model) = valid;
        if (!valid) return;
        const Beat& beat = table_[reads_.front()];
        Pins::r_id(model) = beat.id;
        Pins::r_last(model) = beat.last;
        Pins::r_response(model) = beat.fault ? slave_error : 0;
        std::memcpy(&Pins::r_data(model), beat.data, Pins::bytes);
    }

    // The oldest write burst is complete when each of its beats is.
    template <class Model>
    void drive_write(Model& model) {
        bool complete = false;
        bool fault = false;
        for (uint16_t slot : writes_) {
            const Beat& beat = table_[slot];
            if (!beat.done) break;
            fault = fault || beat.fault;
            complete = beat.last;
            if (complete) break;
        }
        Pins::b_valid(model) = complete;
        if (!complete) return;
        Pins::b_id(model) = table_[writes_.front()].id;
        Pins::b_response(model) = fault ? slave_error : 0;
    }

    bool retire(Order& order) {
        const uint16_t slot = order.front();
        order.pop_front();
        free_.push_back(slot);
        --unanswered;
        return table_[slot].last;
    }

    void retire_write() {
        while (!retire(writes_)) {
        }
    }

    uint16_t allocate(Order& order, uint8_t id, bool last) {
        const uint16_t slot = free_.back();
        free_.pop_back();
        table_[slot] = Beat{false, false, last, id, slot, {}};
        order.push_back(slot);
        ++unanswered;
        return slot;
    }

    template <class Model>
    void read_burst(Model& model, uint64_t cycle, std::vector<RackwrightRequest>& requests) {
        const unsigned length = Pins::ar_length(model) + 1;
        Burst burst(Pins::ar_address(model), Pins::ar_size(model), Pins::ar_burst(model), length);
        for (unsigned left = length; left != 0; --left) {
            const uint16_t slot = allocate(reads_, Pins::ar_id(model), left == 1);
            requests.push_back({cycle, burst.next(), 0, slot, Pins::index, 0, {}});
        }
    }

    template <class Model>
    void write_beat(Model& model, uint64_t cycle, std::vector<RackwrightRequest>& requests) {
        const uint16_t slot = allocate(writes_, write_id_, --beats_to_write_ == 0);
        requests.push_back({cycle, write_.next(), uint32_t(Pins::w_mask(model)), slot, Pins::index, 1, {}});
        std::memcpy(requests.back().data, &Pins::w_data(model), Pins::bytes);
    }
};

}  // namespace rackwright
