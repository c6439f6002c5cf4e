#include "regions.h"

#include <sys/mman.h>

#include <new>
#include <string>

#include "leftovers.h"
#include "rackwright/protobuf.h"
#include "rackwright/protobuf_calls.h"

namespace rackwright::protobuf {

namespace {

constexpr unsigned least_class = 17; // log2 of the bytes of the smallest regions
constexpr unsigned most_class = 27;  // and of the largest

// A region: objects in its lower half, which string objects fill from its end; in the upper one arrays, and
// from its end the contents of long strings.
struct Region {
    Region *next; // the arena's region before this one, or the next free one
    google::protobuf::Arena *arena;
    unsigned size_class;
    Range whole;
    Range remaining;
    uint64_t made;      // strings whose contents lie in the region
    uint64_t freed;     // of them, those whose contents have been freed
    bool arena_has_ended;
};

size_t range_used = 0;
Region *free_regions[most_class + 1];
Region *arenas_regions = nullptr; // the newest of each arena, and through them the older ones
Region *current = nullptr;        // the one that the deserializer has

// The region of every piece of the range, a piece being as large as the smallest region.
Region *pieces[range_bytes >> least_class];

bool reserve_range()
{
    if (range_used != 0) return true;
    link_operator_delete();
    void *const start = mmap(nullptr, range_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return false;
    range_start = static_cast<char *>(start);
    return true;
}

Region *new_region(unsigned size_class)
{
    const size_t bytes = size_t{1} << size_class;
    if (!reserve_range() || range_bytes - range_used < bytes) return nullptr;
    const auto start = reinterpret_cast<uint64_t>(range_start) + range_used;
    range_used += bytes;
    const uint64_t middle = start + bytes / 2;
    const Range whole = {start, middle, middle, start + bytes};
    auto *const region = new Region{nullptr, nullptr, size_class, whole, {}, 0, 0, false};
    for (size_t at = range_used - bytes; at < range_used; at += size_t{1} << least_class) {
        pieces[at >> least_class] = region;
    }
    return region;
}

Region *take_region(unsigned size_class)
{
    if (Region *region = free_regions[size_class]) {
        free_regions[size_class] = region->next;
        return region;
    }
    return new_region(size_class);
}

bool lies_in(const Region &region, const void *address)
{
    const auto number = reinterpret_cast<uint64_t>(address);
    return region.whole.arrays <= number && number < region.whole.arrays_end;
}

// Destroys strings whose contents the program has put elsewhere; contents in the region need nothing.
void destroy_strings(Region *region)
{
    auto *string = reinterpret_cast<std::string *>(region->remaining.objects_end);
    auto *const end = reinterpret_cast<std::string *>(region->whole.objects_end);
    for (; string < end; string++) {
        if (lies_in(*region, string->data())) region->freed++;
        else string->~basic_string();
    }
}

void use_again_when_free(Region *region)
{
    if (!region->arena_has_ended || region->freed < region->made) return;
    region->next = free_regions[region->size_class];
    free_regions[region->size_class] = region;
}

// Called by the arena when it ends or is reset, once for each of its regions.
void release_region(void *argument)
{
    auto *const region = static_cast<Region *>(argument);
    if (region == current) unassign_region();
    destroy_strings(region);
    Region **link = &arenas_regions;
    while (*link != region) link = &(*link)->next;
    *link = region->next;
    region->arena_has_ended = true;
    use_again_when_free(region);
}

size_t bytes_of(const Region &region)
{
    return size_t{1} << region.size_class;
}

Region *region_of(const google::protobuf::Arena *arena)
{
    Region *region = arenas_regions;
    while (region != nullptr && region->arena != arena) region = region->next;
    return region;
}

// The newest region of the arena, made when there is none or when it is too small.
Region *region_for(google::protobuf::Arena *arena, size_t least_bytes)
{
    Region *const last = region_of(arena);
    if (last != nullptr && bytes_of(*last) >= least_bytes) return last;
    unsigned size_class = least_class;
    while (size_class <= most_class && size_t{1} << size_class < least_bytes) size_class++;
    if (size_class > most_class) return nullptr;
    Region *const region = take_region(size_class);
    if (region == nullptr) return nullptr;
    region->arena = arena;
    region->remaining = region->whole;
    region->made = region->freed = 0;
    region->arena_has_ended = false;
    region->next = arenas_regions;
    arenas_regions = region;
    arena->OwnCustomDestructor(region, release_region);
    protobuf_counters.regions++;
    return region;
}

} // namespace

// Not null: free(nullptr) must not look like an address in the range.
char *range_start = reinterpret_cast<char *>(~uintptr_t{0} - range_bytes);

void free_in_region(const void *contents)
{
    const auto offset = static_cast<size_t>(static_cast<const char *>(contents) - range_start);
    Region *const region = pieces[offset >> least_class];
    region->freed++;
    use_again_when_free(region);
}

size_t region_bytes()
{
    return current == nullptr ? 0 : bytes_of(*current);
}

void unassign_region()
{
    if (current == nullptr) return;
    current->remaining = remaining_range();
    current->made += long_strings();
    current = nullptr;
    state.arena = no_arena;
}

Claim claim_region(google::protobuf::Arena *arena, size_t least_bytes)
{
    Region *const region = region_for(arena, least_bytes);
    if (region == nullptr) return {nullptr, nullptr, 0};
    return {&region->remaining, &region->made, bytes_of(*region)};
}

bool assign_region(google::protobuf::Arena *arena, size_t least_bytes)
{
    unassign_region();
    Region *const region = region_for(arena, least_bytes);
    if (region == nullptr) return false;
    set_range(region->remaining, arena);
    provide_leftovers();
    current = region;
    state.arena = arena;
    return true;
}

} // namespace rackwright::protobuf
