// The program's `operator delete`. The deserializer makes strings whose contents lie in a region.
// When the program makes such a string longer, the string frees its old contents, which belong to the
// region: those frees are only counted. A program that has an `operator delete` of its own
// does not link, and is better told so than run into a wild free.
#include <cstdlib>
#include <new>

#include "regions.h"

namespace {

inline void release(void *memory) noexcept
{
    if (__builtin_expect(!rackwright::protobuf::in_region_range(memory), 1)) std::free(memory);
    else rackwright::protobuf::free_in_region(memory);
}

} // namespace

namespace rackwright::protobuf {

void link_operator_delete() {}

} // namespace rackwright::protobuf

void operator delete(void *memory) noexcept { release(memory); }
void operator delete(void *memory, std::size_t) noexcept { release(memory); }
void operator delete(void *memory, const std::nothrow_t &) noexcept { release(memory); }
