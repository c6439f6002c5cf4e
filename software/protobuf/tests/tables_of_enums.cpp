#include "tables_of_enums.h"

#include "check.h"

namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

// Looks a value up as the units' contract page says.
bool is_known(const Entry &entry, int32_t value)
{
    if (!entry.bit(52)) {
        const int64_t index = value - int64_t{static_cast<int8_t>(entry.detail >> 40)};
        return 0 <= index && index < 40 && (entry.detail >> index & 1) == 1;
    }
    const auto number = static_cast<uint32_t>(value), block = number / 64;
    const uint64_t address = entry.detail & 0xfffffffffff0, log2_places = entry.detail & 15;
    const auto *set = reinterpret_cast<const uint64_t *>(address);
    uint64_t line = (block ^ block >> 7 ^ block >> 13) & ((1u << log2_places) - 1);
    while (static_cast<uint32_t>(set[2 * line + 1]) != block) {
        line = set[2 * line + 1] >> 32;
        if (line == 0) return false;
    }
    return set[2 * line] >> number % 64 & 1;
}

} // namespace

void compare_enum(const FieldDescriptor *field, const Entry &entry)
{
    const EnumDescriptor *type = field->enum_type();
    const bool is_closed = field->file()->syntax() == google::protobuf::FileDescriptor::SYNTAX_PROTO2;
    CHECK(entry.bit(53) == is_closed);
    if (!is_closed) return;
    for (int i = 0; i < type->value_count(); i++) {
        for (const int64_t step : {-4096, -64, -1, 0, 1, 40, 64, 128, 1 << 20}) {
            const auto value = static_cast<int32_t>(type->value(i)->number() + step);
            CHECK(is_known(entry, value) == (type->FindValueByNumber(value) != nullptr));
        }
    }
}
