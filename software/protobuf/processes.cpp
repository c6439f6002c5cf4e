#include "processes.h"

#include "rackwright/protobuf_calls.h"

#ifdef __riscv

#include <sched.h>

#include <cstdio>
#include <cstdlib>

#include "leftovers.h"
#include "pages.h"
#include "rackwright/process.h"
#include "regions.h"

namespace rackwright::protobuf {

namespace {

// A message that takes longer than the kernel lets a process run is the library's after so many interruptions.
constexpr unsigned most_interruptions = 64;

constexpr uint64_t nowhere = ~uint64_t{0};

// What a sequence takes and gives. Their places are part of instructions.
struct ParseSequence {
    uint64_t hart;         // 0: on which it was last begun
    Range range;           // 8 to 32
    const void *arena;     // 40
    const void *leftovers, *leftovers_end; // 48, 56
    const void *table;     // 64
    void *object;          // 72
    const void *data;      // 80
    uint64_t size;         // 88
    uint64_t outcome;      // 96
    uint64_t fault;        // 104
    Range left;            // 112 to 136: of the range
    uint64_t long_strings; // 144
};
static_assert(offsetof(ParseSequence, long_strings) == 144);
static_assert(offsetof(Range, objects_end) == 8 && offsetof(Range, arrays) == 16);

struct SerializeSequence {
    uint64_t hart;      // 0
    void *start, *end;  // 8, 16
    const void *table;  // 24
    const void *object; // 32
    uint64_t outcome;   // 40
    uint64_t fault;     // 48
};
static_assert(offsetof(SerializeSequence, fault) == 48);

#define NOTE_HART "lwu t1, " RACKWRIGHT_HART_FROM_SEQUENCE "(%[sequence])\n\tsd t1, 0(%[words])\n\t"
#define GIVE(custom, funct, first, second)                                                     \
    "ld t1, " #first "(%[words])\n\tld t2, " #second "(%[words])\n\t"                          \
        RACKWRIGHT_TEXT_OF(custom, funct, "t1", "t2")
#define TAKE(custom, funct, place)                                                             \
    RACKWRIGHT_TEXT_OF_QUERY(custom, funct, "t1") "sd t1, " #place "(%[words])\n\t"

// Whether the kernel let it run to its end.
bool run(ParseSequence *sequence)
{
    bool left;
    fence();
    RACKWRIGHT_UNDISTURBED(left,
                           NOTE_HART
                           GIVE(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_MEM_SETUP, 8, 24)
                           GIVE(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_LIMITS, 16, 32)
                           GIVE(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_ARENA, 40, 40)
                           GIVE(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_LEFTOVERS, 48, 56)
                           GIVE(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_PARSE_INFO, 64, 72)
                           GIVE(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_DO_PARSE, 80, 88)
                           TAKE(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_WAIT, 96)
                           TAKE(PROTOBUF_DESERIALIZE_CUSTOM, RACKWRIGHT_FAULT, 104)
                           TAKE(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_OBJECTS, 112)
                           TAKE(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_STRINGS, 120)
                           TAKE(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_ARRAYS, 128)
                           TAKE(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_TEXTS, 136)
                           TAKE(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_LONG_STRINGS, 144),
                           [words] "r"(sequence));
    return !left;
}

bool run(SerializeSequence *sequence)
{
    bool left;
    fence();
    RACKWRIGHT_UNDISTURBED(left,
                           NOTE_HART
                           "ld t1, 16(%[words])\n\t"
                           RACKWRIGHT_TEXT_OF(PROTOBUF_SERIALIZE_CUSTOM, SERIALIZE_MEM_SETUP, "t1", "x0")
                           GIVE(PROTOBUF_SERIALIZE_CUSTOM, SERIALIZE_LIMIT, 8, 8)
                           GIVE(PROTOBUF_SERIALIZE_CUSTOM, SERIALIZE_DO_SERIALIZE, 24, 32)
                           TAKE(PROTOBUF_SERIALIZE_CUSTOM, SERIALIZE_WAIT, 40)
                           TAKE(PROTOBUF_SERIALIZE_CUSTOM, RACKWRIGHT_FAULT, 48),
                           [words] "r"(sequence));
    return !left;
}

// After a sequence that was left: once the unit has ended what it may still do for it, which is the one beside the hart where
// that was. Where the process may not go there any more, nobody could tell when its memory is its own again.
template <class Wait> void settle(uint64_t hart, Wait wait)
{
    if (hart != nowhere) {
        cpu_set_t before, there;
        CPU_ZERO(&there);
        CPU_SET(hart, &there);
        const bool is_known = sched_getaffinity(0, sizeof before, &before) == 0;
        if (sched_setaffinity(0, sizeof there, &there) != 0) {
            std::fprintf(stderr, "hart %lu, whose unit was given a message, is closed to this process\n",
                         static_cast<unsigned long>(hart));
            std::abort();
        }
        (void)wait();
        if (is_known) sched_setaffinity(0, sizeof before, &before);
    }
    fence();
}

// One message into one region.
uint64_t parse_into(const Claim &claim, const Type &type, google::protobuf::Message *message, const void *data,
                    size_t size)
{
    const auto address = [](const void *place) { return reinterpret_cast<uint64_t>(place); };
    const Range &range = *claim.remaining;
    const Extent extents[] = {
        {address(data), address(data) + size, false},
        {address(message), address(message) + type.table[1], true},
        {range.objects, range.objects_end, true},
        {range.arrays, range.arrays_end, true},
        {address(leftovers), address(leftovers + most_leftovers), true},
    };
    Pages pages(extents, std::size(extents));
    for (unsigned interruptions = 0; interruptions < most_interruptions;) {
        ParseSequence sequence = {nowhere, range, message->GetArena(), leftovers, leftovers + most_leftovers,
                                  type.table, message, data, size, 0, 0, {}, 0};
        const bool ended = run(&sequence);
        fence();
        if (ended && sequence.outcome == 0) {
            *claim.remaining = sequence.left;
            *claim.made += sequence.long_strings;
            return 0;
        }
        if (!ended) settle(sequence.hart, wait_for_parses);
        drop_leftovers(message);
        restore(type, message);
        if (!ended) interruptions++;
        else if (sequence.outcome != RACKWRIGHT_ACCESS_FAULT + 1 || !pages.provide(sequence.fault)) return sequence.outcome;
    }
    return RACKWRIGHT_ACCESS_FAULT + 1;
}

} // namespace

bool units_are_shared() { return rackwright_shares_units(); }

uint64_t parse_shared(const Type &type, google::protobuf::Message *message, const void *data, size_t size)
{
    for (size_t least_bytes = 0;;) {
        const Claim claim = claim_region(message->GetArena(), least_bytes);
        if (claim.remaining == nullptr) return RACKWRIGHT_OUTPUT_FULL + 1;
        const uint64_t outcome = parse_into(claim, type, message, data, size);
        if (outcome != RACKWRIGHT_OUTPUT_FULL + 1) return outcome;
        least_bytes = claim.bytes + 1;
    }
}

uint64_t serialize_shared(const Type &type, const google::protobuf::Message &message, char *start, char *end)
{
    const Extent output = {reinterpret_cast<uint64_t>(start), reinterpret_cast<uint64_t>(end), true};
    Pages pages(&output, 1);
    for (unsigned interruptions = 0; interruptions < most_interruptions;) {
        SerializeSequence sequence = {nowhere, start, end, type.serializer_table, &message, 0, 0};
        const bool ended = run(&sequence);
        fence();
        if (!ended) {
            settle(sequence.hart, wait_for_serializations);
            interruptions++;
        } else if (is_output(sequence.outcome)) {
            protobuf_counters.serialized++;
            return sequence.outcome;
        } else if (sequence.outcome != RACKWRIGHT_ACCESS_FAULT + 1 || !pages.provide(sequence.fault)) {
            return sequence.outcome;
        }
    }
    return RACKWRIGHT_ACCESS_FAULT + 1;
}

} // namespace rackwright::protobuf

#else

namespace rackwright::protobuf {

bool units_are_shared() { return false; }

uint64_t parse_shared(const Type &, google::protobuf::Message *, const void *, size_t)
{
    return RACKWRIGHT_UNSUPPORTED + 1;
}

uint64_t serialize_shared(const Type &, const google::protobuf::Message &, char *, char *)
{
    return RACKWRIGHT_UNSUPPORTED + 1;
}

} // namespace rackwright::protobuf

#endif
