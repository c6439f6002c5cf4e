// The short ways through calls that protobuf.h declares; what is rare is in calls.cpp.
#pragma once

#include <algorithm>

#include "rackwright/hidden.h"
#include "rackwright/protobuf.h"

namespace rackwright {

namespace protobuf {

bool parse_by_library(google::protobuf::Message *message, const void *data, size_t size);

// What the short way asks first. `arena` is the one whose region the deserializer has: a value that no
// arena has while it has none. `output` is the region that the serializer writes into.
struct State {
    const google::protobuf::Arena *arena;
    const OutputRegion *output;
    bool units_in_use; // and by nobody else
    bool shares_units; // with other processes: processes.h
};
RACKWRIGHT_HIDDEN extern State state;

// An address where no arena can be.
inline const google::protobuf::Arena *const no_arena =
    reinterpret_cast<const google::protobuf::Arena *>(1);

// Gives the deserializer a region of the message's arena. False when the unit can't parse into the
// message, which has been counted, and where units are shared.
bool prepare(const Type *type, const google::protobuf::Message &message, size_t size);

// The same, without counting: for what is tried once more, and counted then.
void prepare_quietly(const Type &type, const google::protobuf::Message &message);

// A parse that is not prepared: by a unit that is shared, else by the library.
bool parse_otherwise(const Type *type, google::protobuf::Message *message, const void *data, size_t size);

// A serialization for which there is no unit of our own: by one that is shared, else by the library, which is counted.
std::string_view serialize_elsewhere(const Type *type, const google::protobuf::Message &message, char *start,
                                     char *end);

// After a parse that was counted and did not end well, as its outcome tells, or while there are leftovers.
// What the parse returns.
bool finish(const Type &type, google::protobuf::Message *message, const void *data, size_t size,
            uint64_t outcome);

// After the deserializer ended with `status`, not ok: tries again in a larger region if that was the
// reason, else calls the library.
bool recover(const Type &type, google::protobuf::Message *message, const void *data, size_t size,
             rackwright_status status);

// Counts why a unit did not do it.
Fallback count_fallback(rackwright_status status);

// After the serializer ended with `status`, not ok: has the library write unknown fields and extensions if
// they were the reason, and the unit the rest; else has it write all.
std::string_view serialize_otherwise(const Type &type, const google::protobuf::Message &message,
                                     rackwright_status status, char *start, char *end);

// A batch that the serializer works on. What it does not do by itself is prepared while it is at the others.
class SerializeProgress {
  public:
    // After so many starts it looks what has become of those before.
    static constexpr size_t group = 8;

    // Before the unit is started: it will write into `outputs`.
    SerializeProgress(const Type &type, const google::protobuf::Message *const *messages, size_t count,
                      std::string_view *outputs)
        : type_(type), messages_(messages), count_(count), outputs_(outputs)
    {
        for (size_t i = 0; i < count; i++) outputs[i] = {pending, 0};
    }

    // Looks at messages that the unit has come to, up to one that it has not.
    void look()
    {
        for (; seen_ < count_; seen_++) {
            const char *const output = output_of(seen_);
            if (output == pending) return;
            if (__builtin_expect(output == nullptr, 0)) prepare(seen_);
        }
    }

    // Until the unit has come to all of them.
    void look_at_all()
    {
        while (seen_ < count_) look();
    }

    // Serializes those messages that the unit has not: below the others, which are at the end of the range.
    // False when they do not fit.
    bool finish(char *start, char *end);

  private:
    // What a view has before the unit says where the output is, or null.
    static inline const char *const pending = reinterpret_cast<const char *>(1);

    const char *output_of(size_t i) const
    {
        static_assert(sizeof(std::string_view) == 2 * sizeof(void *), "a length, then an address");
        const char *const *words = reinterpret_cast<const char *const *>(outputs_ + i);
        return __atomic_load_n(words + 1, __ATOMIC_RELAXED);
    }

    void prepare(size_t i);
    bool add_all(char *start, char *end);
    bool leave_to_library(char *start, char *end);
    char *lowest(char *end) const;

