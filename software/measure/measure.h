// How long work takes, in the states that programs meet it in, and what it then costs to use its result: in cycles of a
// simulated core, in nanoseconds of the host.
#pragma once

#include <cstdint>
#include <string>

#ifdef __riscv
#include "rackwright/rocc.h"
#else
#include <algorithm>
#include <chrono>
#include <vector>
#endif

namespace measure {

struct Times {
    const char *unit = "";
    uint64_t first = 0; // the first call: caches know its input at most, predictors nothing
    uint64_t again = 0; // a later call on the same buffers
    uint64_t use = 0;   // going through the result of that call, where it lies then
};

// The three as members of a JSON object, named for the unit.
inline std::string json(const Times &times)
{
    const auto member = [&](const char *prefix, uint64_t value) {
        return std::string("\"") + prefix + times.unit + "\": " + std::to_string(value);
    };
    return member("first_", times.first) + ", " + member("", times.again) + ", " +
           member("use_", times.use);
}

inline uint64_t now()
{
#ifdef __riscv
    return rackwright_cycles();
#else
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
#endif
}

// Times the parts of one run that count; what a run does beside them does not.
class Stopwatch {
  public:
    explicit Stopwatch(bool is_last) : is_last_(is_last) {}

    template <typename Work> void work(Work part)
    {
        const uint64_t start = now();
        part();
        work_ = now() - start;
    }

    // `part` gives something that depends on all that it has looked at.
    template <typename Use> void use(Use part)
    {
        const uint64_t start = now();
        const uint64_t seen = part();
        __asm__ volatile("" : : "r"(seen) : "memory");
        use_ = now() - start;
    }

    // Whether no run comes after this one: the time to check what it made.
    bool is_last() const { return is_last_; }

    uint64_t working() const { return work_; }
    uint64_t using_it() const { return use_; }

  private:
    bool is_last_;
    uint64_t work_ = 0;
    uint64_t use_ = 0;
};

#ifdef __riscv

// Not inlined: two copies of the same code would have to be warmed each.
template <typename Run> [[gnu::noinline]] void run_once(Run &run, Stopwatch *watch)
{
    run(watch);
}

// A simulated core has no noise: one run of each kind is exact.
template <typename Run> Times times(Run run)
{
    Stopwatch first(false), again(true);
    run_once(run, &first);
    run_once(run, &again);
    return {"cycles", first.working(), again.working(), again.using_it()};
}

#else

inline uint64_t median(std::vector<uint64_t> values)
{
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

// A host has noise: the median over later runs of together at least a tenth of a second, and at least eleven of them, is
// what one of them usually takes.
template <typename Run> Times times(Run run)
{
    Stopwatch first(false);
    run(&first);
    std::vector<uint64_t> working, using_it;
    uint64_t sum = 0;
    while (working.size() < 11 || sum < 100'000'000) {
        Stopwatch watch(false);
        run(&watch);
        working.push_back(watch.working());
        using_it.push_back(watch.using_it());
        sum += watch.working() + watch.using_it() + 1000;
    }
    Stopwatch last(true);
    run(&last);
    return {"nanoseconds", first.working(), median(working), median(using_it)};
}

#endif

} // namespace measure
