#include "additions.h"

#include <google/protobuf/extension_set.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/unknown_field_set.h>

#include <cstring>
#include <utility>

#include "map_elements.h"
#include "objects.h"

namespace rackwright::protobuf {

namespace {

using google::protobuf::Message;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;
using google::protobuf::internal::ExtensionSet;
using google::protobuf::internal::InternalMetadata;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::EpsCopyOutputStream;

constexpr uint32_t behind_all = UINT32_MAX;
constexpr uint32_t metadata_offset = 8;
constexpr uint64_t has_unknown = 1;

template <class Part> const Part &part_of(const Message &message, size_t offset)
{
    return *reinterpret_cast<const Part *>(reinterpret_cast<const char *>(&message) + offset);
}

bool has_extensions(const Extensions &extensions, const Message &message)
{
    // Room for extensions stays when they are cleared: the unit can't tell.
    return extensions.set != nullptr && word_at<uint32_t>(message, extensions.offset + 8) != 0;
}

// Whether there may be some in the message itself.
bool has_additions(const Type &type, const Message &message)
{
    return (word_at<uint64_t>(message, metadata_offset) & has_unknown) != 0 ||
           has_extensions(type.extensions, message);
}

uint64_t read_varint(const char **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const auto byte = static_cast<uint8_t>(*(*at)++);
        value |= uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) return value;
    }
}

// Behind the value of a field whose tag ends at `at`: the unit writes no groups.
const char *skip_value(const char *at, unsigned wire_type)
{
    switch (wire_type) {
    case 0: return read_varint(&at), at;
    case 1: return at + 8;
    case 5: return at + 4;
    default: {
        const uint64_t size = read_varint(&at);
        return at + size;
    }
    }
}

} // namespace

void Bytes::grow(size_t more)
{
    capacity_ = 2 * capacity_ + more;
    std::unique_ptr<char[]> larger(new char[capacity_]); // not set to zero
    if (size_ != 0) std::memcpy(larger.get(), room_.get(), size_);
    room_ = std::move(larger);
}

void Additions::look_for(const Type &type, const Message &message)
{
    bytes_.clear();
    texts_.clear();
    levels_.clear();
    hidden_.clear();
    edits_.clear();
    visit(type, message, {0, 0, 0, 0});
}

bool Additions::visit(const Type &type, const Message &message, const Level &level)
{
    if (type.message_count == 0 && !has_additions(type, message)) return false;
    const size_t mine = levels_.size();
    levels_.push_back(level);
    bool any = write_extensions(type.extensions, message);
    any |= write_unknown(message);
    levels_[mine].texts_end = texts_.size();
    any |= visit_below(type, message, level.depth + 1);
    if (!any) levels_.pop_back();
    return any;
}

bool Additions::visit_below(const Type &type, const Message &message, uint32_t depth)
{
    bool any = false;
    for (size_t i = 0; i < type.message_count; i++) {
        const MessageField &field = type.messages[i];
        if (!is_present(field, message)) continue;
        if (field.map) {
            any |= visit_map(field, message, depth);
        } else if (field.repeated) {
            const Elements elements = elements_of(field, message);
            for (uint32_t e = 0; e < elements.count; e++) {
                any |= visit(*field.type, *elements.first[e], {field.number, e, depth, 0});
            }
        } else if (const Message *below = message_of(field, message)) {
            any |= visit(*field.type, *below, {field.number, 0, depth, 0});
        }
    }
    return any;
}

// An element is written as a message with the key and, as field 2, the value.
bool Additions::visit_map(const MessageField &field, const Message &message, uint32_t depth)
{
    constexpr uint32_t value_number = 2;
    const size_t first = elements_.size();
    find_elements(field, message, &elements_);
    bool any = false;
    for (size_t i = first; i < elements_.size(); i++) {
        const MapElement element = elements_[i]; // they move when there are more
        const size_t mine = levels_.size();
        levels_.push_back({field.number, static_cast<uint32_t>(i - first), depth, texts_.size()});
        bool any_here = element.entry != nullptr && hide_unknown(*element.entry);
        if (element.value != nullptr) {
            const Type &type = *field.type->messages[0].type;
            any_here |= visit(type, *element.value, {value_number, 0, depth + 1, 0});
        }
        if (!any_here) levels_.resize(mine);
        any |= any_here;
    }
    elements_.resize(first);
    return any;
}

