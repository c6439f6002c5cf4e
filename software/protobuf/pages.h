// Pages that a shared unit was refused.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rackwright::protobuf {

// Addresses that a request reads or writes.
struct Extent {
    uint64_t start, end;
    bool written;
};

// Has the kernel provide what a request misses, fault by fault: around each twice as much as around the one before.
class Pages {
  public:
    Pages(const Extent *extents, size_t count) : extents_(extents), count_(count) {}

    // After a request that ended with an access fault, of which the unit said `fault`. False when the page can't be had, or
    // when that has happened too often.
    bool provide(uint64_t fault);

  private:
    const Extent *extents_;
    size_t count_;
    uint64_t pages_ = 16;
    unsigned attempts_ = 0;
};

} // namespace rackwright::protobuf
