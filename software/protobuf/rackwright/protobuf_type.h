// What the units have to know of a message class: its descriptor table.
//
// protoc-gen-rackwright adds to every generated class `M` a static member `M::rackwright_type` and a
// description of its fields. From that, and from the class's real offsets, a table is built in
// memory when the program starts. The layout of tables is on the units' contract page,
// hardware/src/main/scala/rackwright/protobuf/README.md.
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/extension_set.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/common.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rackwright/hidden.h"

static_assert(GOOGLE_PROTOBUF_VERSION == 3021012,
              "Rackwright's protobuf units know the objects of protobuf 3.21.12 and of no other version");
static_assert(sizeof(void *) == 8, "descriptor tables are for machines with 64-bit pointers");
static_assert(sizeof(google::protobuf::internal::ExtensionSet) == 24,
              "what tells that there are extensions is at 8");

namespace rackwright::protobuf {

struct Type;

// Where the extensions of a class are, and which field numbers they may have.
struct Extensions {
    struct Range {
        int first, end;
    };
    const google::protobuf::internal::ExtensionSet *set; // in the first sample
    const google::protobuf::Message *prototype;
    const Range *ranges; // by ascending numbers
    size_t count;
    uint32_t offset = 0; // of the set in objects
};

// A word of an object that holds the address of a part of it.
struct OwnAddress {
    uint32_t at = 0, of = 0; // offsets
};

// A field that is a message with a table, or a map.
struct MessageField {
    const Type *type; // of a map: that of its entries
    uint32_t number, offset;
    uint32_t case_offset;  // of the case of its oneof, or 0
    uint32_t hasbits, bit; // of the word of hasbits with its own, and that; or 0
    bool repeated, map;
    bool holds_own_addresses;
    uint64_t nodes; // of a map: what the serializer's list says of its nodes, or 0
};

// A message class as the runtime sees it. What it points at is in static storage, so that tables may
// name each other before they are built.
struct alignas(64) Type {
    // `below` tells what objects of this class, or those within them, may have: see `holds`.
    constexpr Type(uint64_t *words, uint64_t *header, unsigned below)
        : table(words), serializer_table(header), holds(below)
    {
    }

    uint64_t *table;            // header and entries
    uint64_t *serializer_table; // header for the serializer: the same, or another for extensions
    unsigned holds;             // required_fields, own_addresses
    bool parses = false;        // the deserializer takes objects of this class
    bool serializes = false;    // the serializer does

    // Offset of the word of 32 bits that is zero in objects if and only if they are clear; 0 of most classes that have
    // more than presence bits of 32 fields.
    uint32_t only_zero = 0;

    const MessageField *messages = nullptr; // by ascending numbers
    size_t message_count = 0;

    OwnAddress own[2]; // as many as google.protobuf.Any has
    size_t own_count = 0;
    Extensions extensions = {};

