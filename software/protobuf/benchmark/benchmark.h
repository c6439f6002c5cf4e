// Measures messages of one class: recorded ones, parsed and serialized by the official library or by
// the units, each result compared with the official library.
//
// `rw` writes a main() for a user's classes that names the cases; see run().
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "../../measure/measure.h"
#include "rackwright/protobuf.h"

namespace benchmark {

// What was measured of the messages of one file.
struct Result {
    measure::Times times;
    size_t messages = 0;
    size_t wire_bytes = 0;
    bool verified = false;
    const char *status = "ok";
    rackwright::ProtobufCounters counters; // of the run that was measured last
};

using Messages = std::vector<std::string_view>;

// Who parses and serializes, and how many messages it is given at a time.
enum class Engine { library, unit_by_batch, unit_by_call };

// A class of messages, and how its messages are measured.
struct Case {
    const char *name;
    Result (*deserialize)(const Messages &recorded, Engine engine);
    Result (*serialize)(const Messages &recorded, Engine engine);
};

// Memory that `recorded` become at most, roughly: enough for the arena's first block, so that no
// target asks for memory while it is measured.
size_t arena_bytes(const Messages &recorded);

// Whether the library says of every message what `parsed` says of all of them, and makes of each what
// is in `messages`, field by field.
bool equal_parses_of(const Messages &recorded, bool parsed,
                     const std::vector<const google::protobuf::Message *> &messages);

// Whether `bytes` are what the library serializes, deterministically.
bool equals_serialization_of(const google::protobuf::Message &message, std::string_view bytes);

// Whether messages of this type may hold maps, which the library writes in any order unless it is told
// to write deterministically, as the unit does.
bool may_hold_maps(const google::protobuf::Descriptor *type);

size_t total_bytes(const Messages &recorded);

// A sum over the words of all outputs, in the order that they were made in.
uint64_t checksum(const std::vector<std::string_view> &outputs);

// The objects that one run parses into, and the arena that they are on. They are made before the
// clock starts and freed after it has stopped, for every target alike.
template <class Message> struct Objects {
    explicit Objects(const Messages &recorded, Engine engine)
        : block(arena_bytes(recorded)), arena(block.data(), block.size())
    {
        for (size_t i = 0; i < recorded.size(); i++) {
            messages.push_back(google::protobuf::Arena::CreateMessage<Message>(&arena));
        }
        if (engine != Engine::library) rackwright::reserve_for_parsing(&arena, 2 * arena_bytes(recorded));
    }

    std::vector<char> block;
    google::protobuf::Arena arena;
    std::vector<Message *> messages;
};

template <class Message>
bool parse_all(const Messages &recorded, Engine engine, const std::vector<Message *> &messages)
{
    if (engine == Engine::unit_by_batch) {
        return rackwright::ParseBatch(messages.data(), recorded.data(), recorded.size());
    }
    bool parsed = true;
    for (size_t i = 0; i < recorded.size(); i++) {
        const char *const data = recorded[i].data();
        const auto size = static_cast<int>(recorded[i].size());
        parsed &= engine == Engine::library ? messages[i]->ParseFromArray(data, size)
                                            : rackwright::ParseFromArray(messages[i], data, recorded[i].size());
    }
    return parsed;
}

// The library's own walk over every field that is set.
template <class Message> uint64_t walk(const std::vector<Message *> &messages)
{
    uint64_t sum = 0;
    for (const Message *message : messages) sum += message->ByteSizeLong();
    return sum;
}

template <class Message> Result deserialize(const Messages &recorded, Engine engine)
{
    Result result;
    result.messages = recorded.size();
    result.wire_bytes = total_bytes(recorded);
    result.times = measure::times([&](measure::Stopwatch *watch) {
        Objects<Message> objects(recorded, engine);
        const auto before = rackwright::protobuf_counters;
        bool parsed = false;
        watch->work([&] { parsed = parse_all(recorded, engine, objects.messages); });
        watch->use([&] { return walk(objects.messages); });
        if (!watch->is_last()) return;
        result.counters = rackwright::protobuf_counters - before;
        if (!parsed) result.status = "malformed";
        result.verified = equal_parses_of(recorded, parsed,
                                          {objects.messages.begin(), objects.messages.end()});
    });
    return result;
}

// One message at a time, each output below the one before as the unit puts it. False when they do not fit.
template <class Message, class One>
bool serialize_downwards(const std::vector<Message *> &messages, One serialize_one, std::vector<char> *room,
                         std::vector<std::string_view> *outputs)
{
    char *const start = room->data(), *end = start + room->size();
    for (size_t i = 0; i < messages.size(); i++) {
        (*outputs)[i] = serialize_one(*messages[i], start, end);
        if ((*outputs)[i].data() == nullptr) return false;
        end -= (*outputs)[i].size();
    }
    return true;
}

// By the unit; by the library when it has to be told the order; or as the library does it by itself,
// each output after the one before.
template <class Message>
bool serialize_all(const std::vector<Message *> &messages, Engine engine, bool in_order,
                   std::vector<char> *room, std::vector<std::string_view> *outputs)
{
    if (engine == Engine::unit_by_batch) {
        return rackwright::SerializeBatch(messages.data(), messages.size(), room->data(), room->size(),
                                          outputs->data());
    }
    if (engine == Engine::unit_by_call) {
        const auto by_unit = [](const Message &message, char *start, char *end) {
            return rackwright::SerializeToTail(message, start, static_cast<size_t>(end - start));
        };
        return serialize_downwards(messages, by_unit, room, outputs);
    }
    if (in_order) {
        return serialize_downwards(messages, rackwright::protobuf::serialize_by_library, room, outputs);
    }
    char *next = room->data(), *const end = next + room->size();
    for (size_t i = 0; i < messages.size(); i++) {
        if (!messages[i]->SerializeToArray(next, static_cast<int>(end - next))) return false;
        (*outputs)[i] = {next, static_cast<size_t>(messages[i]->GetCachedSize())};
        next += messages[i]->GetCachedSize();
    }
    return true;
}

template <class Message> Result serialize(const Messages &recorded, Engine engine)
{
    Result result;
    Objects<Message> objects(recorded, Engine::library);
    if (!parse_all(recorded, Engine::library, objects.messages)) result.status = "malformed";
    size_t wire_bytes = 0;
    for (const Message *message : objects.messages) wire_bytes += message->ByteSizeLong();
    std::vector<char> room(wire_bytes + 64);
    std::vector<std::string_view> outputs(recorded.size());
    const bool in_order = may_hold_maps(Message::descriptor());
    result.messages = recorded.size();
    result.wire_bytes = wire_bytes;
    bool fitted = true;
    result.times = measure::times([&](measure::Stopwatch *watch) {
        const auto before = rackwright::protobuf_counters;
        watch->work([&] { fitted &= serialize_all(objects.messages, engine, in_order, &room, &outputs); });
        watch->use([&] { return checksum(outputs); });
        result.counters = rackwright::protobuf_counters - before;
    });
    result.verified = fitted;
    for (size_t i = 0; fitted && i < recorded.size(); i++) {
        result.verified &= equals_serialization_of(*objects.messages[i], outputs[i]);
    }
    return result;
}

template <class Message> Case case_of(const char *name)
{
    return {name, deserialize<Message>, serialize<Message>};
}

// The command line:
//
//   benchmark (deserialize|serialize|both) (library|unit|unit-by-call) NAME=FILE…
//
// `unit` is given all messages of a file at once, `unit-by-call` one after the other.
// NAME is a case's; FILE holds messages, each after its length as a varint. Prints a line of JSON for
// each operation and file. Exit status: 0 when every result was verified, 1 when not, 2 for wrong
// usage.
int run(int argument_count, char **arguments, const std::vector<Case> &cases);

} // namespace benchmark
