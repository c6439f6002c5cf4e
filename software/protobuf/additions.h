// Unknown fields and extensions of a message that is serialized. The serializer does the message without
// them; the library writes them, and they are put where they belong among the unit's bytes.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "map_elements.h"
#include "rackwright/protobuf_type.h"

namespace google::protobuf {
class UnknownFieldSet;
}

namespace rackwright::protobuf {

// Bytes that others are appended to, and that keep their room when they are forgotten.
class Bytes {
  public:
    void clear() { size_ = 0; }
    size_t size() const { return size_; }
    const char *data() const { return room_.get(); }

    // Where so many bytes more may be written, until there is room for others; end_at() tells what was.
    uint8_t *room_for(size_t more)
    {
        if (capacity_ - size_ < more) grow(more);
        return reinterpret_cast<uint8_t *>(room_.get() + size_);
    }
    void end_at(const uint8_t *end)
    {
        size_ = static_cast<size_t>(reinterpret_cast<const char *>(end) - room_.get());
    }

  private:
    void grow(size_t more);

    std::unique_ptr<char[]> room_;
    size_t size_ = 0, capacity_ = 0;
};

// What one message and those within it have of unknown fields and extensions.
class Additions {
  public:
    // Forgets those of another message, looks for them, and has the library write each of them.
    void look_for(const Type &type, const google::protobuf::Message &message);

    bool are_none() const { return levels_.empty(); }

    // Takes them out of sight of the unit, until show(). Nobody may look at the message meanwhile.
    void hide();
    void show();

    // Finds where they belong in what the unit made of the message; gives their bytes.
    size_t find_places(std::string_view made);

    size_t growth() const { return growth_; }

    // Puts them there. What the unit made moves down by their bytes, and its end by `down`.
    std::string_view insert(size_t down);

  private:
    // Bytes to be put before the first field of a message that has a greater number.
    struct Text {
        uint32_t number;
        size_t offset, size;
    };

    // A message that has additions in itself or below; those below follow it.
    struct Level {
        uint32_t number, index; // of the field that it is in, and the element of that
        uint32_t depth;
        size_t texts_end; // its texts end here, and begin where those of the level before end
    };

    // A change of the unit's bytes: so many are replaced by some of ours.
    struct Edit {
        const char *at;
        size_t removed;
        size_t offset, size;
    };

    struct Hidden {
        const google::protobuf::Message *object;
        uint32_t offset;
        bool is_extensions;
        uint64_t word;
    };

    bool visit(const Type &type, const google::protobuf::Message &message, const Level &level);
    bool visit_below(const Type &type, const google::protobuf::Message &message, uint32_t depth);
    bool visit_map(const MessageField &field, const google::protobuf::Message &message, uint32_t depth);
    bool hide_unknown(const google::protobuf::Message &message);
    bool write_unknown(const google::protobuf::Message &message);
    bool write_extensions(const Extensions &extensions, const google::protobuf::Message &message);
    void write_fields(const google::protobuf::UnknownFieldSet &fields);
    size_t locate(size_t *level, const char *at, const char *end);
    size_t locate_below(size_t *level, const char *length);

    Bytes bytes_;
    std::vector<Text> texts_;
    std::vector<Level> levels_;
    std::vector<Hidden> hidden_;
    std::vector<Edit> edits_;
    std::vector<MapElement> elements_; // of maps that are being visited
    std::string_view made_;
    size_t growth_ = 0;
};

} // namespace rackwright::protobuf
