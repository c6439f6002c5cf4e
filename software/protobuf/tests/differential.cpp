// Random messages of every class, and damaged ones, by the units and by the library: the same verdict,
// the same fields, the same bytes.
//
//   differential SEED ROUNDS
//
// CLASSES, a macro, names the classes. Prints how many messages the units did themselves.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>

#include <random>
#include <string>

#include "check.h"
#include "rackwright/protobuf.h"
#include "schemas.h"

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::mt19937_64 generator;

uint64_t below(uint64_t bound)
{
    return generator() % bound;
}

// Numbers of every length in bits.
uint64_t number()
{
    return generator() >> below(64);
}

std::string text()
{
    std::string made(below(4) == 0 ? below(600) : below(24), ' ');
    for (char &each : made) each = static_cast<char>('a' + below(26));
    return made;
}

void fill(Message *message, int depth);

void set(Message *message, const FieldDescriptor *field, int depth)
{
    const Reflection *reflection = message->GetReflection();
    switch (field->cpp_type()) {
#define SET(KIND, NAME, VALUE)                                                                 \
    case FieldDescriptor::CPPTYPE_##KIND:                                                      \
        field->is_repeated() ? reflection->Add##NAME(message, field, VALUE)                    \
                             : reflection->Set##NAME(message, field, VALUE);                   \
        return
        SET(INT32, Int32, static_cast<int32_t>(number()));
        SET(INT64, Int64, static_cast<int64_t>(number()));
        SET(UINT32, UInt32, static_cast<uint32_t>(number()));
        SET(UINT64, UInt64, number());
        SET(DOUBLE, Double, static_cast<double>(number()) - 3.5);
        SET(FLOAT, Float, static_cast<float>(number()) - 3.5f);
        SET(BOOL, Bool, below(2) == 1);
        SET(STRING, String, text());
        SET(ENUM, Enum,
            field->enum_type()->value(
                static_cast<int>(below(static_cast<uint64_t>(field->enum_type()->value_count())))));
    case FieldDescriptor::CPPTYPE_MESSAGE:
        if (depth > 0) {
            fill(field->is_repeated() ? reflection->AddMessage(message, field)
                                      : reflection->MutableMessage(message, field),
                 depth - 1);
        }
        return;
    }
#undef SET
}

void fill(Message *message, int depth)
{
    const auto *descriptor = message->GetDescriptor();
    for (int i = 0; i < descriptor->field_count(); i++) {
        const FieldDescriptor *field = descriptor->field(i);
        if (field->is_map() || (below(3) != 0 && !field->is_required())) continue;
        const uint64_t count = field->is_repeated() ? below(6) : 1;
        for (uint64_t element = 0; element < count; element++) set(message, field, depth);
    }
}

// Changes, cuts or adds a few bytes; often leaves them as they are.
void damage(std::string *bytes)
{
    if (below(2) == 0) return;
    for (uint64_t i = 0; i <= below(3); i++) {
        const size_t at = below(bytes->size() + 1);
        const char value = static_cast<char>(generator());
        if (below(3) == 0) bytes->insert(at, 1, value);
        else if (at < bytes->size() && below(2) == 0) (*bytes)[at] = value;
        else bytes->resize(below(bytes->size() + 1));
    }
}

std::string serialized(const Message &message)
{
    std::string bytes;
    {
        google::protobuf::io::StringOutputStream output(&bytes);
        google::protobuf::io::CodedOutputStream stream(&output);
        stream.SetSerializationDeterministic(true);
        message.SerializePartialToCodedStream(&stream);
    }
    return bytes;
}

template <class Class> void compare(uint64_t rounds)
{
    std::string room(1 << 20, '\0');
    for (uint64_t round = 0; round < rounds; round++) {
        google::protobuf::Arena arena;
        Class random;
        fill(&random, static_cast<int>(below(4)));
        std::string bytes = serialized(random);
        if (below(4) == 0) bytes += bytes; // fields that occur twice
        damage(&bytes);

        Class model;
        const bool expected = model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
        auto *parsed = google::protobuf::Arena::CreateMessage<Class>(&arena);
        CHECK(rackwright::ParseFromArray(parsed, bytes.data(), bytes.size()) == expected);
        if (!expected) continue;
        CHECK(serialized(*parsed) == serialized(model));
        CHECK(rackwright::SerializeToTail(*parsed, room.data(), room.size()) == serialized(model));
        CHECK(rackwright::SerializeToTail(random, room.data(), room.size()) == serialized(random));
    }
}

} // namespace

int main(int, char **arguments)
{
    generator.seed(std::strtoull(arguments[1], nullptr, 10));
    const uint64_t rounds = std::strtoull(arguments[2], nullptr, 10);
    google::protobuf::SetLogHandler(nullptr);
#define COMPARE(CLASS) compare<CLASS>(rounds);
    CLASSES(COMPARE)
    const auto &counted = rackwright::protobuf_counters;
    std::printf("%llu %llu\n", static_cast<unsigned long long>(counted.parsed),
                static_cast<unsigned long long>(counted.serialized));
    return 0;
}
