#include "pages.h"

#include <algorithm>

#include "rackwright/process.h"

namespace rackwright::protobuf {

namespace {

constexpr uint64_t page_bytes = 4096;

// After so many the memory of the whole machine has been asked for.
constexpr unsigned most_attempts = 40;

} // namespace

bool Pages::provide(uint64_t fault)
{
    const bool is_hopeless = fault == RACKWRIGHT_FAULT_UNTRANSLATED || (fault & RACKWRIGHT_FAULT_TABLES);
    if (is_hopeless || attempts_++ == most_attempts) return false;
    if (fault == 0) return true; // of an earlier request, kept beyond its end with what was read ahead
    const uint64_t page = fault & ~(page_bytes - 1), reach = pages_ * page_bytes;
    pages_ *= 2;
    // Of an object somewhere nobody knows what is around it.
    Extent extent = {page, page + page_bytes, (fault & RACKWRIGHT_FAULT_WRITE) != 0};
    for (size_t i = 0; i < count_; i++) {
        const Extent &each = extents_[i];
        if (page + page_bytes <= each.start || page >= each.end) continue;
        extent.start = std::min(page, std::max(each.start, page - std::min(page, reach)) & ~(page_bytes - 1));
        extent.end = std::max(page + page_bytes, std::min((each.end + page_bytes - 1) & ~(page_bytes - 1), page + reach));
        extent.written |= each.written;
    }
    return rackwright_provide(extent.start, extent.end, extent.written) ||
           rackwright_provide(page, page + page_bytes, extent.written);
}

} // namespace rackwright::protobuf
