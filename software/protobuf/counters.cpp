#include "rackwright/protobuf_counters.h"

namespace rackwright {

ProtobufCounters protobuf_counters;

const char *fallback_name(Fallback reason)
{
    static const char *const names[fallback_reasons] = {
        "no_units",  "no_table",    "unsupported_type", "no_arena",    "too_large",
        "malformed", "region_full", "unsupported",      "access_fault"};
    return names[static_cast<unsigned>(reason)];
}

uint64_t ProtobufCounters::all_fallbacks() const
{
    uint64_t sum = 0;
    for (const uint64_t count : fallbacks) sum += count;
    return sum;
}

ProtobufCounters operator-(const ProtobufCounters &later, const ProtobufCounters &earlier)
{
    ProtobufCounters difference = later;
    difference.parsed -= earlier.parsed;
    difference.serialized -= earlier.serialized;
    difference.left_over -= earlier.left_over;
    difference.added -= earlier.added;
    difference.regions -= earlier.regions;
    for (unsigned i = 0; i < fallback_reasons; i++) difference.fallbacks[i] -= earlier.fallbacks[i];
    return difference;
}

} // namespace rackwright
