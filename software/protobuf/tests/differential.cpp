// Random messages of every class, and damaged ones, by the units and by the library: the same verdict,
// the same fields, the same bytes.
//
//   differential SEED ROUNDS
//
// CLASSES, a macro, names the classes. Prints how many messages the units did themselves.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <random>
#include <string>
#include <vector>

#include "check.h"
#include "rackwright/protobuf.h"
#include "schemas.h"
#include "serialized.h"
#include "set_field.h"

namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::mt19937_64 generator;

uint64_t below(uint64_t bound)
{
    return generator() % bound;
}

// Values of every type and length, by chance.
struct RandomValues {
    static uint64_t u64() { return generator() >> below(64); }
    static int64_t i64() { return static_cast<int64_t>(u64()); }
    static uint32_t u32() { return static_cast<uint32_t>(u64()); }
    static int32_t i32() { return static_cast<int32_t>(u64()); }
    static double real() { return static_cast<double>(u64()) - 3.5; }
    static float single() { return static_cast<float>(u64()) - 3.5f; }
    static bool boolean() { return below(2) == 1; }

    static const EnumValueDescriptor *value_of(const EnumDescriptor *type)
    {
        return type->value(static_cast<int>(below(static_cast<uint64_t>(type->value_count()))));
    }

    static std::string text()
    {
        std::string made(below(4) == 0 ? below(600) : below(24), ' ');
        for (char &each : made) each = static_cast<char>('a' + below(26));
        return made;
    }
};

std::vector<const FieldDescriptor *> fields_of(const Message &message)
{
    const auto *descriptor = message.GetDescriptor();
    std::vector<const FieldDescriptor *> fields;
    for (int i = 0; i < descriptor->field_count(); i++) fields.push_back(descriptor->field(i));
    const auto number = fields.size();
    descriptor->file()->pool()->FindAllExtensions(descriptor, &fields);
    for (size_t i = fields.size(); i > number; i--) {
        if (below(2) == 0) fields.erase(fields.begin() + static_cast<ptrdiff_t>(i) - 1);
    }
    return fields;
}

// Fields that no class has.
void add_unknown(Message *message)
{
    constexpr int number = 536'000'000;
    auto *fields = message->GetReflection()->MutableUnknownFields(message);
    fields->AddVarint(number, RandomValues::u64());
    if (below(2) == 0) fields->AddLengthDelimited(number + 1)->assign(RandomValues::text());
    if (below(2) == 0) fields->AddGroup(number)->AddFixed32(1, RandomValues::u32());
}

void fill(Message *message, int depth)
{
    if (below(6) == 0) add_unknown(message);
    for (const FieldDescriptor *field : fields_of(*message)) {
        if (below(3) != 0 && !field->is_required()) continue;
        const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
        const uint64_t count = field->is_repeated() ? below(6) : 1;
        if (is_message && depth == 0) continue;
        for (uint64_t element = 0; element < count; element++) {
            Message *part = set_field(message, field, RandomValues());
            if (is_message) fill(part, depth - 1);
        }
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
        // Maps are in another form before the library has looked at them than after.
        for (int turn = 0; turn < 2; turn++) {
            CHECK(rackwright::SerializeToTail(*parsed, room.data(), room.size()) == serialized(model));
            CHECK(serialized(*parsed) == serialized(model));
        }
        CHECK(rackwright::SerializeToTail(random, room.data(), room.size()) == serialized(random));
        // One object more than once: what is hidden of it for one request must be there for the other.
        const Class *const batch[] = {parsed, &random, parsed, &model, &random};
        std::string_view outputs[5];
        CHECK(rackwright::SerializeBatch(batch, 5, room.data(), room.size(), outputs));
        for (int i = 0; i < 5; i++) CHECK(outputs[i] == serialized(*batch[i]));
    }
}

// An entry of a map with a field that no entry has, which the library drops.
void drop_what_is_unknown_in_an_entry()
{
    google::protobuf::Arena arena;
    rackwright::tests::Extended expected;
    for (const std::string entry : {"\x08\x63\x18\x01", "\x08\x64\x12\x02\x78\x01\x18\x01"}) {
        auto *parsed = google::protobuf::Arena::CreateMessage<rackwright::tests::Extended>(&arena);
        const std::string bytes = "\xb2\x01" + std::string(1, static_cast<char>(entry.size())) + entry;
        CHECK(expected.ParseFromString(bytes));
        CHECK(rackwright::ParseFromArray(parsed, bytes.data(), bytes.size()));
        char room[100];
        CHECK(rackwright::SerializeToTail(*parsed, room, sizeof room) == serialized(expected));
        CHECK(serialized(*parsed) == serialized(expected));
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
    drop_what_is_unknown_in_an_entry();
    const auto &counted = rackwright::protobuf_counters;
    std::printf("%llu %llu\n", static_cast<unsigned long long>(counted.parsed),
                static_cast<unsigned long long>(counted.serialized));
    return 0;
}
