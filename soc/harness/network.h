// The link between the streams of two chips.
#pragma once
#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "frames.h"

namespace soc {

// What a stream carries in a cycle: the bytes that count, and whether their frame ends.
struct Beat {
    uint64_t due;
    std::vector<uint8_t> bytes;
    bool last;
};

// One direction of a link, of so many cycles, at least one.
class Link {
  public:
    explicit Link(uint64_t cycles) : cycles_(cycles) {}

    void send(uint64_t cycle, std::vector<uint8_t> bytes, bool last) {
        beats_.push_back({cycle + cycles_, std::move(bytes), last});
    }
    // What is at the far end in `cycle`; null if there is nothing.
    const Beat* arrived(uint64_t cycle) const {
        return beats_.empty() || beats_.front().due > cycle ? nullptr : &beats_.front();
    }
    void take() { beats_.pop_front(); }

  private:
    uint64_t cycles_;
    std::deque<Beat> beats_;
};

// A chip without such streams.
struct NoNetwork {};

// The far end of a chip's streams: what leaves is always taken, and lost if there is no link.
template <class Pins>
class Network {
  public:
    void join(Link* out, Link* in) {
        out_ = out;
        in_ = in;
    }
    void record(Frames* frames) { frames_ = frames; }

    template <class Model>
    void drive(Model& chip, uint64_t cycle) {
        Pins::out_ready(chip) = 1;
        const Beat* beat = in_ ? in_->arrived(cycle) : nullptr;
        Pins::in_valid(chip) = beat != nullptr;
        if (!beat) return;
        std::memset(&Pins::in_data(chip), 0, Pins::bytes);
        std::memcpy(&Pins::in_data(chip), beat->bytes.data(), beat->bytes.size());
        Pins::in_keep(chip) = (uint64_t{1} << beat->bytes.size()) - 1;
        Pins::in_last(chip) = beat->last;
    }

    template <class Model>
    void sample(Model& chip, uint64_t cycle) {
        if (Pins::in_valid(chip) && Pins::in_ready(chip)) in_->take();
        if (Pins::out_valid(chip)) leave(chip, cycle);
    }

  private:
    Link* out_ = nullptr;
    Link* in_ = nullptr;
    Frames* frames_ = nullptr;
    std::vector<uint8_t> frame_;

    template <class Model>
    void leave(Model& chip, uint64_t cycle) {
        std::vector<uint8_t> bytes;
        const auto* data = reinterpret_cast<const uint8_t*>(&Pins::out_data(chip));
        for (unsigned byte = 0; byte < Pins::bytes; ++byte) {
            if (uint64_t{Pins::out_keep(chip)} >> byte & 1) bytes.push_back(data[byte]);
        }
        const bool last = Pins::out_last(chip);
        frame_.insert(frame_.end(), bytes.begin(), bytes.end());
        if (last && frames_) frames_->add(cycle, frame_);
        if (last) frame_.clear();
        if (out_) out_->send(cycle, std::move(bytes), last);
    }
};

template <>
class Network<NoNetwork> {
  public:
    void join(Link*, Link*) {}
    void record(Frames*) {}
    template <class Model>
    void drive(Model&, uint64_t) {}
    template <class Model>
    void sample(Model&, uint64_t) {}
};

}  // namespace soc
