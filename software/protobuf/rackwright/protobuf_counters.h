// How often the units did not do what was asked of them, and why.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rackwright/hidden.h"

namespace rackwright {

// Why the library was called instead of the unit, or after it.
enum class Fallback : unsigned {
    no_units,         // use_units(false), or a machine that can't have any
    no_table,         // the class was generated without protoc-gen-rackwright
    unsupported_type, // the unit does not take this class
    no_arena,         // the message to parse into is not on an arena
    too_large,        // the data has 2 GiB or more
    malformed,        // the unit called the data malformed; the library decides
    region_full,      // the result is too large for a region of the unit
    unsupported,      // the unit met what it leaves to the library, as a group
    access_fault,     // memory refused the unit an access
};

constexpr size_t fallback_reasons = 9;

// The name of a reason as JSON has it.
const char *fallback_name(Fallback reason);

struct ProtobufCounters {
    uint64_t parsed = 0;     // messages that the unit parsed, and empty ones, which need none
    uint64_t serialized = 0; // messages that the unit serialized
    uint64_t left_over = 0;  // fields in them that the library took over, as unknown ones
    uint64_t added = 0;      // of those serialized: the library wrote unknown fields, extensions
    uint64_t regions = 0;    // regions that were given to the unit
    uint64_t fallbacks[fallback_reasons] = {};

    uint64_t all_fallbacks() const;
};

// What was counted between two moments.
ProtobufCounters operator-(const ProtobufCounters &later, const ProtobufCounters &earlier);

// Since the program started.
RACKWRIGHT_HIDDEN extern ProtobufCounters protobuf_counters;

} // namespace rackwright