    const Type &type_;
    const google::protobuf::Message *const *messages_;
    size_t count_;
    std::string_view *outputs_;
    size_t seen_ = 0;
    size_t failed_ = 0; // of those seen
    size_t extended_ = 0; // and of them those with unknown fields or extensions
};

// Whether the outcome of a serialization is an address.
inline bool is_output(uint64_t outcome) { return outcome > RACKWRIGHT_ACCESS_FAULT + 1; }

// Has the unit serialize a message into the last bytes of the range, and counts it: gives what
// wait_for_serializations() does.
inline uint64_t serialize_one(const Type &type, const google::protobuf::Message &message, char *start,
                              char *end)
{
    fence();
    set_output(start, end, nullptr);
    start_serialize(type.serializer_table, &message);
    state.output = nullptr; // stores while the unit works: just before a fence they would be waited for
    protobuf_counters.serialized++;
    const uint64_t outcome = wait_for_serializations();
    fence();
    if (!is_output(outcome)) protobuf_counters.serialized--;
    return outcome;
}

// Writes into the last bytes of the range.
std::string_view serialize_by_library(const google::protobuf::Message &message, char *start,
                                      char *end);

// Records of what the unit has left over, one after the other; behind the last one, zeros.
constexpr size_t most_leftovers = 1024;
RACKWRIGHT_HIDDEN extern Leftover leftovers[most_leftovers + 1];

inline bool has_leftovers() { return __builtin_expect(leftovers[0].root != nullptr, 0); }

// After a parse that ended well while there are leftovers: has the library merge those of this message.
// What the parse returns.
bool merge_leftovers(const Type &type, google::protobuf::Message *message, const void *data,
                     size_t size);

// Forgets those of this message, after a parse that did not.
void drop_leftovers(const google::protobuf::Message *message);

// What an object holds at an offset that is a multiple of the word's size, whatever type it has there.
template <class Word> Word word_at(const google::protobuf::Message &message, size_t offset)
{
    using Any __attribute__((may_alias)) = Word;
    return *reinterpret_cast<const Any *>(reinterpret_cast<const char *>(&message) + offset);
}

// Whether the object belongs to the arena, and has no unknown fields: the word of metadata behind the
// table of virtual functions is the arena's address and nothing else.
inline bool is_of(const google::protobuf::Arena *arena, const google::protobuf::Message &message)
{
    return word_at<const google::protobuf::Arena *>(message, 8) == arena;
}

// Whether the deserializer can parse into this object at once.
template <class Message> bool is_prepared(const Message &message, size_t size)
{
    constexpr const Type *type = type_of<Message>();
    if constexpr (type == nullptr) {
        return false;
    } else {
        return __builtin_expect(is_of(state.arena, message) && type->parses, 1) && size <= INT_MAX;
    }
}

// Whether an object without unknown fields has no field.
inline bool is_clear(const Type &type, const google::protobuf::Message &message)
{
    if (type.only_zero != 0) return word_at<uint32_t>(message, type.only_zero) == 0;
    uint64_t found = 0;
    for (size_t i = 0; i < type.zero_count; i++) found |= word_at<uint32_t>(message, type.zeros[i]);
    const auto *image = reinterpret_cast<const uint64_t *>(type.table[4]);
    for (size_t i = 0; i < type.default_count; i++) {
        const uint32_t at = type.defaults[i];
        found |= word_at<uint64_t>(message, at) ^ image[at / sizeof *image];
    }
    return found == 0;
}

// Whether there is nothing to do in order to parse so many bytes into an object: none, into one that is prepared and
// clear. One branch: few of them are predicted in a call for an empty message.
inline bool needs_nothing(const Type &type, const google::protobuf::Message &message, size_t size)
{
    const uint64_t other_arena = word_at<uint64_t>(message, 8) ^ reinterpret_cast<uint64_t>(state.arena);
    const uint64_t presence = word_at<uint32_t>(message, type.only_zero);
    return (size | other_arena | presence | type.holds | (type.only_zero == 0)) == 0;
}

// Clear(), without a call for objects that are clear already, as those that were just made.
template <class Message> void clear(Message *message)
{
    if (is_of(state.arena, *message) && is_clear(*TypeOf<Message>::value, *message)) return;
    message->Clear();
}

template <class Message> bool can_serialize()
{
    constexpr const Type *type = type_of<Message>();
    if constexpr (type == nullptr) return false;
    else return __builtin_expect(state.units_in_use && type->serializes, 1);
}

// Starts the unit on a message that is prepared.
template <class Message> void begin_parse(Message *message, const void *data, size_t size)
{
    clear(message);
    fence();
    start_parse(TypeOf<Message>::value->table, message, data, size);
}

// Makes an object as new again, whatever the unit left of a parse that failed: Clear() needs hasbits
// and pointers that agree. What the object held belongs to the arena.
void restore(const Type &type, google::protobuf::Message *message);

// Starts the unit on messages from `first` to `end` as long as there is nothing to do for them before: their
// objects are prepared, and clear. Gives the first one that is not.
template <class Message>
size_t start_clear_ones(Message *const *messages, const std::string_view *data, size_t first,
                        size_t end)
{
    // Commands are compiler barriers: what does not change is read once. Of most types, objects are clear if one word
    // of presence bits is zero.
    const Type &type = *TypeOf<Message>::value;
    const uint32_t word = type.only_zero;
    const google::protobuf::Arena *const arena = state.arena;
    const uint64_t *const table = type.table;
    for (size_t i = first; i < end; i++) {
        Message *const message = messages[i];
        const bool is_prepared = is_of(arena, *message) && data[i].size() <= INT_MAX;
        if (!is_prepared) return i;
        const bool clear = word != 0 ? word_at<uint32_t>(*message, word) == 0 : is_clear(type, *message);
        if (!clear) return i;
        start_parse(table, message, data[i].data(), data[i].size());
    }
    return end;
}

// Clears objects from `first` to `end`, up to one that is not prepared, and starts the unit on them. Gives
// the first one that is not started.
template <class Message>
size_t clear_and_start(Message *const *messages, const std::string_view *data, size_t first, size_t end)
{
    size_t cleared = first;
    for (; cleared < end && is_prepared(*messages[cleared], data[cleared].size()); cleared++) {
        clear(messages[cleared]);
    }
    fence();
    const uint64_t *const table = TypeOf<Message>::value->table;
    for (size_t i = first; i < cleared; i++) {
        start_parse(table, messages[i], data[i].data(), data[i].size());
    }
    return cleared;
}

// The parses of a batch that the unit has been started on. What is left to do with their results is done while
// the unit is at those behind them.
class ParseProgress {
  public:
    // So few that the unit soon has work, and so many that a fence for all of them costs little.
    static constexpr size_t group = 8;