// Takes the unknown fields of one object out of sight; false if it has none.
bool Additions::hide_unknown(const Message &message)
{
    const auto word = word_at<uint64_t>(message, metadata_offset);
    if ((word & has_unknown) == 0) return false;
    hidden_.push_back({&message, metadata_offset, false, word});
    return true;
}

bool Additions::write_unknown(const Message &message)
{
    if (!hide_unknown(message)) return false;
    const auto &metadata = part_of<InternalMetadata>(message, metadata_offset);
    const size_t offset = bytes_.size();
    write_fields(metadata.unknown_fields<UnknownFieldSet>(UnknownFieldSet::default_instance));
    texts_.push_back({behind_all, offset, bytes_.size() - offset});
    return true;
}

// Appends what the library writes of them, in fewer steps.
void Additions::write_fields(const UnknownFieldSet &fields)
{
    constexpr size_t most_of_number = 16; // a tag and a varint
    for (int i = 0; i < fields.field_count(); i++) {
        const auto &field = fields.field(i);
        const auto tag = static_cast<uint32_t>(field.number()) << 3;
        const bool is_text = field.type() == UnknownField::TYPE_LENGTH_DELIMITED;
        uint8_t *at = bytes_.room_for(most_of_number + (is_text ? field.length_delimited().size() : 0));
        const auto write_tag = [&](uint32_t wire_type) {
            at = CodedOutputStream::WriteVarint32ToArray(tag | wire_type, at);
        };
        switch (field.type()) {
        case UnknownField::TYPE_VARINT:
            write_tag(0);
            at = CodedOutputStream::WriteVarint64ToArray(field.varint(), at);
            break;
        case UnknownField::TYPE_FIXED64:
            write_tag(1);
            at = CodedOutputStream::WriteLittleEndian64ToArray(field.fixed64(), at);
            break;
        case UnknownField::TYPE_LENGTH_DELIMITED: {
            const std::string &text = field.length_delimited();
            write_tag(2);
            at = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(text.size()), at);
            at = CodedOutputStream::WriteRawToArray(text.data(), static_cast<int>(text.size()), at);
            break;
        }
        case UnknownField::TYPE_GROUP:
            write_tag(3);
            bytes_.end_at(at);
            write_fields(field.group());
            at = bytes_.room_for(most_of_number);
            write_tag(4);
            break;
        case UnknownField::TYPE_FIXED32:
            write_tag(5);
            at = CodedOutputStream::WriteLittleEndian32ToArray(field.fixed32(), at);
            break;
        }
        bytes_.end_at(at);
    }
}

bool Additions::write_extensions(const Extensions &extensions, const Message &message)
{
    if (!has_extensions(extensions, message)) return false;
    const auto &set = part_of<ExtensionSet>(message, extensions.offset);
    const size_t size = set.ByteSize();
    auto *const room = bytes_.room_for(size);
    const size_t begin = bytes_.size();
    auto *end = room;
    EpsCopyOutputStream stream(room, static_cast<int>(size), true);
    for (size_t i = 0; i < extensions.count; i++) {
        const auto &range = extensions.ranges[i];
        uint8_t *const start = end;
        end = set._InternalSerialize(extensions.prototype, range.first, range.end, start, &stream);
        const auto written = static_cast<size_t>(end - start);
        if (written == 0) continue;
        const size_t offset = begin + static_cast<size_t>(start - room);
        texts_.push_back({static_cast<uint32_t>(range.first), offset, written});
    }
    bytes_.end_at(end);
    const uint32_t offset = extensions.offset + 8;
    hidden_.push_back({&message, offset, true, word_at<uint32_t>(message, offset)});
    return true;
}

