// How long something takes: in cycles of a simulated core, in nanoseconds of the host.
#pragma once

#ifdef __riscv
#include "rackwright/rocc.h"
#else
#include <algorithm>
#include <chrono>
#include <vector>
#endif

struct Measurement {
    const char *unit = "";
    unsigned long long value = 0;
};

#ifdef __riscv

// A simulated core has no noise, so one run is exact.
template <typename Work> Measurement measure(Work work)
{
    const uint64_t start = rackwright_cycles();
    work();
    return {"cycles", rackwright_cycles() - start};
}

#else

// A host has noise: the median over runs of together at least a fifth of a second, and at least
// five of them, is what one of them usually takes.
template <typename Work> Measurement measure(Work work)
{
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::milliseconds(200);
    std::vector<unsigned long long> runs;
    while (runs.size() < 5 || Clock::now() < until) {
        const auto start = Clock::now();
        work();
        const auto taken = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
        runs.push_back(static_cast<unsigned long long>(taken.count()));
    }
    std::nth_element(runs.begin(), runs.begin() + runs.size() / 2, runs.end());
    return {"nanoseconds", runs[runs.size() / 2]};
}

#endif
