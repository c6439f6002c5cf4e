#include "benchmark.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/util/field_comparator.h>
#include <google/protobuf/util/message_differencer.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <stdexcept>

namespace benchmark {

namespace {

using google::protobuf::Descriptor;

const char usage[] =
    "usage: benchmark (deserialize|serialize|both) (library|unit|unit-by-call) NAME=FILE...";

std::string read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(path + ": cannot be read");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The messages of a file, each after its length.
Messages split(const std::string &bytes, const std::string &path)
{
    Messages messages;
    google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(bytes.data()),
                                                  static_cast<int>(bytes.size()));
    uint32_t length = 0;
    while (static_cast<size_t>(stream.CurrentPosition()) < bytes.size()) {
        const bool has_length = stream.ReadVarint32(&length);
        const auto position = static_cast<size_t>(stream.CurrentPosition());
        if (!has_length || length > bytes.size() - position) {
            throw std::runtime_error(path + ": ends within a message");
        }
        messages.push_back(std::string_view(bytes).substr(position, length));
        stream.Skip(static_cast<int>(length));
    }
    return messages;
}

std::string serialized(const google::protobuf::Message &message)
{
    std::string bytes;
    google::protobuf::io::StringOutputStream output(&bytes);
    google::protobuf::io::CodedOutputStream stream(&output);
    stream.SetSerializationDeterministic(true);
    message.SerializePartialToCodedStream(&stream);
    stream.Trim();
    return bytes;
}

bool may_hold_maps(const Descriptor *type, std::set<const Descriptor *> *seen)
{
    if (!seen->insert(type).second) return false;
    for (int i = 0; i < type->field_count(); i++) {
        const Descriptor *below = type->field(i)->message_type();
        if (type->field(i)->is_map() || (below != nullptr && may_hold_maps(below, seen))) return true;
    }
    return false;
}

void print_fallbacks(const rackwright::ProtobufCounters &counters)
{
    std::printf("\"fallbacks\": {");
    const char *separator = "";
    for (unsigned i = 0; i < rackwright::fallback_reasons; i++) {
        if (counters.fallbacks[i] == 0) continue;
        std::printf("%s\"%s\": %llu", separator,
                    rackwright::fallback_name(static_cast<rackwright::Fallback>(i)),
                    static_cast<unsigned long long>(counters.fallbacks[i]));
        separator = ", ";
    }
    std::printf("}");
}

bool measure_and_print(const Case &chosen, const Messages &recorded, bool deserializes, Engine engine)
{
    const Result result = (deserializes ? chosen.deserialize : chosen.serialize)(recorded, engine);
    std::printf("{\"benchmark\": \"%s\", \"operation\": \"%s\", \"messages\": %zu, "
                "\"wire_bytes\": %zu, %s, \"verified\": %s, ",
                chosen.name, deserializes ? "deserialize" : "serialize", result.messages,
                result.wire_bytes, measure::json(result.times).c_str(),
                result.verified ? "true" : "false");
    print_fallbacks(result.counters);
    std::printf(", \"status\": \"%s\"}\n", result.status);
    std::fflush(stdout);
    return result.verified;
}

Engine engine_named(const std::string &name)
{
    if (name == "library") return Engine::library;
    if (name == "unit") return Engine::unit_by_batch;
    if (name == "unit-by-call") return Engine::unit_by_call;
    throw std::invalid_argument(usage);
}

const Case &find(const std::vector<Case> &cases, const std::string &name)
{
    for (const Case &each : cases) {
        if (name == each.name) return each;
    }
    throw std::invalid_argument("no case \"" + name + "\"");
}

bool run_all(const std::vector<std::string> &words, const std::vector<Case> &cases)
{
    if (words.size() < 3) throw std::invalid_argument(usage);
    const Engine engine = engine_named(words[1]);
    const bool both = words[0] == "both";
    const bool known = both || words[0] == "deserialize" || words[0] == "serialize";
    if (!known) throw std::invalid_argument(usage);
    bool verified = true;
    for (size_t i = 2; i < words.size(); i++) {
        const size_t equals = words[i].find('=');
        if (equals == std::string::npos) throw std::invalid_argument(usage);
        const Case &chosen = find(cases, words[i].substr(0, equals));
        const std::string path = words[i].substr(equals + 1), bytes = read_file(path);
        const Messages recorded = split(bytes, path);
        if (both || words[0] == "deserialize") {
            verified &= measure_and_print(chosen, recorded, true, engine);
        }
        if (both || words[0] == "serialize") {
            verified &= measure_and_print(chosen, recorded, false, engine);
        }
    }
    return verified;
}

} // namespace

size_t total_bytes(const Messages &recorded)
{
    size_t sum = 0;
    for (const std::string_view message : recorded) sum += message.size();
    return sum;
}

uint64_t checksum(const std::vector<std::string_view> &outputs)
{
    uint64_t sum = 0;
    for (const std::string_view output : outputs) {
        size_t at = 0;
        for (; at + sizeof sum <= output.size(); at += sizeof sum) {
            uint64_t word;
            std::memcpy(&word, output.data() + at, sizeof word);
            sum += word;
        }
        for (; at < output.size(); at++) sum += static_cast<unsigned char>(output[at]);
    }
    return sum;
}

size_t arena_bytes(const Messages &recorded)
{
    return 65536 + 1024 * recorded.size() + 32 * total_bytes(recorded);
}

bool equal_parses_of(const Messages &recorded, bool parsed,
                     const std::vector<const google::protobuf::Message *> &messages)
{
    google::protobuf::util::DefaultFieldComparator comparator;
    comparator.set_treat_nan_as_equal(true);
    google::protobuf::util::MessageDifferencer differencer;
    differencer.set_field_comparator(&comparator);

    bool library_parsed = true, equal = true;
    for (size_t i = 0; i < recorded.size(); i++) {
        const std::unique_ptr<google::protobuf::Message> expected(messages[i]->New(nullptr));
        const int size = static_cast<int>(recorded[i].size());
        library_parsed &= expected->ParseFromArray(recorded[i].data(), size);
        equal &= differencer.Compare(*expected, *messages[i]) &&
                 serialized(*expected) == serialized(*messages[i]);
    }
    return equal && parsed == library_parsed;
}

bool may_hold_maps(const Descriptor *type)
{
    std::set<const Descriptor *> seen;
    return may_hold_maps(type, &seen);
}

bool equals_serialization_of(const google::protobuf::Message &message, std::string_view bytes)
{
    return serialized(message) == bytes;
}

int run(int argument_count, char **arguments, const std::vector<Case> &cases)
{
    try {
        const std::vector<std::string> words(arguments + 1, arguments + argument_count);
        return run_all(words, cases) ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "benchmark: %s\n", error.what());
        return 2;
    }
}

} // namespace benchmark
