// What comparing descriptor tables with real objects needs, whatever the field.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <cstring>

// What a table says of a field.
struct Entry {
    uint64_t word, detail;

    bool bit(unsigned index) const { return word >> index & 1; }
    unsigned type() const { return word >> 58 & 31; }
    unsigned hasbit() const { return word >> 32 & 0xffff; }
    uint32_t offset() const { return static_cast<uint32_t>(word); }
    uint64_t oneof_case() const { return (detail >> 48) * 4; }
};

// What an object holds at an offset.
template <class T> T at(const google::protobuf::Message &object, uint64_t offset)
{
    T value;
    std::memcpy(&value, reinterpret_cast<const char *>(&object) + offset, sizeof value);
    return value;
}

// A value of each type that is not zero.
struct Marks {
    static int32_t i32() { return 0x5a5a5a5a; }
    static int64_t i64() { return 0x5a5a5a5a5a5a5a5a; }
    static uint32_t u32() { return 0x5a5a5a5a; }
    static uint64_t u64() { return 0x5a5a5a5a5a5a5a5a; }
    static double real() { return 7.25; }
    static float single() { return 7.25f; }
    static bool boolean() { return true; }
    static const char *text() { return "a text that is not short"; }

    static const google::protobuf::EnumValueDescriptor *
    value_of(const google::protobuf::EnumDescriptor *type)
    {
        return type->value(type->value_count() - 1);
    }
};
