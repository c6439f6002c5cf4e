#include "rackwright/protobuf_type.h"

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

// Word 1 of an entry, but for the case of a oneof.
uint64_t detail_of(const Field &field, const Type *message)
{
    if (message != nullptr) return address_of(message->table);
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

bool is_pointer(const Field &field)
{
    return wire_types[field.type] == 2;
}

// An entry of the list of a node's table.
void write_node_entry(uint64_t *element, const Field &field, size_t offset, const Type *message)
{
    element[0] = entry_of(field, offset, no_hasbit) | (is_pointer(field) ? lies_inline : 0);
    element[1] = detail_of(field, message);
    element[2] = tag_of(field);
    element[3] = 0;
}

} // namespace

Builder::Builder(Type &type, uint64_t *list, uint64_t *image, uint32_t first, uint32_t last,
                 const Samples &samples)
    : type_(type), list_(list), image_(image), samples_(samples), first_(first)
{
    uint64_t *header = type_.table;
    std::memcpy(&header[0], samples_.objects[0], sizeof(uint64_t));
    header[1] = samples_.bytes;
    header[2] = 0;
    header[3] = uint64_t{first} << 32 | last;
    header[4] = address_of(image_);
    header[5] = address_of(list_);
    header[7] = 0;
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
    hasbits_tell_all_ &= hasbit != no_hasbit;
    add(field, entry_of(known, offset(member), hasbit), case_bits | detail_of(known, message), 0);
}

void Builder::map(const Field &field, const void *member, const Type &entry, uint64_t nodes)
{
    hasbits_tell_all_ = false;
    add(field, entry_of(field, offset(member), no_hasbit) | is_map, detail_of(field, &entry), nodes);
}

void Builder::add(const Field &field, uint64_t entry, uint64_t detail, uint64_t nodes)
{
    uint64_t *place = type_.table + header_words + entry_words * (field.number - first_);
    place[0] = entry;
    place[1] = detail;
    uint64_t *element = list_ + list_words * fields_++;
    element[0] = field.in_entry ? entry | uint64_t{no_hasbit} << 32 : entry;
    element[1] = detail;
    element[2] = tag_of(field);
    element[3] = nodes;
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

// Copies the first sample and notes where it holds its arena's address; false when something else
// depends on where an object is.
bool Builder::write_image()
{
    const size_t words = (samples_.bytes + 7) / 8;
    const size_t padded = (samples_.bytes + 15) / 16 * 2;
    std::memset(image_, 0, (padded + (padded + 63) / 64) * sizeof(uint64_t));
    std::memcpy(image_, samples_.objects[0], samples_.bytes);
    for (size_t i = 0; i < words; i++) {
        uint64_t other = 0;
        std::memcpy(&other, static_cast<const char *>(samples_.objects[1]) + 8 * i,
                    i + 1 < words ? 8 : samples_.bytes - 8 * i);
        if (image_[i] == other) continue;
        if (image_[i] != address_of(samples_.arenas[0])) return false;
        if (other != address_of(samples_.arenas[1])) return false;
        image_[padded + i / 64] |= uint64_t{1} << (i % 64);
    }
    return true;
}

void Builder::finish(unsigned limits)
{
    const bool parses = write_image() && (limits & parses_nothing) == 0;
    const bool serializes = (limits & serializes_nothing) == 0;
    type_.table[6] = uint64_t{!parses} << 33 | uint64_t{!serializes} << 32 | fields_;
    type_.parses = parses;
    type_.serializes = serializes;
    const bool one_word = type_.table[2] >> 32 == sizeof(uint32_t);
    if (one_word && hasbits_tell_all_) type_.only_hasbits = static_cast<uint32_t>(type_.table[2]);
}

} // namespace rackwright::protobuf
