// How long memory takes: the same time for every access, or what the engine's model of DRAM says. Whoever has a better
// model puts it here.
#pragma once
#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "dram.h"

namespace soc {

// A channel of DRAM, modelled by a library.
class Dram {
  public:
    // Throws std::runtime_error for a library that is none, or a clock that it does not have.
    Dram(const std::string& library, uint64_t clock_hz) : library_(dlopen(library.c_str(), RTLD_NOW)) {
        if (library_ == nullptr) throw std::runtime_error(dlerror());
        access_ = find<decltype(access_)>("rackwright_dram_access");
        destroy_ = find<decltype(destroy_)>("rackwright_dram_destroy");
        channel_ = find<decltype(&rackwright_dram_create)>("rackwright_dram_create")(clock_hz);
        if (channel_ == nullptr) throw std::runtime_error(library + ": has no clock of " + std::to_string(clock_hz));
    }
    ~Dram() { destroy_(channel_); }
    Dram(const Dram&) = delete;
    Dram& operator=(const Dram&) = delete;

    uint64_t access(uint64_t cycle, uint64_t address, bool write) { return access_(channel_, cycle, address, write); }

  private:
    void* library_;
    decltype(&rackwright_dram_access) access_;
    decltype(&rackwright_dram_destroy) destroy_;
    RackwrightDram* channel_;

    template <class Function>
    Function find(const char* name) {
        void* found = dlsym(library_, name);
        if (found == nullptr) throw std::runtime_error(dlerror());
        return reinterpret_cast<Function>(found);
    }
};

class Timing {
  public:
    explicit Timing(uint64_t latency) : latency_(latency) {}

    // From now on, memory takes as long as DRAM does.
    void model(const std::string& library, uint64_t clock_hz) { dram_ = std::make_unique<Dram>(library, clock_hz); }

    // An access that reaches memory in `cycle`; gives the cycle of its first beat, or of its acknowledgement.
    uint64_t access(uint64_t cycle, uint64_t address, uint32_t, bool write) {
        return dram_ ? dram_->access(cycle, address, write) : cycle + latency_;
    }

  private:
    uint64_t latency_;
    std::unique_ptr<Dram> dram_;
};

}  // namespace soc
