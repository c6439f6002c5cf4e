#include "enum_values.h"

#include <google/protobuf/compiler/cpp/helpers.h>

#include <algorithm>
#include <map>
#include <vector>

namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

constexpr int mapped_values = 40; // of which an entry can tell
constexpr size_t most_lines = 1 << 15;

// 64 values from a multiple of 64 on: which of them are known, and the line of another block that
// belongs where this one does, or 0.
struct Line {
    uint32_t block = 0;
    uint64_t known = 0;
    size_t link = 0;
};

struct Set {
    unsigned log2_places = 0;
    std::vector<Line> lines;
};

struct Bounds {
    int64_t least, most;
};

Bounds bounds_of(const EnumDescriptor *type)
{
    Bounds bounds = {INT32_MAX, INT32_MIN};
    for (int i = 0; i < type->value_count(); i++) {
        const int64_t value = type->value(i)->number();
        bounds = {std::min(bounds.least, value), std::max(bounds.most, value)};
    }
    return bounds;
}

std::map<uint32_t, uint64_t> blocks_of(const EnumDescriptor *type)
{
    std::map<uint32_t, uint64_t> blocks;
    for (int i = 0; i < type->value_count(); i++) {
        const auto value = static_cast<uint32_t>(type->value(i)->number());
        blocks[value / 64] |= uint64_t{1} << value % 64;
    }
    return blocks;
}

// Where the search for a block begins, modulo the number of places. The units compute the same.
uint32_t place_of(uint32_t block)
{
    return block ^ block >> 7 ^ block >> 13;
}

Set make_set(const EnumDescriptor *type)
{
    const auto blocks = blocks_of(type);
    Set set;
    while (size_t{1} << set.log2_places < blocks.size()) set.log2_places++;
    const size_t places = size_t{1} << set.log2_places;
    set.lines.resize(places);
    for (const auto &[block, known] : blocks) {
        size_t at = place_of(block) % places;
        if (set.lines[at].known != 0) {
            while (set.lines[at].link != 0) at = set.lines[at].link;
            set.lines[at].link = set.lines.size();
            at = set.lines.size();
            set.lines.emplace_back();
        }
        set.lines[at].block = block;
        set.lines[at].known = known;
    }
    return set;
}

std::string hexadecimal(uint64_t number)
{
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    do text.insert(text.begin(), digits[number % 16]);
    while ((number /= 16) != 0);
    return "0x" + text;
}

// A name of its own for each enum: what is not a letter or a digit in its full name is written out.
std::string name_of_set(const EnumDescriptor *type)
{
    std::string name = "rackwright_values_";
    for (const char each : type->full_name()) {
        if (each == '.') name += "_0";
        else if (each == '_') name += "_1";
        else name += each;
    }
    return name;
}

} // namespace

bool is_closed_enum(const FieldDescriptor *field)
{
    return field->type() == FieldDescriptor::TYPE_ENUM &&
           !google::protobuf::compiler::cpp::HasPreservingUnknownEnumSemantics(field);
}

bool needs_set(const EnumDescriptor *type)
{
    const Bounds bounds = bounds_of(type);
    return bounds.least < -128 || bounds.least > 127 || bounds.most - bounds.least >= mapped_values;
}

bool exceeds_sets(const EnumDescriptor *type)
{
    return blocks_of(type).size() > most_lines;
}

std::string set_of(const EnumDescriptor *type)
{
    std::string text = "\nalignas(16) static const uint64_t " + name_of_set(type) + "[] = {\n";
    for (const Line &line : make_set(type).lines) {
        text += "    " + hexadecimal(line.known) + "u, " +
                hexadecimal(uint64_t{line.link} << 32 | line.block) + "u,\n";
    }
    return text + "};\n";
}

std::string values_of(const EnumDescriptor *type)
{
    if (exceeds_sets(type)) return "0, nullptr";
    if (needs_set(type)) return std::to_string(make_set(type).log2_places) + ", " + name_of_set(type);
    const Bounds bounds = bounds_of(type);
    uint64_t known = 0;
    for (int i = 0; i < type->value_count(); i++) {
        known |= uint64_t{1} << (type->value(i)->number() - bounds.least);
    }
    const auto least = static_cast<uint8_t>(bounds.least);
    return hexadecimal(uint64_t{least} << mapped_values | known) + "u, nullptr";
}
