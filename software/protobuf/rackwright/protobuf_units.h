// The commands of the two units, as functions; on a machine that has no units they do nothing, and
// are not reached because units_in_use is false there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rackwright/status.h"

namespace google::protobuf {
class Message;
}

namespace rackwright::protobuf {

// Where a unit writes how a request ended, after everything else that it writes for it.
struct alignas(32) Record {
    uint64_t words[4]; // 1 + status, 0 while under way; the others as the contract says

    bool is_complete() const { return __atomic_load_n(&words[0], __ATOMIC_ACQUIRE) != 0; }
    rackwright_status status() const { return static_cast<rackwright_status>(words[0] - 1); }
};

// Memory that the deserializer makes objects in. Strings lie at the end of the part for objects, the
// contents of long ones at the end of that for arrays.
struct Range {
    uint64_t objects, objects_end;
    uint64_t arrays, arrays_end;
};

// A part of an input that the deserializer leaves over for the library.
struct alignas(32) Leftover {
    google::protobuf::Message *object; // what it belongs to
    const void *data;
    uint32_t size;
    uint32_t number; // of the field of which it is a value without a tag, or 0
    const google::protobuf::Message *root; // the message of the request; null where there is no record
};
static_assert(sizeof(Leftover) == 32, "the deserializer writes 32 bytes");

} // namespace rackwright::protobuf

#ifdef __riscv

#include "protobuf_commands.h"
#include "rackwright/rocc.h"

namespace rackwright::protobuf {

inline void fence() { rackwright_fence(); }

inline void start_parse(const uint64_t *table, void *object, const void *data, size_t size)
{
    RACKWRIGHT_COMMAND(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_PARSE_INFO, table, object);
    RACKWRIGHT_COMMAND(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_DO_PARSE, data, size);
}

inline void set_parse_record(Record *record)
{
    RACKWRIGHT_COMMAND(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_COMPLETION, record, 0);
}

// 0, or 1 + the status of the first request that failed.
inline uint64_t wait_for_parses() { return RACKWRIGHT_QUERY(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_WAIT); }

// The same of those that have completed so far.
inline uint64_t status_of_parses() { return RACKWRIGHT_QUERY(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_STATUS); }

inline void set_range(const Range &range, const void *arena)
{
    RACKWRIGHT_COMMAND(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_MEM_SETUP, range.objects, range.arrays);
    RACKWRIGHT_COMMAND(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_LIMITS, range.objects_end,
                       range.arrays_end);
    RACKWRIGHT_COMMAND(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_ARENA, arena, 0);
}

// Where the records of leftovers go, from the next request on.
inline void set_leftovers(const Leftover *start, const Leftover *end)
{
    RACKWRIGHT_COMMAND(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_LEFTOVERS, start, end);
}

// Waits for all parses, and leaves their outcome to wait_for_parses().
inline void complete_parses()
{
    (void)RACKWRIGHT_QUERY(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_CHECK_COMPLETION);
}

// What is left of the range, once every request has completed.
inline Range remaining_range()
{
    complete_parses();
    return {RACKWRIGHT_QUERY(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_OBJECTS),
            RACKWRIGHT_QUERY(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_STRINGS),
            RACKWRIGHT_QUERY(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_ARRAYS),
            RACKWRIGHT_QUERY(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_TEXTS)};
}

// Strings made since set_range() whose contents lie among the arrays.
inline uint64_t long_strings()
{
    return RACKWRIGHT_QUERY(PROTOBUF_DESERIALIZE_CUSTOM, DESERIALIZE_LONG_STRINGS);
}

// `outputs`, if not null, takes a view of each output: libstdc++ keeps the length before the address,
// as the unit writes them.
inline void set_output(void *start, void *end, std::string_view *outputs)
{
    RACKWRIGHT_COMMAND(PROTOBUF_SERIALIZE_CUSTOM, SERIALIZE_MEM_SETUP, end, outputs);
    RACKWRIGHT_COMMAND(PROTOBUF_SERIALIZE_CUSTOM, SERIALIZE_LIMIT, start, 0);
}

inline void set_serialize_record(Record *record)
{
    RACKWRIGHT_COMMAND(PROTOBUF_SERIALIZE_CUSTOM, SERIALIZE_COMPLETION, record, 0);
}

inline void start_serialize(const uint64_t *table, const void *object)
{
    RACKWRIGHT_COMMAND(PROTOBUF_SERIALIZE_CUSTOM, SERIALIZE_DO_SERIALIZE, table, object);
}

// The address of the last output, or 1 + the status of the first request that failed.
inline uint64_t wait_for_serializations()
{
    return RACKWRIGHT_QUERY(PROTOBUF_SERIALIZE_CUSTOM, SERIALIZE_WAIT);
}

} // namespace rackwright::protobuf

#else

namespace rackwright::protobuf {

inline void fence() {}
inline void start_parse(const uint64_t *, void *, const void *, size_t) {}
inline void set_parse_record(Record *) {}
inline uint64_t wait_for_parses() { return 0; }
inline uint64_t status_of_parses() { return 0; }
inline void set_range(const Range &, const void *) {}
inline void set_leftovers(const Leftover *, const Leftover *) {}
inline void complete_parses() {}
inline Range remaining_range() { return {}; }
inline uint64_t long_strings() { return 0; }
inline void set_output(void *, void *, std::string_view *) {}
inline void set_serialize_record(Record *) {}
inline void start_serialize(const uint64_t *, const void *) {}
inline uint64_t wait_for_serializations() { return 0; }

} // namespace rackwright::protobuf

#endif
