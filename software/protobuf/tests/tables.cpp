// Compares descriptor tables with what the library's reflection does to real objects: sets one field at
// a time and looks where the object changed.
//
// CLASSES, a macro, names the classes to be compared.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <memory>
#include <string>

#include "check.h"
#include "rackwright/protobuf_calls.h"
#include "rackwright/protobuf_type.h"
#include "schemas.h"
#include "set_field.h"
#include "tables.h"
#include "tables_of_enums.h"
#include "tables_of_maps.h"

namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using rackwright::protobuf::Type;

bool is_number(const FieldDescriptor *field)
{
    return field->cpp_type() != FieldDescriptor::CPPTYPE_STRING &&
           field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE;
}

// Whether the field's value lies where the entry says.
bool lies_there(const Message &message, const FieldDescriptor *field, const Entry &entry)
{
    if (field->is_repeated()) {
        return at<int>(message, entry.offset() + (is_number(field) ? 0 : 8)) == 1;
    }
    switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: {
        const auto tagged = at<uint64_t>(message, entry.offset());
        return *reinterpret_cast<const std::string *>(tagged & ~uint64_t{3}) ==
               "a text that is not short";
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
        return at<const Message *>(message, entry.offset()) ==
               &message.GetReflection()->GetMessage(message, field);
    case FieldDescriptor::CPPTYPE_BOOL: return at<bool>(message, entry.offset());
    case FieldDescriptor::CPPTYPE_DOUBLE: return at<double>(message, entry.offset()) == 7.25;
    case FieldDescriptor::CPPTYPE_FLOAT: return at<float>(message, entry.offset()) == 7.25f;
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
        return at<uint64_t>(message, entry.offset()) == 0x5a5a5a5a5a5a5a5a;
    case FieldDescriptor::CPPTYPE_ENUM:
        return at<int>(message, entry.offset()) ==
               message.GetReflection()->GetEnumValue(message, field);
    default: return at<uint32_t>(message, entry.offset()) == 0x5a5a5a5a;
    }
}

// The hasbits of an object, found by the header.
std::string hasbits_of(const Message &message, const Type &type)
{
    const uint64_t word = type.table[2];
    return {reinterpret_cast<const char *>(&message) + static_cast<uint32_t>(word), word >> 32};
}

void compare_field(const FieldDescriptor *field, const Message &empty, const Type &type,
                   const Entry &entry)
{
    const std::unique_ptr<Message> message(empty.New());
    CHECK(rackwright::protobuf::is_clear(type, *message));
    set_field(message.get(), field, Marks());
    CHECK(!rackwright::protobuf::is_clear(type, *message));
    CHECK(entry.bit(63) == field->is_repeated() && entry.bit(51) == field->is_map());
    CHECK(entry.type() == static_cast<unsigned>(field->type()));
    CHECK(entry.bit(54) == field->is_packed());
    if (!field->is_map()) CHECK(lies_there(*message, field, entry));
    if (field->enum_type() != nullptr) compare_enum(field, entry);

    std::string expected = hasbits_of(empty, type);
    const bool has_hasbit = field->has_presence() && field->real_containing_oneof() == nullptr &&
                            (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE ||
                             field->has_optional_keyword() || field->is_required());
    CHECK((entry.hasbit() != rackwright::protobuf::no_hasbit) == has_hasbit);
    if (has_hasbit) expected.at(entry.hasbit() / 8) |= static_cast<char>(1 << entry.hasbit() % 8);
    CHECK(hasbits_of(*message, type) == expected);

    CHECK((entry.oneof_case() != 0) == (field->real_containing_oneof() != nullptr));
    if (entry.oneof_case() != 0) {
        CHECK(at<int>(*message, entry.oneof_case()) == field->number());
    }
    CHECK(entry.bit(55) == (!field->is_repeated() && !field->has_presence()));
    message->Clear();
    // Of those which do not look so, entries and texts keep their room.
    const bool keeps_room = field->is_map() || (entry.bit(55) && !is_number(field));
    CHECK(rackwright::protobuf::is_clear(type, *message) || keeps_room);
}

