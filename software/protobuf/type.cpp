#include "rackwright/protobuf_type.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "rackwright/protobuf_map.h"

namespace rackwright::protobuf {

namespace {

// Word 0 of an entry.
uint64_t entry_of(const Field &field, uint64_t offset, unsigned hasbit)
{
    return uint64_t{field.repeated} << 63 | uint64_t{field.type} << 58 |
           uint64_t{field.unsupported} << 57 | uint64_t{field.utf8} << 56 |
           uint64_t{field.implicit_presence} << 55 | uint64_t{field.packed} << 54 |
           uint64_t{field.closed_enum} << 53 | uint64_t{field.set != nullptr} << 52 |
           uint64_t{field.in_entry} << 49 | uint64_t{hasbit} << 32 | offset;
}

// Bits of word 0 that only some tables have.
constexpr uint64_t is_map = uint64_t{1} << 51;
constexpr uint64_t lies_inline = uint64_t{1} << 50;

// What follows the field number in a tag, by the type from TYPE_DOUBLE (1) to TYPE_SINT64 (18).
constexpr uint8_t wire_types[] = {0, 1, 5, 0, 0, 0, 1, 5, 0, 2, 3, 2, 2, 0, 0, 5, 1, 0, 0};

uint64_t tag_of(const Field &field)
{
    const uint8_t wire_type = field.packed ? 2 : wire_types[field.type];
    return uint64_t{field.number} << 3 | wire_type;
}

uint64_t address_of(const void *pointer)
{
    return reinterpret_cast<uint64_t>(pointer);
}

// Word 1 of an entry, but for the case of a oneof and the table of a message.
uint64_t detail_of(const Field &field)
{
    return address_of(field.set) | field.values;
}

bool is_message(const Field &field)
{
    return field.type == 11;
}

// A field of a message class that has no table is the library's.
Field with_table(const Field &field, const Type *message)
{
    Field known = field;
    if (is_message(field) && message == nullptr) known.unsupported = true;
    return known;
}

bool has_64_bits(const Field &field)
{
    constexpr unsigned those = 1u << 1 | 1u << 3 | 1u << 4 | 1u << 6 | 1u << 16 | 1u << 18;
    return those >> field.type & 1;
}

bool is_pointer(const Field &field)
{
    return wire_types[field.type] == 2;
}

// An entry of the list of a node's table.
void write_node_entry(uint64_t *element, const Field &field, size_t offset, const Type *message)
{
    element[0] = entry_of(field, offset, no_hasbit) | (is_pointer(field) ? lies_inline : 0);
    element[1] = message == nullptr ? detail_of(field) : address_of(message->serializer_table);
    element[2] = tag_of(field);
    element[3] = 0;
}

// A header of objects that can't be serialized.
alignas(64) uint64_t refusing[header_words] = {0, 0, 0, 0, 0, 0, uint64_t{1} << 32, 0};

// A field that is left to the library, and that may be absent without a hasbit which says so: the serializer
// takes those as present, unless they are messages. Values of enums are all the same to it.
void refuse_when_present(uint64_t *element)
{
    constexpr uint64_t type_bits = uint64_t{31} << 58, message_type = uint64_t{11} << 58;
    constexpr uint64_t enum_type = uint64_t{14} << 58, unsupported = uint64_t{1} << 57;
    element[0] &= ~unsupported;
    if ((element[0] & type_bits) == enum_type) return;
    element[0] = (element[0] & ~type_bits) | message_type;
    element[1] |= address_of(refusing);
}

// By the address of the table of virtual functions.
std::unordered_map<uint64_t, const Type *> &types_by_class()
{
    static std::unordered_map<uint64_t, const Type *> types;
    return types;
}

// Classes of entries that a unit makes, by the same address. It stays as it is once a program has begun.
std::unordered_set<uint64_t> &classes_of_entries()
{
    static std::unordered_set<uint64_t> classes;
    return classes;
}

uint64_t class_of(const google::protobuf::Message &object)
{
    uint64_t functions;
    std::memcpy(&functions, &object, sizeof functions);
    return functions;
}

// Classes that were asked for lately, by some bits of that address.
struct Asked {
    uint64_t functions;
    const Type *type;
} asked[64];

} // namespace

const Type *type_of_object(const google::protobuf::Message &object)
{
    const uint64_t functions = class_of(object);
    Asked &place = asked[functions / 64 % std::size(asked)];
    if (place.functions != functions) {
        const auto found = types_by_class().find(functions);
        place = {functions, found == types_by_class().end() ? nullptr : found->second};
    }
    return place.type;
}

bool is_parsed_entry(const google::protobuf::Message &entry)
{
    return classes_of_entries().count(class_of(entry)) != 0;
}

Builder::Builder(Type &type, const Room &room, uint32_t first, uint32_t last, const Samples &samples)
    : type_(type), room_(room), samples_(samples), first_(first)
{
    uint64_t *header = type_.table;
    std::memcpy(&header[0], samples_.objects[0], sizeof(uint64_t));
    header[1] = samples_.bytes;
    header[2] = 0;
    header[3] = uint64_t{first} << 32 | last;
    header[4] = address_of(room_.image);
    header[5] = address_of(room_.list);
    header[7] = 0;
    types_by_class()[header[0]] = &type_;
    type_.messages = room_.messages;
    type_.zeros = room_.zeros;
    type_.defaults = room_.defaults;
}

uint64_t Builder::offset(const void *member) const
{
    return address_of(member) - address_of(samples_.objects[0]);
}

void Builder::hasbits(const void *member, size_t bytes)
{
    type_.table[2] = uint64_t{bytes} << 32 | offset(member);
}

void Builder::field(const Field &field, const void *member, unsigned hasbit,
                    const void *oneof_case, const Type *message)
{
    const Field known = with_table(field, message);
    const uint64_t case_bits = oneof_case == nullptr ? 0 : offset(oneof_case) / 4 << 48;
    if (hasbit == no_hasbit) tell_when_clear(field, offset(member), oneof_case);
    add(field, entry_of(known, offset(member), hasbit), case_bits | detail_of(known), message, 0);
}

void Builder::map(const Field &field, const void *member, const Type &entry, uint64_t nodes)
{
    classes_of_entries().insert(entry.table[0]);
    // The repeated field of entries, if there is one, and how many elements the hash table has.
    for (const unsigned at : {16, 20, 72}) add_zero(offset(member) + at);
    add(field, entry_of(field, offset(member), no_hasbit) | is_map, detail_of(field), &entry, nodes);
}

void Builder::add_zero(uint64_t offset)
{
    room_.zeros[type_.zero_count++] = static_cast<uint32_t>(offset);
}

// Notes what tells that an object does not have this field, which has no hasbit.
void Builder::tell_when_clear(const Field &field, uint64_t offset, const void *oneof_case)
{
    const bool is_number = wire_types[field.type] != 2 && wire_types[field.type] != 3;
    if (oneof_case != nullptr) {
        const uint64_t at = this->offset(oneof_case);
        const uint32_t *const end = type_.zeros + type_.zero_count;
        if (std::find(type_.zeros, end, at) == end) add_zero(at);
    } else if (field.repeated) {
        add_zero(offset + (is_number ? 0 : 8)); // the size
    } else if (is_number) {
        add_zero(offset / 4 * 4); // of a bool with its neighbours, which have no hasbits either
        if (has_64_bits(field)) add_zero(offset + 4);
    } else {
        room_.defaults[type_.default_count++] = static_cast<uint32_t>(offset);
    }
}

void Builder::add(const Field &field, uint64_t entry, uint64_t detail, const Type *message,
                  uint64_t nodes)
{
    uint64_t *place = type_.table + header_words + entry_words * (field.number - first_);
    place[0] = entry;
    place[1] = detail | (message == nullptr ? 0 : address_of(message->table));
    const bool has_hasbit = (entry >> 32 & no_hasbit) != no_hasbit;
    uint64_t *element = room_.list + list_words * fields_;
    element[0] = entry + (has_hasbit ? uint64_t{shift_} << 32 : 0);
    if (field.in_entry) element[0] |= uint64_t{no_hasbit} << 32;
    element[1] = detail | (message == nullptr ? 0 : address_of(message->serializer_table));
    element[2] = tag_of(field);
    element[3] = nodes;
    if (entry >> 57 & 1) refuse_when_present(element);
    if (message != nullptr) add_message(field, entry, detail, *message, nodes);
    fields_++;
    const bool is_text = (field.type == 9 || field.type == 12) && !field.unsupported;
    (is_text ? texts_ : others_) |= uint64_t{1} << field.number % 64;
}

void Builder::add_message(const Field &field, uint64_t entry, uint64_t detail, const Type &message,
                          uint64_t nodes)
{
    const auto hasbit = static_cast<unsigned>(entry >> 32) & no_hasbit;
    MessageField &made = room_.messages[type_.message_count++];
    made = {&message, field.number, static_cast<uint32_t>(entry), 0, 0, 0, field.repeated, false, false, nodes};
    made.case_offset = static_cast<uint32_t>(detail >> 48) * 4;
    made.map = (entry & is_map) != 0;
    made.holds_own_addresses = (message.holds & own_addresses) != 0;
    if (hasbit == no_hasbit) return;
    made.hasbits = static_cast<uint32_t>(type_.table[2]) + hasbit / 32 * 4;
    made.bit = 1u << hasbit % 32;
}

// The set of extensions lies before the hasbits. At 8 it has 16 bits with the room it has, which is 1, 4, 16,
// 64 or 256 once there was an extension, and 16 bits whose highest is set when there is more. The
// serializer takes that for hasbits, too, those of fields that it leaves to the library.
void Builder::extensions(const Extensions &extensions)
{
    type_.extensions = extensions;
    type_.extensions.offset = static_cast<uint32_t>(offset(extensions.set));
    const uint64_t start = type_.extensions.offset + 8, hasbits = type_.table[2];
    add_zero(start);
    const uint64_t bytes = hasbits >> 32, at = bytes == 0 ? start : static_cast<uint32_t>(hasbits);
    shift_ = static_cast<unsigned>(8 * (at - start));
    room_.header[2] = (at - start + (bytes == 0 ? sizeof(uint32_t) : bytes)) << 32 | start;
}

void Builder::add_extension_rows()
{
    uint64_t *element = room_.list + list_words * fields_;
    for (const unsigned bit : {0, 2, 4, 6, 8, 31}) {
        Field field = {1, 5}; // an int32, whose number is never written
        field.unsupported = true;
        element[0] = entry_of(field, type_.extensions.offset + 8, bit);
        element[1] = element[3] = 0;
        element[2] = tag_of(field);
        element += list_words;
    }
}

uint64_t describe_nodes(NodeTable &table, const NodeLayout &layout, const Field &key,
                        const Field &value, const Type *message)
{
    constexpr uint64_t is_bare = uint64_t{1} << 34;
    table.header[1] = layout.next + sizeof(void *);
    table.header[5] = address_of(table.list);
    table.header[6] = is_bare | 2;
    write_node_entry(table.list, key, 0, nullptr);
    write_node_entry(table.list + list_words, with_table(value, message), layout.value, message);
    constexpr size_t most = (1 << 11) * sizeof(void *);
    if (layout.next >= most) return 0;
    return layout.next / sizeof(void *) << 53 | uint64_t{key.type} << 48 | address_of(&table);
}

// Whether a word of the first sample, which is another in the second one, is the address of a part of the
// object it is in.
bool Builder::note_own_address(size_t word, uint64_t other)
{
    const uint64_t of = room_.image[word] - address_of(samples_.objects[0]);
    const bool is_own = of < samples_.bytes && of == other - address_of(samples_.objects[1]);
    if (!is_own || type_.own_count == std::size(type_.own)) return false;
    type_.own[type_.own_count++] = {static_cast<uint32_t>(8 * word), static_cast<uint32_t>(of)};
    room_.image[word] = 0;
    return true;
}

// Copies the first sample and notes where it holds its arena's address, and addresses in itself; false
// when something else depends on where an object is.
bool Builder::write_image()
{
    uint64_t *const image = room_.image;
    const size_t words = (samples_.bytes + 7) / 8;
    const size_t padded = (samples_.bytes + 15) / 16 * 2;
    std::memset(image, 0, (padded + (padded + 63) / 64) * sizeof(uint64_t));
    std::memcpy(image, samples_.objects[0], samples_.bytes);
    for (size_t i = 0; i < words; i++) {
        uint64_t other = 0;
        std::memcpy(&other, static_cast<const char *>(samples_.objects[1]) + 8 * i,
                    i + 1 < words ? 8 : samples_.bytes - 8 * i);
        if (image[i] == other || note_own_address(i, other)) continue;
        if (image[i] != address_of(samples_.arenas[0])) return false;
        if (other != address_of(samples_.arenas[1])) return false;
        image[padded + i / 64] |= uint64_t{1} << (i % 64);
    }
    return true;
}

// Where objects without fields have their only member, the size when serialized: 0 as long as there are no unknown ones.
constexpr uint32_t cached_size_without_fields = 16;

void Builder::finish(unsigned limits)
{
    const bool parses = write_image() && (limits & parses_nothing) == 0;
    const bool serializes = (limits & serializes_nothing) == 0;
    type_.table[6] = uint64_t{!parses} << 33 | uint64_t{!serializes} << 32 | fields_;
    type_.table[7] = texts_ & ~others_;
    if (type_.extensions.set != nullptr) {
        add_extension_rows();
        uint64_t *const header = type_.serializer_table, hasbits = header[2];
        std::memcpy(header, type_.table, header_words * sizeof *header);
        header[2] = hasbits;
        header[6] += extension_rows;
        type_.table[6] |= uint64_t{1} << 32;
    }
    type_.parses = parses;
    type_.serializes = serializes;
    if (!parses) return;
    const uint64_t hasbits = type_.table[2];
    for (uint64_t at = 0; at < hasbits >> 32; at += 4) add_zero(static_cast<uint32_t>(hasbits) + at);
    if (type_.zero_count == 1 && type_.default_count == 0) type_.only_zero = type_.zeros[0];
    const bool is_bare = fields_ + type_.zero_count + type_.default_count == 0;
    if (is_bare && type_.extensions.set == nullptr) type_.only_zero = cached_size_without_fields;
}

} // namespace rackwright::protobuf