    // Offsets in objects that are clear, as new ones are: of words of 32 bits that are zero in them, and of
    // words of 64 bits that are as in the image.
    const uint32_t *zeros = nullptr, *defaults = nullptr;
    size_t zero_count = 0, default_count = 0;
};

// The type of an object's class; null when it has none.
const Type *type_of_object(const google::protobuf::Message &object);

// The type of a class, or null when protoc ran without our plug-in.
template <class Message, class = void> struct TypeOf {
    static constexpr const Type *value = nullptr;
};
template <class Message> struct TypeOf<Message, std::void_t<decltype(Message::rackwright_type)>> {
    static constexpr const Type *value = &Message::rackwright_type;
};
template <class Message> constexpr const Type *type_of()
{
    return TypeOf<Message>::value;
}

// What messages may have, in themselves or below: fields that IsInitialized() asks for, and addresses of
// their own parts, which the deserializer does not know.
enum : unsigned { required_fields = 1, own_addresses = 2 };

constexpr size_t header_words = 8;
constexpr size_t entry_words = 2;
constexpr size_t list_words = 4;

// Rows of a list that are present when the object has had extensions; see Builder::extensions().
constexpr size_t extension_rows = 6;

// Parts of a Storage.
struct Room {
    uint64_t *list, *image, *header;
    MessageField *messages;
    uint32_t *zeros, *defaults;
};

// Room for everything the units read of a class with objects of `bytes` bytes.
template <size_t bytes, size_t numbers, size_t fields, size_t message_fields> struct Storage {
    static constexpr size_t image_words = (bytes + 15) / 16 * 2;
    static constexpr size_t map_words = (image_words + 127) / 128 * 2;

    alignas(64) uint64_t table[header_words + entry_words * numbers];
    alignas(64) uint64_t list[list_words * (fields == 0 ? 2 : (fields + 1) / 2 * 2)];
    alignas(16) uint64_t image[image_words + map_words];
    MessageField messages[message_fields == 0 ? 1 : message_fields];
    uint32_t zeros[4 * fields + 2]; // of a map three, of hasbits one for 32 fields, one of extensions
    uint32_t defaults[fields == 0 ? 1 : fields];

    Room room(uint64_t *header) { return {list, image, header, messages, zeros, defaults}; }
};

// The same for a class with extensions, whose serializer has a header of its own.
template <size_t bytes, size_t numbers, size_t fields, size_t message_fields>
struct ExtendedStorage : Storage<bytes, numbers, fields + extension_rows, message_fields> {
    alignas(64) uint64_t header[header_words];
};

// What protoc knows of a field; the rest is found in the class.
struct Field {
    uint32_t number;
    uint8_t type; // google::protobuf::FieldDescriptor::Type
    bool repeated = false;
    bool packed = false;
    bool unsupported = false;       // the library has to handle it
    bool utf8 = false;              // must be valid UTF-8
    bool implicit_presence = false; // written when it is not zero
    bool closed_enum = false;       // only values that it knows
    uint64_t values = 0;            // word 1 of the entry, which tells of them; or log2 of a set's places
    const uint64_t *set = nullptr;  // the set, when they are too far apart for the entry
    bool in_entry = false; // key or value of a map: entries are written whole
};

constexpr unsigned no_hasbit = 0xffff;

// The hasbit that a generated accessor sets.
template <class Bits> unsigned hasbit_of(void (*set)(Bits *))
{
    Bits bits;
    set(&bits);
    for (unsigned bit = 0;; bit++) {
        if (bits[bit / 32] >> (bit % 32) & 1) return bit;
    }
}

// The parts of a class that its table is made from, as two objects on two arenas show them: what
// differs between them is the arena's address, or else something that cannot be copied.
struct Samples {
    const void *objects[2];
    const google::protobuf::Arena *arenas[2];
    size_t bytes;
};

// Limits on what the units take of a class, known to protoc.
enum : unsigned { parses_nothing = 1, serializes_nothing = 2 };

// Writes the table of one class.
class Builder {
  public:
    Builder(Type &type, const Room &room, uint32_t first, uint32_t last, const Samples &samples);

    // Where the class keeps its hasbits; not called when it has none.
    void hasbits(const void *member, size_t bytes);

    // Adds a field: fields come in ascending order. `member` is in the first sample, and so is
    // `oneof_case`, null outside of a oneof. `message` is the type of a sub-message.
    void field(const Field &field, const void *member, unsigned hasbit = no_hasbit,
               const void *oneof_case = nullptr, const Type *message = nullptr);

    // Adds a map, of whose entries `key` and `value` tell; `message` is the type of values that are
    // messages. Defined in protobuf_map.h.
    template <class MapField>
    void map(const Field &field, const MapField &member, const Field &key, const Field &value,
             const Type *message);

    // The class has extensions; called before fields are added. Of an object that has had some the
    // serializer is to say that it can't do it.
    void extensions(const Extensions &extensions);

    // Completes the header; `limits` are those known to protoc.
    void finish(unsigned limits);

  private:
    uint64_t offset(const void *member) const;
    void map(const Field &field, const void *member, const Type &entry, uint64_t nodes);
    void add(const Field &field, uint64_t entry, uint64_t detail, const Type *message, uint64_t nodes);
    void add_message(const Field &field, uint64_t entry, uint64_t detail, const Type &message,
                     uint64_t nodes);
    bool write_image();
    bool note_own_address(size_t word, uint64_t other);
    void tell_when_clear(const Field &field, uint64_t offset, const void *oneof_case);
    void add_zero(uint64_t offset);
    void add_extension_rows();

    Type &type_;
    Room room_;
    Samples samples_;
    uint32_t first_;
    size_t fields_ = 0;
    uint64_t texts_ = 0, others_ = 0; // numbers modulo 64, as bits: of strings that the unit makes, of other fields
    unsigned shift_ = 0; // bits between where hasbits begin for the serializer and where they are
};

// Builds the table of `Message` when the program starts; `fields` adds them, given an object.
template <class Message, class Fields>
bool describe(Type &type, const Room &room, uint32_t first, uint32_t last, unsigned limits,
              Fields fields)
{
    // Zeroed blocks, so that padding in the objects is zero too.
    constexpr size_t block = sizeof(Message) + 1024;
    alignas(16) char blocks[2][block];
    std::memset(blocks, 0, sizeof blocks);
    google::protobuf::Arena first_arena(blocks[0], block), second_arena(blocks[1], block);
    const Message *object = google::protobuf::Arena::CreateMessage<Message>(&first_arena);
    const Message *other = google::protobuf::Arena::CreateMessage<Message>(&second_arena);
    Builder builder(type, room, first, last,
                    {{object, other}, {&first_arena, &second_arena}, sizeof(Message)});
    fields(builder, *object);
    builder.finish(limits);
    return true;
}

} // namespace rackwright::protobuf

#include "rackwright/protobuf_map.h"
