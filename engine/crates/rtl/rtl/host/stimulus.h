// The inputs of a run, cycle by cycle, and the barest loop that gives them to a fresh model.
//
// The loop is the baseline for the cost of the engine: the same design, the same inputs, nothing
// around them.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "binding.h"

namespace rackwright {

// What `$test$plusargs` and `$value$plusargs` find.
inline void give_arguments(VerilatedContext& context, const std::vector<std::string>& arguments) {
    // The first one is the name of a program.
    std::vector<const char*> all{"unit"};
    for (const std::string& argument : arguments) all.push_back(argument.c_str());
    context.commandArgs(static_cast<int>(all.size()), all.data());
}

// Resets a model that has not been evaluated. A reset that comes at any time is an edge that logic waits for.
inline void begin_reset(Model& model) {
    binding::clock(model) = 0;
    if (binding::asynchronous_reset) {
        binding::end_reset(model);
        model.eval();
    }
    binding::begin_reset(model);
    model.eval();
}

class Stimulus {
  public:
    void record(Model& model) {
        binding::each_input(model, [this](auto& pin) {
            const auto* bytes = reinterpret_cast<const uint8_t*>(&pin);
            bytes_.insert(bytes_.end(), bytes, bytes + sizeof(pin));
        });
        ++cycles_;
    }

    uint64_t cycles() const { return cycles_; }

    void replay(int reset_cycles, const std::vector<std::string>& arguments) const {
        VerilatedContext context;
        give_arguments(context, arguments);
        Model model{&context};
        begin_reset(model);
        for (int i = 0; i < reset_cycles; ++i) tick(model);
        binding::end_reset(model);
        const uint8_t* next = bytes_.data();
        for (uint64_t cycle = 0; cycle < cycles_; ++cycle) {
            binding::each_input(model, [&next](auto& pin) {
                std::memcpy(&pin, next, sizeof(pin));
                next += sizeof(pin);
            });
            tick(model);
        }
        model.final();
    }

  private:
    std::vector<uint8_t> bytes_;
    uint64_t cycles_ = 0;

    static void tick(Model& model) {
        binding::clock(model) = 0;
        model.eval();
        binding::clock(model) = 1;
        model.eval();
    }
};

}  // namespace rackwright
