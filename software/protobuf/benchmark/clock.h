// How long something takes: in cycles of a simulated core, in nanoseconds of the host.
#pragma once

#include <cstdint>

#ifdef __riscv
#include "rackwright/rocc.h"
#else
#include <algorithm>
#include <chrono>
#include <vector>
#endif

namespace benchmark {

struct Ticks {
    const char *unit = "";
    uint64_t count = 0;
};

// Times a part of a run.
class Stopwatch {
  public:
    explicit Stopwatch(bool is_last) : is_last_(is_last) {}

    void start() { start_ = now(); }
    void stop() { taken_ = now() - start_; }
    uint64_t taken() const { return taken_; }

    // Whether no run comes after this one: the time to check what it made.
    bool is_last() const { return is_last_; }

  private:
    static uint64_t now();

    bool is_last_;
    uint64_t start_ = 0;
    uint64_t taken_ = 0;
};

#ifdef __riscv

inline uint64_t Stopwatch::now()
{
    return rackwright_cycles();
}

// Not inlined: two copies of the same code would have to be warmed each.
template <typename Work> [[gnu::noinline]] void run_once(Work &work, Stopwatch *watch)
{
    work(watch);
}

// A simulated core has no noise: one run is exact, after one that warms the caches.
template <typename Work> Ticks measure(Work work)
{
    Stopwatch warming(false), watch(true);
    run_once(work, &warming);
    run_once(work, &watch);
    return {"cycles", watch.taken()};
}

#else

inline uint64_t Stopwatch::now()
{
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

// A host has noise: the median over runs of together at least a twentieth of a second, and at least
// eleven of them, is what one of them usually takes.
template <typename Work> Ticks measure(Work work)
{
    std::vector<uint64_t> runs;
    uint64_t sum = 0;
    while (runs.size() < 11 || sum < 50'000'000) {
        Stopwatch watch(false);
        work(&watch);
        runs.push_back(watch.taken());
        sum += watch.taken() + 1000;
    }
    Stopwatch last(true);
    work(&last);
    std::nth_element(runs.begin(), runs.begin() + runs.size() / 2, runs.end());
    return {"nanoseconds", runs[runs.size() / 2]};
}

#endif

} // namespace benchmark
