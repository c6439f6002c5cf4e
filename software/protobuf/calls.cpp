#include "rackwright/protobuf_calls.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>

#include "additions.h"
#include "leftovers.h"
#include "regions.h"

namespace rackwright {

namespace protobuf {

#ifdef __riscv
constexpr bool machine_may_have_units = true;
#else
constexpr bool machine_may_have_units = false;
#endif

State state = {no_arena, nullptr, machine_may_have_units};

namespace {

void count(Fallback reason)
{
    protobuf_counters.fallbacks[static_cast<unsigned>(reason)]++;
}

Fallback reason_of(rackwright_status status)
{
    switch (status) {
    case RACKWRIGHT_MALFORMED: return Fallback::malformed;
    case RACKWRIGHT_OUTPUT_FULL: return Fallback::region_full;
    case RACKWRIGHT_ACCESS_FAULT: return Fallback::access_fault;
    default: return Fallback::unsupported;
    }
}

} // namespace

void restore(const Type &type, google::protobuf::Message *message)
{
    const uint64_t bytes = type.table[1], *image = reinterpret_cast<uint64_t *>(type.table[4]);
    const uint64_t *arena_map = image + (bytes + 15) / 16 * 2;
    google::protobuf::Arena *const arena = message->GetArena();
    char *const object = reinterpret_cast<char *>(message);
    std::memcpy(object, image, bytes);
    for (size_t i = 0; i < bytes / 8; i++) {
        if (arena_map[i / 64] >> (i % 64) & 1) std::memcpy(object + 8 * i, &arena, sizeof arena);
    }
    set_own_addresses(type, message);
}

bool prepare(const Type *type, const google::protobuf::Message &message, size_t size)
{
    google::protobuf::Arena *const arena = message.GetArena();
    if (!state.units_in_use) return count(Fallback::no_units), false;
    if (type == nullptr) return count(Fallback::no_table), false;
    if (!type->parses) return count(Fallback::unsupported_type), false;
    if (arena == nullptr) return count(Fallback::no_arena), false;
    if (size > INT_MAX) return count(Fallback::too_large), false;
    if (arena == state.arena || assign_region(arena, 0)) return true;
    return count(Fallback::region_full), false;
}

void prepare_quietly(const Type &type, const google::protobuf::Message &message)
{
    google::protobuf::Arena *const arena = message.GetArena();
    if (state.units_in_use && type.parses && arena != nullptr) assign_region(arena, 0);
}

bool finish(const Type &type, google::protobuf::Message *message, const void *data, size_t size,
            uint64_t outcome)
{
    if (outcome != 0) {
        return recover(type, message, data, size, static_cast<rackwright_status>(outcome - 1));
    }
    protobuf_counters.parsed++;
    return merge_leftovers(type, message, data, size);
}

bool recover(const Type &type, google::protobuf::Message *message, const void *data, size_t size,
             rackwright_status status)
{
    // The region may have been replaced since the request was started: so first without a larger one.
    size_t least_bytes = 0;
    drop_leftovers(message);
    restore(type, message);
    while (status == RACKWRIGHT_OUTPUT_FULL && assign_region(message->GetArena(), least_bytes)) {
        least_bytes = region_bytes() + 1;
        fence();
        start_parse(type.table, message, data, size);
        const uint64_t outcome = wait_for_parses();
        fence();
        if (outcome == 0) {
            protobuf_counters.parsed++;
            return merge_leftovers(type, message, data, size);
        }
        drop_leftovers(message);
        restore(type, message);
        status = static_cast<rackwright_status>(outcome - 1);
    }
    count(reason_of(status));
    return parse_by_library(message, data, size);
}

bool merge_leftovers(const Type &type, google::protobuf::Message *message, const void *data,
                     size_t size)
{
    const Merged merged = take_leftovers(message, true);
    if (merged.succeeded) {
        protobuf_counters.left_over += merged.count;
        if (merged.count == 0) return complete(type, message);
        if (type.holds & own_addresses) set_all_own_addresses(type, message);
        return message->IsInitialized();
    }
    protobuf_counters.parsed--;
    restore(type, message);
    count(Fallback::malformed);
    return parse_by_library(message, data, size);
}

bool merge_all_leftovers(const Type &type, google::protobuf::Message *const *messages,
                         const std::string_view *data, size_t number)
{
    // They come in the order of the messages, unless requests that were started before have some, too.
    const bool in_order = std::find(messages, messages + number, next_root()) != messages + number;
    bool all = true;
    for (size_t i = 0; i < number; i++) {
        all &= in_order && messages[i] != next_root()
                   ? complete(type, messages[i])
                   : merge_leftovers(type, messages[i], data[i].data(), data[i].size());
    }
    return all;
}

void drop_leftovers(const google::protobuf::Message *message)
{
    if (has_leftovers()) take_leftovers(message, false);
}

bool parse_by_library(google::protobuf::Message *message, const void *data, size_t size)
{
    if (size > INT_MAX) {
        message->Clear();
        return false;
    }
    return message->ParseFromArray(data, static_cast<int>(size));
}

Fallback count_fallback(const Type *type)
{
    const Fallback reason = !state.units_in_use ? Fallback::no_units
                            : type == nullptr   ? Fallback::no_table
                                                : Fallback::unsupported_type;
    count(reason);
    return reason;
}

Fallback count_fallback(rackwright_status status)
{
    const Fallback reason = reason_of(status);
    count(reason);
    return reason;
}

namespace {

// Whether the unit did it, with unknown fields and extensions from the library. The output may not have
// fitted.
bool serialize_with_additions(const Type &type, const google::protobuf::Message &message, char *start,
                              char *end, std::string_view *output)
{
    static Additions additions; // keeps its room
    additions.look_for(type, message);
    if (additions.are_none()) return false;
    additions.hide();
    const uint64_t outcome = serialize_one(type, message, start, end);
    additions.show();
    if (!is_output(outcome)) return false;
    protobuf_counters.serialized++;
    protobuf_counters.added++;
    const char *made = reinterpret_cast<const char *>(outcome);
    *output = additions.insert({made, static_cast<size_t>(end - made)}, start);
    return true;
}

} // namespace

std::string_view serialize_otherwise(const Type &type, const google::protobuf::Message &message,
                                     rackwright_status status, char *start, char *end)
{
    std::string_view output;
    if (status == RACKWRIGHT_UNSUPPORTED && serialize_with_additions(type, message, start, end, &output)) {
        return output;
    }
    count(reason_of(status));
    return serialize_by_library(message, start, end);
}

bool serialize_the_others(const Type &type, const google::protobuf::Message *const *messages,
                          size_t number, char *start, char *end, std::string_view *outputs)
{
    for (size_t i = 0; i < number; i++) {
        if (outputs[i].data() == nullptr) continue;
        end = const_cast<char *>(outputs[i].data());
        protobuf_counters.serialized++;
    }
    for (size_t i = 0; i < number; i++) {
        if (outputs[i].data() != nullptr) continue;
        if (!serialize_with_additions(type, *messages[i], start, end, &outputs[i])) {
            // Its status may be another than that of the first which failed.
            const uint64_t outcome = serialize_one(type, *messages[i], start, end);
            count(reason_of(static_cast<rackwright_status>(outcome - 1)));
            outputs[i] = serialize_by_library(*messages[i], start, end);
        }
        if (outputs[i].data() == nullptr) return false;
        end = const_cast<char *>(outputs[i].data());
    }
    return true;
}

std::string_view serialize_by_library(const google::protobuf::Message &message, char *start,
                                      char *end)
{
    const size_t bytes = message.ByteSizeLong();
    if (bytes > INT_MAX || bytes > static_cast<size_t>(end - start)) return {};
    google::protobuf::io::ArrayOutputStream array(end - bytes, static_cast<int>(bytes));
    google::protobuf::io::CodedOutputStream stream(&array);
    stream.SetSerializationDeterministic(true);
    message.SerializeWithCachedSizes(&stream);
    return {end - bytes, bytes};
}

} // namespace protobuf

void reserve_for_parsing(google::protobuf::Arena *arena, size_t bytes)
{
    if (protobuf::state.units_in_use) protobuf::assign_region(arena, bytes);
}

void use_units(bool use)
{
    protobuf::state.units_in_use = use && protobuf::machine_may_have_units;
    protobuf::unassign_region();
}

bool ParseRequest::wait()
{
    if (!uses_unit_) return protobuf::parse_by_library(message_, data_, size_);
    while (!record_.is_complete()) {
    }
    protobuf::fence();
    const rackwright_status status = record_.status();
    if (status != RACKWRIGHT_OK) {
        protobuf::wait_for_parses(); // the others too, before their arena gets another region
        return protobuf::recover(*type_, message_, data_, size_, status);
    }
    protobuf_counters.parsed++;
    if (protobuf::has_leftovers()) {
        return protobuf::merge_leftovers(*type_, message_, data_, size_);
    }
    return protobuf::complete(*type_, message_);
}

std::string_view SerializeRequest::wait()
{
    if (uses_unit_) {
        while (!record_.is_complete()) {
        }
        protobuf::fence();
        if (record_.status() == RACKWRIGHT_OK) {
            protobuf_counters.serialized++;
            region_->end_ = reinterpret_cast<char *>(record_.words[1]);
            return {region_->end_, record_.words[2]};
        }
        protobuf::wait_for_serializations(); // and forgets what is counted here
        if (protobuf::count_fallback(record_.status()) == Fallback::region_full) return {};
    }
    own_.resize(message_->ByteSizeLong());
    return protobuf::serialize_by_library(*message_, own_.data(), own_.data() + own_.size());
}

} // namespace rackwright
