// The far end of one of the cores' AXI4 ports: bursts become calls of a target, which says when
// their data is due. Beats of different bursts are never interleaved.
#pragma once
#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "interface.h"

namespace rocket {

// A burst as its target sees it: the bytes from `address` on. `number` distinguishes the bursts of a port.
struct Burst {
    uint64_t number;
    uint64_t cycle;
    uint64_t address;
    uint32_t bytes;
};

template <class Pins, class Target>
class AxiSlave {
  public:
    explicit AxiSlave(Target& target) : target_(target) {}

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        Pins::ar_ready(model) = 1;
        Pins::aw_ready(model) = !writing_;
        Pins::w_ready(model) = writing_;
        drive_read(model, cycle);
        drive_acknowledge(model, cycle);
    }

    // Called when the inputs of `cycle` have settled, just before its clock edge.
    template <class Model>
    void sample(Model& model, uint64_t cycle) {
        if (Pins::r_valid(model) && Pins::r_ready(model)) next_beat();
        if (Pins::b_valid(model) && Pins::b_ready(model)) acknowledges_.pop_front();
        if (Pins::w_valid(model) && Pins::w_ready(model)) write_beat(model, cycle);
        if (Pins::aw_valid(model) && Pins::aw_ready(model)) start_write(model);
        if (Pins::ar_valid(model) && Pins::ar_ready(model)) start_read(model, cycle);
    }

    // The response to a call of the target that did not know when it is due.
    void answer(uint64_t number, uint64_t due) {
        for (auto& read : reads_) {
            if (read.number == number) read.due = due;
        }
        if (writing_ && write_.number == number) write_.answer(due);
        for (auto& acknowledge : acknowledges_) {
            if (acknowledge.number == number) acknowledge.answer(due);
        }
    }

    // The same with the data of a read of at most 8 bytes.
    void answer(uint64_t number, uint64_t due, uint64_t data) {
        for (auto& read : reads_) {
            if (read.number != number) continue;
            std::memcpy(read.data.data() + (read.address & (beat_bytes - 1)), &data,
                        std::min<size_t>(sizeof data, beat_bytes - (read.address & (beat_bytes - 1))));
        }
        answer(number, due);
    }

  private:
    static constexpr unsigned beat_bytes = Pins::beat_bytes;

    struct Read {
        uint64_t number;
        uint64_t due;
        uint64_t address;
        unsigned beats;
        unsigned beat_size;
        unsigned id;
        std::vector<uint8_t> data;
    };

    // The response to a write, which follows those to all its ranges.
    struct Acknowledge {
        uint64_t number;
        unsigned id;
        uint64_t due = 0;
        unsigned unknown = 0;

        void answer(uint64_t at) {
            due = std::max(due, at);
            --unknown;
        }
    };

    Target& target_;
    std::deque<Read> reads_;
    std::deque<Acknowledge> acknowledges_;
    unsigned beat_ = 0;
    uint64_t bursts_ = 0;

    bool writing_ = false;
    Acknowledge write_{};
    uint64_t write_address_ = 0;
    unsigned write_beat_size_ = 0;
    // Bytes with consecutive addresses that the burst has written so far.
    uint64_t run_address_ = 0;
    std::vector<uint8_t> run_;

    template <class Model>
    void drive_read(Model& model, uint64_t cycle) {
        if (beat_ == 0) bring_earliest_to_front();
        const bool valid = !reads_.empty() && reads_.front().due <= cycle;
        Pins::r_valid(model) = valid;
        if (!valid) return;
        const Read& read = reads_.front();
        const uint64_t lane = (read.address + beat_ * read.beat_size) & ~uint64_t{beat_bytes - 1};
        const uint64_t base = read.address & ~uint64_t{beat_bytes - 1};
        std::memcpy(&Pins::r_data(model), read.data.data() + (lane - base), beat_bytes);
        Pins::r_id(model) = read.id;
        Pins::r_resp(model) = 0;
        Pins::r_last(model) = beat_ + 1 == read.beats;
    }

    void bring_earliest_to_front() {
        const auto earliest = std::min_element(
            reads_.begin(), reads_.end(), [](const Read& a, const Read& b) { return a.due < b.due; });
        if (earliest != reads_.end()) std::rotate(reads_.begin(), earliest, earliest + 1);
    }

    template <class Model>
    void drive_acknowledge(Model& model, uint64_t cycle) {
        const bool valid =
            !acknowledges_.empty() && acknowledges_.front().unknown == 0 && acknowledges_.front().due <= cycle;
        Pins::b_valid(model) = valid;
        Pins::b_resp(model) = 0;
        if (valid) Pins::b_id(model) = acknowledges_.front().id;
    }

    void next_beat() {
        if (++beat_ < reads_.front().beats) return;
        beat_ = 0;
        reads_.pop_front();
    }

    // A target is asked for whole beats, except for a burst of a single one, which may be a part of it.
    template <class Model>
    void start_read(Model& model, uint64_t cycle) {
        Read read;
        read.number = ++bursts_;
        read.address = Pins::base + Pins::ar_addr(model);
        read.beats = Pins::ar_len(model) + 1u;
        read.beat_size = 1u << Pins::ar_size(model);
        read.id = Pins::ar_id(model);
        const uint64_t base = read.address & ~uint64_t{beat_bytes - 1};
        const uint64_t end = read.address + read.beats * read.beat_size;
        read.data.resize((end - base + beat_bytes - 1) / beat_bytes * beat_bytes);
        read.due = read.beats == 1 && Target::in_parts
                       ? target_.read({read.number, cycle, read.address, read.beat_size},
                                      read.data.data() + (read.address - base))
                       : target_.read({read.number, cycle, base, uint32_t(read.data.size())}, read.data.data());
        reads_.push_back(std::move(read));
    }

    template <class Model>
    void start_write(Model& model) {
        writing_ = true;
        write_ = {++bursts_, Pins::aw_id(model)};
        write_address_ = Pins::base + Pins::aw_addr(model);
        write_beat_size_ = 1u << Pins::aw_size(model);
    }

    template <class Model>
    void write_beat(Model& model, uint64_t cycle) {
        const uint64_t lane = write_address_ & ~uint64_t{beat_bytes - 1};
        uint8_t data[beat_bytes];
        std::memcpy(data, &Pins::w_data(model), beat_bytes);
        const unsigned strobe = Pins::w_strb(model);
        for (unsigned byte = 0; byte < beat_bytes; ++byte) {
            if (strobe >> byte & 1) put(lane + byte, data[byte], cycle);
        }
        write_address_ += write_beat_size_;
        if (!Pins::w_last(model)) return;
        flush(cycle);
        writing_ = false;
        write_.due = std::max(write_.due, cycle + 1);
        acknowledges_.push_back(write_);
    }

    void put(uint64_t address, uint8_t byte, uint64_t cycle) {
        if (address != run_address_ + run_.size()) flush(cycle);
        if (run_.empty()) run_address_ = address;
        run_.push_back(byte);
    }

    void flush(uint64_t cycle) {
        if (run_.empty()) return;
        const Burst burst{write_.number, cycle, run_address_, uint32_t(run_.size())};
        const uint64_t due = target_.write(burst, run_.data());
        if (due == rocket_unknown) {
            ++write_.unknown;
        } else {
            write_.due = std::max(write_.due, due);
        }
        run_.clear();
    }
};

}  // namespace rocket