    ParseProgress(const Type &type, google::protobuf::Message *const *messages, const std::string_view *data,
                  size_t count)
        : type_(type), messages_(messages), data_(data), count_(count)
    {
    }

    // The next request, that for message `next`, gets a record: once it has completed, all before it have.
    void mark(size_t next)
    {
        Mark &mark = marks_[marked_++ % most_marks];
        while (marked_ > most_marks && !mark.record.is_complete()) {
        }
        mark.next = next;
        mark.record.words[0] = 0;
        set_parse_record(&mark.record);
    }

    // Finishes what has completed, if there is anything to do about it.
    void finish_some()
    {
        if (type_.holds != 0 || has_leftovers()) finish_marked(false);
    }

    // Waits for all requests, of which there are so many, and finishes those that ended well: gives how many
    // these are. The objects of the others are as new.
    size_t finish_all(size_t started);

    // Whether all that were finished are what they should be.
    bool are_all_complete() const { return all_complete_; }

  private:
    struct Mark {
        Record record;
        size_t next;
    };

    void finish_marked(bool waits);
    void finish_until(size_t end);
    size_t next_with_leftovers();
    bool failed() { return failed_ = failed_ || status_of_parses() != 0; }

    // More than requests that are under way: what waits for the unit, and what waits for answers.
    static constexpr size_t most_marks = 16;

