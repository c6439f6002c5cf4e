// A design with several clocks: each is slower than the first by a whole number of its cycles, and rises with it, in the
// cycles that are multiples of that number. Skipped cycles count: where a clock stands depends on the cycle alone.
#pragma once
#include <cstdint>

namespace rackwright {

// The cycle of the first clock that this thread evaluates.
inline thread_local uint64_t cycle_here = 0;

// Whether the design is reset now: all its clocks are as fast as the first one then.
inline thread_local bool in_reset = true;

// What the clock that is `ratio` times as slow as the first does when that gets `level`.
template <uint64_t ratio, class Pin>
void set_clock(Pin& pin, int level) {
    const uint64_t phase = in_reset ? 0 : cycle_here % ratio;
    if (level != 0) {
        if (phase == 0) pin = 1;
    } else if (phase == 0 || 2 * phase >= ratio) {
        pin = 0;
    }
}

}  // namespace rackwright
