// Streams of frames: what leaves the unit and what arrives at it, one flit per cycle, and the
// interrupt line that goes with it.
#pragma once
#include "channels.h"

namespace rackwright {

// Frames that leave the unit: the network takes a flit in every cycle.
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
        flits.push_back({cycle, Pins::data(model), Pins::index, Pins::keep(model), Pins::last(model)});
    }
};

// Frames that arrive at the unit: each flit from its cycle on, until the unit takes it.
template <class Pins>
class StreamInput {
  public:
    DueQueue<RackwrightFlit> flits;

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        const bool valid = flits.ready(cycle);
        Pins::valid(model) = valid;
        if (valid) {
            const RackwrightFlit& flit = flits.front();
            Pins::data(model) = flit.data;
            Pins::keep(model) = flit.keep;
            Pins::last(model) = flit.last;
        }
    }

    template <class Model>
    void sample(Model& model, uint64_t, std::vector<RackwrightFlit>&) {
        if (Pins::valid(model) && Pins::ready(model)) flits.pop();
    }
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
