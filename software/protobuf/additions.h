// Unknown fields and extensions of a message that is serialized. The serializer does the message without
// them; the library writes them, and they are put where they belong among the unit's bytes.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rackwright/protobuf_type.h"

namespace rackwright::protobuf {

// What one message and those within it, maps left out, have of unknown fields and extensions.
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
    bool write_unknown(const google::protobuf::Message &message);
    bool write_extensions(const Extensions &extensions, const google::protobuf::Message &message);
    char *room_for(size_t size);
    size_t locate(size_t *level, const char *at, const char *end);
    size_t locate_below(size_t *level, const char *length);

    std::string bytes_;
    std::vector<Text> texts_;
    std::vector<Level> levels_;
    std::vector<Hidden> hidden_;
    std::vector<Edit> edits_;
    std::string_view made_;
    size_t growth_ = 0;
};

} // namespace rackwright::protobuf
