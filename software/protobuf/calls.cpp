#include "rackwright/protobuf_calls.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>

#include "additions.h"
#include "leftovers.h"
#include "processes.h"
#include "regions.h"

namespace rackwright {

namespace protobuf {

#ifdef __riscv
constexpr bool machine_may_have_units = true;
#else
constexpr bool machine_may_have_units = false;
#endif

State state = {no_arena, nullptr, machine_may_have_units, false};

namespace {

void count(Fallback reason)
{
    protobuf_counters.fallbacks[static_cast<unsigned>(reason)]++;
}

// Which units calls may use, from now on.
void choose_units(bool use)
{
    const bool uses = use && machine_may_have_units;
    state.shares_units = uses && units_are_shared();
    state.units_in_use = uses && !state.shares_units;
}

// Behind the constructor that asks the kernel, before those of the program.
__attribute__((constructor(201))) void choose_units_at_first() { choose_units(true); }

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

namespace {

// Whether a unit can parse into the message; counts why not.
bool may_parse(const Type *type, const google::protobuf::Message &message, size_t size)
{
    if (type == nullptr) return count(Fallback::no_table), false;
    if (!type->parses) return count(Fallback::unsupported_type), false;
    if (message.GetArena() == nullptr) return count(Fallback::no_arena), false;
    if (size > INT_MAX) return count(Fallback::too_large), false;
    return true;
}

} // namespace

bool prepare(const Type *type, const google::protobuf::Message &message, size_t size)
{
    if (state.shares_units) return false;
    if (!state.units_in_use) return count(Fallback::no_units), false;
    if (!may_parse(type, message, size)) return false;
    google::protobuf::Arena *const arena = message.GetArena();
    if (arena == state.arena || assign_region(arena, 0)) return true;
    return count(Fallback::region_full), false;
}

bool parse_otherwise(const Type *type, google::protobuf::Message *message, const void *data, size_t size)
{
    if (!state.shares_units || !may_parse(type, *message, size)) {
        return parse_by_library(message, data, size);
    }
    message->Clear();
    const uint64_t outcome = parse_shared(*type, message, data, size);
    if (outcome != 0) {
        count(reason_of(static_cast<rackwright_status>(outcome - 1)));
        return parse_by_library(message, data, size);
    }
    protobuf_counters.parsed++;
    return merge_leftovers(*type, message, data, size);
}

void prepare_quietly(const Type &type, const google::protobuf::Message &message)
{
    google::protobuf::Arena *const arena = message.GetArena();
    if (state.units_in_use && type.parses && arena != nullptr) assign_region(arena, 0);
}

namespace {

// What parsing a message returns that the unit has parsed and of which it may have left something over.
bool merge(const Type &type, google::protobuf::Message *message, const void *data, size_t size)
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

} // namespace

bool finish(const Type &type, google::protobuf::Message *message, const void *data, size_t size,
            uint64_t outcome)
{
    if (outcome != 0) {
        protobuf_counters.parsed--;
        return recover(type, message, data, size, static_cast<rackwright_status>(outcome - 1));
    }
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
    const bool parsed = merge(type, message, data, size);
    begin_anew_when_all_are_taken();
    return parsed;
}

void drop_leftovers(const google::protobuf::Message *message)
{
    if (!has_leftovers()) return;
    take_leftovers(message, false);
    begin_anew_when_all_are_taken();
}

// The first message behind those finished that may have left something over.
size_t ParseProgress::next_with_leftovers()
{
    const google::protobuf::Message *const root = next_root();
    if (root == nullptr) return count_;
    if (root != root_) {
        root_ = root;
        const auto *const found = std::find(messages_ + finished_, messages_ + count_, root);
        root_at_ = static_cast<size_t>(found - messages_);
    }
    return root_at_ < count_ ? root_at_ : finished_; // of a request before these: any may have some behind it
}

void ParseProgress::finish_until(size_t end)
{
    protobuf_counters.parsed += end - finished_;
    while (finished_ < end) {
        const size_t next = std::min(end, next_with_leftovers());
        for (; type_.holds != 0 && finished_ < next; finished_++) {
            all_complete_ &= complete(type_, messages_[finished_]);
        }
        finished_ = next;
        if (next == end) return;
        all_complete_ &= merge(type_, messages_[next], data_[next].data(), data_[next].size());
        finished_++;
    }
}

void ParseProgress::finish_marked(bool waits)
{
    for (; seen_ < marked_; seen_++) {
        const Mark &mark = marks_[seen_ % most_marks];
        if (seen_ + most_marks < marked_) continue; // its place has been used again
        while (waits && !mark.record.is_complete()) {
        }
        if (!mark.record.is_complete() || failed()) return;
        fence();
        finish_until(mark.next);
    }
}

size_t ParseProgress::finish_all(size_t started)
{
    if (started == 0) return 0;
    if (type_.holds != 0 || has_leftovers()) finish_marked(true);
    failed_ |= wait_for_parses() != 0;
    fence();
    if (!failed_) finish_until(started);
    for (size_t i = finished_; i < started; i++) {
        drop_leftovers(messages_[i]);
        restore(type_, messages_[i]);
    }
    if (has_leftovers()) begin_anew_when_all_are_taken();
    return finished_;
}

bool parse_by_library(google::protobuf::Message *message, const void *data, size_t size)
{
    if (size > INT_MAX) {
        message->Clear();
        return false;
    }
    return message->ParseFromArray(data, static_cast<int>(size));
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
    const uint64_t outcome = state.shares_units ? serialize_shared(type, message, start, end)
                                                : serialize_one(type, message, start, end);
    additions.show();
    if (!is_output(outcome)) return false;
    protobuf_counters.added++;
    const char *made = reinterpret_cast<const char *>(outcome);
    const size_t growth = additions.find_places({made, static_cast<size_t>(end - made)});
    *output = growth > static_cast<size_t>(made - start) ? std::string_view() : additions.insert(0);
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

std::string_view serialize_elsewhere(const Type *type, const google::protobuf::Message &message, char *start,
                                     char *end)
{
    if (!state.shares_units || type == nullptr || !type->serializes) {
        const bool has_units = state.units_in_use || state.shares_units;
        count(!has_units ? Fallback::no_units : type == nullptr ? Fallback::no_table : Fallback::unsupported_type);
        return serialize_by_library(message, start, end);
    }
    const uint64_t outcome = serialize_shared(*type, message, start, end);
    if (!is_output(outcome)) {
        return serialize_otherwise(*type, message, static_cast<rackwright_status>(outcome - 1), start, end);
    }
    const char *const first = reinterpret_cast<const char *>(outcome);
    return {first, static_cast<size_t>(end - first)};
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
    if (protobuf::state.shares_units) protobuf::claim_region(arena, bytes);
}

void use_units(bool use)
{
    protobuf::choose_units(use);
    protobuf::unassign_region();
}

bool ParseRequest::wait()
{
    if (!uses_unit_) return protobuf::parse_otherwise(type_, message_, data_, size_);
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
    char *const start = own_.data(), *const end = start + own_.size();
    return uses_unit_ ? protobuf::serialize_by_library(*message_, start, end)
                      : protobuf::serialize_elsewhere(type_, *message_, start, end);
}

} // namespace rackwright
