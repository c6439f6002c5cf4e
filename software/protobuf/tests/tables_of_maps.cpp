#include "tables_of_maps.h"

#include <memory>
#include <string>

#include "check.h"
#include "rackwright/protobuf_type.h"
#include "set_field.h"
#include "tables_of_enums.h"

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The words of a table that stand for `field`, which is the key or the value of a map.
const uint64_t *words_of_part(const uint64_t *list, const FieldDescriptor *part)
{
    const uint64_t *words = list + 4 * (part->number() - 1);
    CHECK((words[0] >> 58 & 31) == static_cast<uint64_t>(part->type()));
    CHECK((words[0] >> 32 & 0xffff) == rackwright::protobuf::no_hasbit && (words[0] >> 49 & 1) == 1);
    CHECK(words[2] == (static_cast<uint64_t>(part->number()) << 3 | (words[2] & 7)));
    return words;
}

bool is_text(const FieldDescriptor *field)
{
    return field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
}

// The bytes of a part that is not a message, where the words say that it lies.
std::string part_at(const char *object, const uint64_t *words, const FieldDescriptor *part)
{
    const char *place = object + static_cast<uint32_t>(words[0]);
    const bool lies_inline = words[0] >> 50 & 1;
    if (is_text(part)) {
        uint64_t pointer;
        std::memcpy(&pointer, place, sizeof pointer);
        return lies_inline ? *reinterpret_cast<const std::string *>(place)
                           : *reinterpret_cast<const std::string *>(pointer & ~uint64_t{3});
    }
    switch (part->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL: return {place, 1};
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_ENUM: return {place, 4};
    default: return {place, 8};
    }
}

// The same by reflection of the entry.
std::string part_of(const Message &entry, const FieldDescriptor *part)
{
    const auto *reflection = entry.GetReflection();
    const auto bytes = [](auto value) {
        return std::string(reinterpret_cast<const char *>(&value), sizeof value);
    };
    switch (part->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: return reflection->GetString(entry, part);
    case FieldDescriptor::CPPTYPE_BOOL: return bytes(reflection->GetBool(entry, part));
    case FieldDescriptor::CPPTYPE_INT32: return bytes(reflection->GetInt32(entry, part));
    case FieldDescriptor::CPPTYPE_UINT32: return bytes(reflection->GetUInt32(entry, part));
    case FieldDescriptor::CPPTYPE_FLOAT: return bytes(reflection->GetFloat(entry, part));
    case FieldDescriptor::CPPTYPE_ENUM: return bytes(reflection->GetEnumValue(entry, part));
    case FieldDescriptor::CPPTYPE_INT64: return bytes(reflection->GetInt64(entry, part));
    case FieldDescriptor::CPPTYPE_UINT64: return bytes(reflection->GetUInt64(entry, part));
    case FieldDescriptor::CPPTYPE_DOUBLE: return bytes(reflection->GetDouble(entry, part));
    default: return {};
    }
}

} // namespace

void compare_map(const FieldDescriptor *field, const Message &empty, const Entry &entry,
                 const uint64_t *listed)
{
    const std::unique_ptr<Message> message(empty.New());
    Message *element = message->GetReflection()->AddMessage(message.get(), field);
    const FieldDescriptor *parts[] = {field->message_type()->map_key(), field->message_type()->map_value()};
    for (const FieldDescriptor *part : parts) set_field(element, part, Marks());
    CHECK(at<int>(*message, entry.offset() + 64) == 1);
    const auto *repeated = at<const char *>(*message, entry.offset() + 16);
    const auto *pointers = *reinterpret_cast<const char *const *>(repeated + 16);
    CHECK(*reinterpret_cast<const Message *const *>(pointers + 8) == element);
    const auto *entry_table = reinterpret_cast<const uint64_t *>(entry.detail);
    const auto *entry_list = reinterpret_cast<const uint64_t *>(entry_table[5]);
    // An entry of the library is of another class than one that a unit makes, which tells them apart.
    CHECK(entry_table[0] != at<uint64_t>(*element, 0) && !rackwright::protobuf::is_parsed_entry(*element));
    CHECK(static_cast<uint32_t>(entry_table[6]) == 2);
    const auto hasbits = static_cast<uint32_t>(entry_table[2]);
    CHECK(entry_table[2] >> 32 == 4 && at<uint32_t>(*element, hasbits) == 3);

    CHECK(message->ByteSizeLong() > 0); // whoever reads the map has it brought up to date
    CHECK(at<uint64_t>(*message, entry.offset() + 72) == 1);
    const auto first = at<uint64_t>(*message, entry.offset() + 96);
    const auto *buckets = at<const char *const *>(*message, entry.offset() + 104);
    const char *node = buckets[first];
    const auto *node_table = reinterpret_cast<const uint64_t *>(listed[3] & 0xffffffffffff);
    const auto *node_list = reinterpret_cast<const uint64_t *>(node_table[5]);
    const uint64_t next = (listed[3] >> 53) * 8;
    CHECK(node_table[6] == (uint64_t{1} << 34 | 2) && node_table[1] == next + 8);
    CHECK((listed[3] >> 48 & 31) == static_cast<uint64_t>(parts[0]->type()));
    CHECK(*reinterpret_cast<const char *const *>(node + next) == nullptr);
    for (const FieldDescriptor *part : parts) {
        const uint64_t *in_entry = words_of_part(entry_list, part);
        const uint64_t *in_node = words_of_part(node_list, part);
        if (part->enum_type() != nullptr) compare_enum(part, {in_entry[0], in_entry[1]});
        if (part->message_type() != nullptr) {
            // In a node lies an object of the class, in an entry a pointer to one.
            const auto *object = at<const char *>(*element, static_cast<uint32_t>(in_entry[0]));
            CHECK(std::memcmp(object, node + static_cast<uint32_t>(in_node[0]), 8) == 0);
            CHECK(in_entry[1] == in_node[1] && (in_node[0] >> 50 & 1) == 1);
            continue;
        }
        const std::string expected = part_of(*element, part);
        CHECK(part_at(reinterpret_cast<const char *>(element), in_entry, part) == expected);
        CHECK(part_at(node, in_node, part) == expected);
    }
}