// Of messages the serializer has tables of their own; of a class with extensions, it has other hasbits first.
void compare_row(const Type &type, const Entry &entry, const uint64_t *row)
{
    const uint64_t shift = 8 * (static_cast<uint32_t>(type.table[2]) -
                                static_cast<uint32_t>(type.serializer_table[2]));
    const bool has_hasbit = entry.hasbit() != rackwright::protobuf::no_hasbit;
    const uint64_t expected = entry.word + (has_hasbit ? shift << 32 : 0);
    if (entry.bit(57)) { // a group: a message whose table refuses it
        const auto *refusing = reinterpret_cast<const uint64_t *>(row[1] << 16 >> 16);
        CHECK(row[0] >> 58 == (entry.bit(63) ? 32u : 0u) + 11 && refusing[6] >> 32 == 1);
        CHECK((row[0] & 0x1ffffffffffffff) == (expected & 0x1ffffffffffffff));
        return;
    }
    CHECK(row[0] == expected);
    const bool has_table = entry.type() == 11 && !entry.bit(57);
    if (!has_table) {
        CHECK(row[1] == entry.detail);
        return;
    }
    const auto *end = type.messages + type.message_count;
    const auto *field = std::find_if(type.messages, end, [&](const auto &each) {
        return each.number == static_cast<uint32_t>(row[2]) >> 3;
    });
    CHECK(field != end && field->offset == entry.offset() && field->case_offset == entry.oneof_case());
    CHECK(field->repeated == entry.bit(63) && field->map == entry.bit(51));
    const uint64_t case_bits = entry.detail >> 48 << 48;
    CHECK(entry.detail == (case_bits | reinterpret_cast<uint64_t>(field->type->table)));
    CHECK(row[1] == (case_bits | reinterpret_cast<uint64_t>(field->type->serializer_table)));
}

template <class Class> void compare()
{
    const Type &type = *rackwright::protobuf::type_of<Class>();
    const Descriptor *descriptor = Class::descriptor();
    Class empty;
    const uint64_t *table = type.table;
    CHECK(table[0] == at<uint64_t>(empty, 0));
    CHECK(table[1] == sizeof(Class));
    const uint64_t first = table[3] >> 32, last = static_cast<uint32_t>(table[3]);
    uint64_t listed = 0;
    uint32_t previous = 0;
    const auto *list = reinterpret_cast<const uint64_t *>(table[5]);
    for (uint64_t number = first; number <= last; number++) {
        const FieldDescriptor *field = descriptor->FindFieldByNumber(static_cast<int>(number));
        const uint64_t *words = table + 8 + 2 * (number - first);
        const Entry entry{words[0], words[1]};
        if (field == nullptr || !type.parses) {
            CHECK(words[0] == 0);
            continue;
        }
        compare_field(field, empty, type, entry);
        if (field->is_map()) compare_map(field, empty, entry, list + 4 * listed);
        compare_row(type, entry, list + 4 * listed);
        CHECK(list[4 * listed + 2] >> 3 == number && number > previous);
        previous = static_cast<uint32_t>(number);
        listed++;
    }
    CHECK(listed == static_cast<uint32_t>(table[6]));
    CHECK(listed == static_cast<uint64_t>(type.parses ? descriptor->field_count() : 0));
    const bool extends = type.serializer_table != table;
    CHECK(extends == (type.parses && descriptor->extension_range_count() > 0));
    CHECK((table[6] >> 33 & 1) == !type.parses);
    CHECK((table[6] >> 32 & 1) == (!type.serializes || extends));
    CHECK((type.serializer_table[6] >> 32 & 1) == !type.serializes);

    // The image is what a fresh object on an arena is, in memory that was zero.
    alignas(16) char block[sizeof(Class) + 1024] = {};
    google::protobuf::Arena arena(block, sizeof block);
    const auto *fresh = google::protobuf::Arena::CreateMessage<Class>(&arena);
    const auto *image = reinterpret_cast<const uint64_t *>(table[4]);
    const uint64_t *map = image + (sizeof(Class) + 15) / 16 * 2;
    CHECK(table[4] % 16 == 0 && reinterpret_cast<uint64_t>(table) % 16 == 0);
    for (size_t i = 0; type.parses && i < sizeof(Class) / 8; i++) {
        const bool holds_arena = map[i / 64] >> (i % 64) & 1;
        const auto word = at<uint64_t>(*fresh, 8 * i);
        uint64_t expected = holds_arena ? reinterpret_cast<uint64_t>(&arena) : image[i];
        for (size_t own = 0; own < type.own_count; own++) {
            if (type.own[own].at == 8 * i) expected = reinterpret_cast<uint64_t>(fresh) + type.own[own].of;
        }
        CHECK(word == expected);
    }
    std::printf("%s: %s%s%s\n", descriptor->full_name().c_str(), type.parses ? "parses" : "-",
                type.serializes ? " serializes" : " -",
                type.holds & rackwright::protobuf::required_fields ? " required" : "");
}

} // namespace

int main()
{
#define COMPARE(CLASS) compare<CLASS>();
    CLASSES(COMPARE)
    return 0;
}