void Additions::hide()
{
    for (const Hidden &each : hidden_) {
        char *const at = const_cast<char *>(&part_of<char>(*each.object, each.offset));
        const google::protobuf::Arena *arena = each.object->GetArena();
        const uint32_t no_extensions = 0;
        if (each.is_extensions) std::memcpy(at, &no_extensions, sizeof no_extensions);
        else std::memcpy(at, &arena, sizeof arena);
    }
}

void Additions::show()
{
    for (const Hidden &each : hidden_) {
        char *const at = const_cast<char *>(&part_of<char>(*each.object, each.offset));
        std::memcpy(at, &each.word, each.is_extensions ? sizeof(uint32_t) : sizeof each.word);
    }
}

// Goes through the content of a message as the unit made it; gives by how much it grows.
size_t Additions::locate(size_t *level, const char *at, const char *end)
{
    const Level mine = levels_[*level];
    size_t text = *level == 0 ? 0 : levels_[*level - 1].texts_end;
    size_t growth = 0, next = ++*level;
    uint32_t number = 0, index = 0;
    const auto is_below = [&] { return next < levels_.size() && levels_[next].depth > mine.depth; };
    const auto add_texts_before = [&](uint32_t bound, const char *place) {
        for (; text < mine.texts_end && texts_[text].number < bound; text++) {
            edits_.push_back({place, 0, texts_[text].offset, texts_[text].size});
            growth += texts_[text].size;
        }
    };
    const auto has_texts_within = [&] { return text < mine.texts_end && texts_[text].number != behind_all; };
    while (at < end && (is_below() || has_texts_within())) {
        const char *value = at;
        const auto tag = static_cast<uint32_t>(read_varint(&value));
        index = tag >> 3 == number ? index + 1 : 0;
        number = tag >> 3;
        add_texts_before(number, at);
        at = skip_value(value, tag & 7);
        if (is_below() && levels_[next].number == number && levels_[next].index == index) {
            growth += locate_below(&next, value);
        }
    }
    add_texts_before(behind_all, end);
    for (; text < mine.texts_end; text++) {
        edits_.push_back({end, 0, texts_[text].offset, texts_[text].size});
        growth += texts_[text].size;
    }
    *level = next;
    return growth;
}

// The same for a message within one: its length, at `length`, is another then.
size_t Additions::locate_below(size_t *level, const char *length)
{
    const char *content = length;
    const uint64_t size = read_varint(&content);
    const auto removed = static_cast<size_t>(content - length);
    const size_t edit = edits_.size();
    edits_.push_back({length, removed, 0, 0});
    const size_t growth = locate(level, content, content + size);
    const auto written = CodedOutputStream::VarintSize32(static_cast<uint32_t>(size + growth));
    edits_[edit].offset = bytes_.size();
    edits_[edit].size = written;
    bytes_.end_at(CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(size + growth),
                                                          bytes_.room_for(written)));
    return growth + written - removed;
}

size_t Additions::find_places(std::string_view made)
{
    size_t level = 0;
    made_ = made;
    growth_ = locate(&level, made.data(), made.data() + made.size());
    return growth_;
}

std::string_view Additions::insert(size_t down)
{
    const char *from = made_.data();
    char *const first = const_cast<char *>(from) - growth_ - down, *to = first;
    for (const Edit &edit : edits_) {
        const auto kept = static_cast<size_t>(edit.at - from);
        std::memmove(to, from, kept);
        std::memcpy(to + kept, bytes_.data() + edit.offset, edit.size);
        to += kept + edit.size;
        from += kept + edit.removed;
    }
    const auto rest = static_cast<size_t>(made_.data() + made_.size() - from);
    if (to != from) std::memmove(to, from, rest);
    return {first, made_.size() + growth_};
}

} // namespace rackwright::protobuf
