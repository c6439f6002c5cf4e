// Memory that the deserializer makes objects in.
//
// All of it lies in one range of addresses, reserved at the first use. An arena gets a region of that
// range, and a larger one when the region is full; they come back when the arena ends.
#pragma once

#include <google/protobuf/arena.h>

#include <cstddef>
#include <cstdint>

#include "rackwright/protobuf_units.h"

namespace rackwright::protobuf {

// Whether an address lies in the range. Constant initialization: operator delete asks early.
bool in_region_range(const void *address);

// Does nothing, but where it is called the program's operator delete is the one in allocation.cpp,
// whatever the order of libraries.
void link_operator_delete();

// Gives the deserializer the arena's newest region, or a new one if that has less than `least_bytes`
// bytes. False when no memory is left, or when regions do not get so large.
bool assign_region(google::protobuf::Arena *arena, size_t least_bytes);

// The size of the region that the deserializer has.
size_t region_bytes();

// Waits for the deserializer and takes its region away.
void unassign_region();

} // namespace rackwright::protobuf
