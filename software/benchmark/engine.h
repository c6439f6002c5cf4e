// What carries out an operation: the official library, or the unit beside the core.
#pragma once

#include <memory>

#include "files.h"
#include "options.h"
#include "rackwright/status.h"

struct Outcome {
    rackwright_status status;
    size_t output_bytes;
    size_t input_offset;
};

class Engine {
  public:
    virtual ~Engine() = default;

    // Runs `operation` from `input` into `output`, whose size is the capacity.
    virtual Outcome run(Operation operation, const Bytes &input, Bytes &output) = 0;
};

std::unique_ptr<Engine> make_library();

// Throws std::invalid_argument on a machine that has no units.
std::unique_ptr<Engine> make_unit(const Options &options);
