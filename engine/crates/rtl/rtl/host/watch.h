// A memory port through which a unit may watch: its requests have one more bit, which makes a read wait until memory
// holds something else than the unit knows.
#pragma once
#include "channels.h"

namespace rackwright {

// What `write` of such a request is.
constexpr uint8_t watches = 2;

template <class Pins>
class WatchingMemoryChannel : public MemoryChannel<Pins> {
  public:
    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightRequest>& requests) {
        const size_t before = requests.size();
        MemoryChannel<Pins>::sample(model, cycle, requests);
        if (requests.size() != before && Pins::request_watch(model)) requests.back().write = watches;
    }
};

}  // namespace rackwright
