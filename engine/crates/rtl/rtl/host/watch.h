// A memory port through which a unit may watch: its requests have one more bit, which makes a read wait until memory
// holds something else than the unit knows, and makes a compare-and-swap of a write.
#pragma once
#include "channels.h"

namespace rackwright {

// What is added to `write` of such a request.
constexpr uint8_t watches = 2;

template <class Pins>
class WatchingMemoryChannel : public MemoryChannel<Pins> {
  public:
    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightRequest>& requests) {
        const size_t before = requests.size();
        MemoryChannel<Pins>::sample(model, cycle, requests);
        if (requests.size() != before && Pins::request_watch(model)) requests.back().write |= watches;
    }
};

}  // namespace rackwright