    const Type &type_;
    google::protobuf::Message *const *messages_;
    const std::string_view *data_;
    size_t count_;
    Mark marks_[most_marks];
    size_t marked_ = 0, seen_ = 0; // marks made so far, and of them those that have completed
    size_t finished_ = 0;
    const google::protobuf::Message *root_ = nullptr; // the message of the leftovers that come next,
    size_t root_at_ = 0;                              // and which one of these it is
    bool all_complete_ = true, failed_ = false;
};

// Fills in what the unit leaves out of one object, or of all that a message it has parsed consists of.
void set_own_addresses(const Type &type, google::protobuf::Message *message);
void set_all_own_addresses(const Type &type, google::protobuf::Message *message);

// What is left to do when the unit has parsed a message. False when a required field is not there.
inline bool complete(const Type &type, google::protobuf::Message *message)
{
    if (__builtin_expect(type.holds == 0, 1)) return true;
    if (type.holds & own_addresses) set_all_own_addresses(type, message);
    return !(type.holds & required_fields) || message->IsInitialized();
}

// Parses a message for which there may be something to do. Not inlined: it saves registers, and calls with nothing to do
// should not.
template <class Message> [[gnu::noinline]] bool parse_one(Message *message, const void *data, size_t size)
{
    constexpr const Type *type = type_of<Message>();
    if (!is_prepared(*message, size) && !prepare(type, *message, size)) {
        return parse_otherwise(type, message, data, size);
    }
    if constexpr (type != nullptr) {
        if (size == 0) {
            clear(message);
            protobuf_counters.parsed++;
            return complete(*type, message);
        }
        begin_parse(message, data, size);
        protobuf_counters.parsed++; // while the unit works
        const uint64_t outcome = wait_for_parses();
        fence();
        // One branch for all that is rare: this is the way of a call that takes some 70 cycles.
        const auto leftover = reinterpret_cast<uint64_t>(leftovers[0].root);
        if (__builtin_expect((outcome | leftover) != 0, 0)) return finish(*type, message, data, size, outcome);
        return complete(*type, message);
    }
}

} // namespace protobuf

template <class Message> bool ParseFromArray(Message *message, const void *data, size_t size)
{
    if constexpr (protobuf::type_of<Message>() != nullptr) {
        if (protobuf::needs_nothing(*protobuf::TypeOf<Message>::value, *message, size)) {
            protobuf_counters.parsed++;
            return true;
        }
    }
    return protobuf::parse_one(message, data, size);
}

template <class Message>
std::string_view SerializeToTail(const Message &message, void *data, size_t capacity)
{
    constexpr const protobuf::Type *type = protobuf::type_of<Message>();
    char *const start = static_cast<char *>(data), *const end = start + capacity;
    if (!protobuf::can_serialize<Message>()) return protobuf::serialize_elsewhere(type, message, start, end);
    if constexpr (type != nullptr) {
        const uint64_t outcome = protobuf::serialize_one(*type, message, start, end);
        if (__builtin_expect(!protobuf::is_output(outcome), 0)) {
            return protobuf::serialize_otherwise(
                *type, message, static_cast<rackwright_status>(outcome - 1), start, end);
        }
        const char *first = reinterpret_cast<const char *>(outcome);
        return {first, static_cast<size_t>(end - first)};
    }
}

template <class Message>
bool SerializeToArray(const Message &message, void *data, size_t capacity, size_t *written)
{
    const std::string_view bytes = SerializeToTail(message, data, capacity);
    if (bytes.data() == nullptr) return false;
    if (bytes.data() != data) std::memmove(data, bytes.data(), bytes.size());
    if (written != nullptr) *written = bytes.size();
    return true;
}

template <class Message>
bool ParseBatch(Message *const *messages, const std::string_view *data, size_t count)
{
    constexpr const protobuf::Type *type = protobuf::type_of<Message>();
    size_t done = 0;
    bool complete = true;
    if constexpr (type != nullptr) {
        if (count > 0 && !protobuf::is_prepared(*messages[0], data[0].size())) {
            protobuf::prepare_quietly(*type, *messages[0]);
        }
        protobuf::ParseProgress progress(
            *type, reinterpret_cast<google::protobuf::Message *const *>(messages), data, count);
        size_t started = 0;
        protobuf::fence();
        while (started < count && protobuf::is_prepared(*messages[started], data[started].size())) {
            const size_t end = std::min(started + protobuf::ParseProgress::group, count);
            progress.mark(started);
            started = protobuf::start_clear_ones(messages, data, started, end);
            if (started < end) started = protobuf::clear_and_start(messages, data, started, end);
            progress.finish_some();
        }
        done = progress.finish_all(started);
        complete = progress.are_all_complete();
    }
    for (size_t i = done; i < count; i++) {
        complete &= ParseFromArray(messages[i], data[i].data(), data[i].size());
    }
    return complete;
}

template <class Message>
bool SerializeBatch(const Message *const *messages, size_t count, void *data, size_t capacity,
                    std::string_view *outputs)
{
    char *const start = static_cast<char *>(data), *end = start + capacity;
    if constexpr (protobuf::type_of<Message>() != nullptr) {
        if (count > 0 && protobuf::can_serialize<Message>()) {
            protobuf::state.output = nullptr;
            const protobuf::Type &type = *protobuf::TypeOf<Message>::value;
            protobuf::SerializeProgress progress(
                type, reinterpret_cast<const google::protobuf::Message *const *>(messages), count, outputs);
            protobuf::set_output(start, end, outputs);
            protobuf::fence();
            const uint64_t *const table = type.serializer_table;
            for (size_t i = 0; i < count; i++) {
                protobuf::start_serialize(table, messages[i]);
                if (i % protobuf::SerializeProgress::group == 0) progress.look();
            }
            progress.look_at_all();
            const uint64_t outcome = protobuf::wait_for_serializations();
            protobuf::fence();
            if (protobuf::is_output(outcome)) {
                protobuf_counters.serialized += count;
                return true;
            }
            if (outcome == RACKWRIGHT_UNSUPPORTED + 1) return progress.finish(start, end);
        }
    }
    for (size_t i = 0; i < count; i++) {
        outputs[i] = SerializeToTail(*messages[i], start, static_cast<size_t>(end - start));
        if (outputs[i].data() == nullptr) return false;
        end = const_cast<char *>(outputs[i].data());
    }
    return true;
}

inline OutputRegion::OutputRegion(void *data, size_t capacity)
    : start_(static_cast<char *>(data)), end_(start_ + capacity)
{
}

inline OutputRegion::~OutputRegion()
{
    if (protobuf::state.output == this) protobuf::state.output = nullptr;
}

template <class Message>
void ParseRequest::start(Message *message, const void *data, size_t size)
{
    constexpr const protobuf::Type *type = protobuf::type_of<Message>();
    type_ = type;
    message_ = message;
    data_ = data;
    size_ = size;
    uses_unit_ = protobuf::is_prepared(*message, size) || protobuf::prepare(type, *message, size);
    if constexpr (type != nullptr) {
        if (!uses_unit_) return;
        record_.words[0] = 0;
        protobuf::set_parse_record(&record_);
        protobuf::begin_parse(message, data, size);
    }
}

template <class Message>
void SerializeRequest::start(const Message &message, OutputRegion *region)
{
    constexpr const protobuf::Type *type = protobuf::type_of<Message>();
    type_ = type;
    message_ = &message;
    region_ = region;
    uses_unit_ = protobuf::can_serialize<Message>();
    if constexpr (type != nullptr) {
        if (!uses_unit_) return;
        if (protobuf::state.output != region) {
            protobuf::state.output = region;
            protobuf::set_output(region->start_, region->end_, nullptr);
        }
        record_.words[0] = 0;
        protobuf::fence();
        protobuf::set_serialize_record(&record_);
        protobuf::start_serialize(type->serializer_table, &message);
    }
}

} // namespace rackwright
