// What messages hold of other messages, found by the tables that the units have.
#pragma once

#include <google/protobuf/message.h>

#include "rackwright/protobuf_calls.h"
#include "rackwright/protobuf_type.h"

namespace rackwright::protobuf {

// A row of a class's list that is a message, or repeated ones, or a map.
class MessageRow {
  public:
    MessageRow(const Type &type, size_t index)
        : words_(list_of(type) + list_words * type.messages[index])
    {
    }

    bool is_repeated() const { return words_[0] >> 63 & 1; }
    bool is_map() const { return words_[0] >> 51 & 1; }
    uint32_t number() const { return static_cast<uint32_t>(words_[2]) >> 3; }
    uint32_t offset() const { return static_cast<uint32_t>(words_[0]); }

    // The class of the messages; of a map, that of its entries.
    const Type &type() const
    {
        constexpr uint64_t addresses = (uint64_t{1} << 48) - 1;
        const auto *header = reinterpret_cast<const uint64_t *>(words_[1] & addresses);
        return *reinterpret_cast<const Type *>(header[header_type]);
    }

    // The message of a field that is not repeated: null if there is none, or if the oneof holds another.
    google::protobuf::Message *of(const google::protobuf::Message &parent) const
    {
        const auto case_offset = static_cast<uint32_t>(words_[1] >> 48) * 4;
        if (case_offset != 0 && word_at<uint32_t>(parent, case_offset) != number()) return nullptr;
        return word_at<google::protobuf::Message *>(parent, offset());
    }

    // Whether the field is there, as far as a hasbit tells.
    bool is_present(const google::protobuf::Message &parent, const Type &of_parent) const
    {
        const auto hasbit = static_cast<unsigned>(words_[0] >> 32) & no_hasbit;
        if (hasbit == no_hasbit) return true;
        const auto hasbits = static_cast<uint32_t>(of_parent.serializer_table[2]);
        return word_at<uint32_t>(parent, hasbits + hasbit / 32 * 4) >> hasbit % 32 & 1;
    }

    // The elements of a field that is repeated.
    struct Elements {
        google::protobuf::Message *const *first;
        uint32_t count;
    };
    Elements elements_of(const google::protobuf::Message &parent) const
    {
        return elements_at(reinterpret_cast<const char *>(&parent) + offset());
    }

    // The entries of a map whose hash table has not been made yet, as the deserializer leaves it.
    Elements entries_of(const google::protobuf::Message &parent) const
    {
        constexpr uint32_t only_entries = 1;
        if (word_at<uint32_t>(parent, offset() + 64) != only_entries) return {nullptr, 0};
        const char *const entries = word_at<const char *>(parent, offset() + 16);
        return entries == nullptr ? Elements{nullptr, 0} : elements_at(entries);
    }

  private:
    static const uint64_t *list_of(const Type &type)
    {
        return reinterpret_cast<const uint64_t *>(type.table[5]);
    }

    // A RepeatedPtrField: arena, size, capacity, and where pointers follow eight bytes.
    static Elements elements_at(const char *field)
    {
        uint32_t count;
        const char *pointers;
        std::memcpy(&count, field + 8, sizeof count);
        std::memcpy(&pointers, field + 16, sizeof pointers);
        return {reinterpret_cast<google::protobuf::Message *const *>(pointers + 8), count};
    }

    const uint64_t *words_;
};

} // namespace rackwright::protobuf
