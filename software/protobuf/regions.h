// Memory that the deserializer makes objects in.
//
// All of it lies in one range of addresses, reserved at the first use. An arena gets a region of that
// range, and a larger one when the region is full. When the arena ends its regions are used again: at
// once, unless the program has moved the contents of a string elsewhere, as with std::move or release_.
// A region of which that is true is kept until these contents have been freed.
#pragma once

#include <google/protobuf/arena.h>

#include <cstddef>
#include <cstdint>

#include "rackwright/protobuf_units.h"

namespace rackwright::protobuf {

// Whether an address lies in the range: the question of every operator delete, from the program's start.
inline bool in_region_range(const void *address);

// The program frees the contents of a string that the deserializer has made.
void free_in_region(const void *contents);

constexpr size_t range_bytes = size_t{1} << 30;
extern char *range_start; // an address that no range has until there is one

inline bool in_region_range(const void *address)
{
    return static_cast<size_t>(static_cast<const char *>(address) - range_start) < range_bytes;
}

// Does nothing, but where it is called the program's operator delete is the one in allocation.cpp,
// whatever the order of libraries.
void link_operator_delete();

// Gives the deserializer the arena's newest region, or a new one if that has less than `least_bytes`
// bytes. False when no memory is left, or when regions do not get so large.
bool assign_region(google::protobuf::Arena *arena, size_t least_bytes);

// What a parse makes objects in, where the unit is shared and keeps nothing: it notes what it has used.
struct Claim {
    Range *remaining; // null when there is no memory
    uint64_t *made;   // strings whose contents lie in the region
    size_t bytes;     // of the region
};

// The arena's newest region, or a new one, as for assign_region().
Claim claim_region(google::protobuf::Arena *arena, size_t least_bytes);

// The size of the region that the deserializer has.
size_t region_bytes();

// Waits for the deserializer and takes its region away.
void unassign_region();

} // namespace rackwright::protobuf
