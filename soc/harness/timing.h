// How long memory takes: the same time for every access. Whoever has a better model puts it here.
#pragma once
#include <cstdint>

namespace soc {

class Timing {
  public:
    explicit Timing(uint64_t latency) : latency_(latency) {}

    // An access that reaches memory in `cycle`; gives the cycle of its first beat, or of its acknowledgement.
    uint64_t access(uint64_t cycle, uint64_t, uint32_t, bool) { return cycle + latency_; }

  private:
    uint64_t latency_;
};

}  // namespace soc
