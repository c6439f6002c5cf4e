// Streams of frames: what leaves the unit and what arrives at it, and the interrupt line that goes
// with it. The engine knows flits of eight bytes. A port of sixteen takes and gives two per cycle:
// here they are joined on their way in and cut on their way out.
#pragma once
#include "channels.h"

namespace rackwright {

constexpr unsigned kFlitBytes = 8;
constexpr uint8_t kFullFlit = 0xff;

// Frames that leave the unit: the network takes what there is in every cycle.
template <class Pins>
class StreamOutput {
  public:
    template <class Model>
    void drive(Model& model, uint64_t) {
        Pins::ready(model) = 1;
    }

    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightFlit>& flits) {
        if (!Pins::valid(model)) return;
        for (unsigned keep = Pins::keep(model), place = 0;; place += kFlitBytes, keep >>= 8) {
            const bool ends = keep <= kFullFlit;
            RackwrightFlit flit{cycle, 0, Pins::index, static_cast<uint8_t>(keep), 0};
            std::memcpy(&flit.data, reinterpret_cast<const char*>(&Pins::data(model)) + place, kFlitBytes);
            flit.last = ends && Pins::last(model);
            flits.push_back(flit);
            if (ends) return;
        }
    }
};

// Frames that arrive at the unit: each flit from its cycle on, until the unit takes it. One that is
// full and not the last of its frame waits for the others that go with it.
template <class Pins>
class StreamInput {
  public:
    DueQueue<RackwrightFlit> flits;

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        char data[Pins::bytes] = {};
        unsigned keep = 0;
        bool last = false;
        bool whole = false;
        for (joined_ = 0; !whole && flits.ready(cycle, joined_); ++joined_) {
            const RackwrightFlit& flit = flits.behind(joined_);
            const unsigned place = joined_ * kFlitBytes;
            std::memcpy(data + place, &flit.data, kFlitBytes);
            keep |= static_cast<unsigned>(flit.keep) << place;
            last = flit.last;
            whole = last || flit.keep != kFullFlit || place + kFlitBytes == Pins::bytes;
        }
        Pins::valid(model) = whole;
        if (!whole) return;
        std::memcpy(&Pins::data(model), data, Pins::bytes);
        Pins::keep(model) = keep;
        Pins::last(model) = last;
    }

    template <class Model>
    void sample(Model& model, uint64_t, std::vector<RackwrightFlit>&) {
        if (!Pins::valid(model) || !Pins::ready(model)) return;
        for (; joined_ != 0; --joined_) flits.pop();
    }

  private:
    unsigned joined_ = 0;
};

// Frames that leave the unit by AXI4-Stream: what there is is taken in every cycle. Bytes that do not count are left out,
// and without an end of frames each transfer is one.
template <class Pins>
class AxiStreamOutput {
  public:
    template <class Model>
    void drive(Model& model, uint64_t) {
        Pins::ready(model) = 1;
    }

    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightFlit>& flits) {
        if (!Pins::valid(model)) return;
        char bytes[Pins::bytes];
        unsigned count = 0;
        for (unsigned place = 0; place < Pins::bytes; ++place) {
            if (Pins::has_keep && (Pins::keep(model) >> place & 1) == 0) continue;
            bytes[count++] = reinterpret_cast<const char*>(&Pins::data(model))[place];
        }
        const bool last = !Pins::has_last || Pins::last(model);
        if (count == 0 && !last) return;
        unsigned place = 0;
        do {
            const unsigned taken = count - place < kFlitBytes ? count - place : kFlitBytes;
            RackwrightFlit flit{cycle, 0, Pins::index, static_cast<uint8_t>((1u << taken) - 1), 0};
            std::memcpy(&flit.data, bytes + place, taken);
            place += taken;
            flit.last = last && place == count;
            flits.push_back(flit);
        } while (place < count);
    }
};

// Frames that arrive at the unit by AXI4-Stream: a narrow port gets a flit in several transfers, a wide one several flits
// in one, as StreamInput does.
template <class Pins>
class AxiStreamInput {
  public:
    DueQueue<RackwrightFlit> flits;

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        char data[Pins::bytes] = {};
        unsigned place = 0;
        bool last = false;
        bool whole = false;
        given_ = given_of_front_;
        for (joined_ = 0; !whole && flits.ready(cycle, joined_);) {
            const RackwrightFlit& flit = flits.behind(joined_);
            const unsigned count = bytes_of(flit);
            for (; given_ < count && place < Pins::bytes; ++place, ++given_) {
                data[place] = static_cast<char>(flit.data >> 8 * given_);
            }
            const bool ends = given_ == count;
            last = ends && flit.last;
            whole = last || place == Pins::bytes || count != kFlitBytes;
            if (!ends) break;
            ++joined_;
            given_ = 0;
        }
        Pins::valid(model) = whole;
        if (!whole) return;
        std::memcpy(&Pins::data(model), data, Pins::bytes);
        const uint64_t keep = (uint64_t{1} << place) - 1;
        Pins::keep(model) = keep;
        Pins::strobes(model) = keep;
        Pins::last(model) = last;
    }

    template <class Model>
    void sample(Model& model, uint64_t, std::vector<RackwrightFlit>&) {
        if (!Pins::valid(model) || !Pins::ready(model)) return;
        for (; joined_ != 0; --joined_) flits.pop();
        given_of_front_ = given_;
    }

  private:
    static unsigned bytes_of(const RackwrightFlit& flit) {
        unsigned count = 0;
        while (flit.keep >> count & 1) ++count;
        return count;
    }

    // What this cycle's transfer takes: whole flits, and bytes of the one behind them.
    unsigned joined_ = 0;
    unsigned given_ = 0;
    // What transfers before have taken of the first flit.
    unsigned given_of_front_ = 0;
};

// The interrupt line: only its changes are of interest.
template <class Pins>
class InterruptLine {
  public:
    template <class Model>
    void drive(Model&, uint64_t) {}

    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightInterrupt>& changes) {
        const bool level = Pins::level(model);
        if (level != level_) changes.push_back({cycle, level});
        level_ = level;
    }

  private:
    bool level_ = false;
};

}  // namespace rackwright
