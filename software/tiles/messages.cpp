/* Protobuf on two tiles: the first serializes messages, the second parses what the first has written.
 *
 *     messages     prints how many messages were written and read as by the official library, of how many; then what
 *                  becomes of output without room, of input that is wrong, and of a message after both */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "modern.pb.h"
#include "protobuf_commands.h"
#include "rackwright/protobuf_type.h"
#include "rackwright/queue.h"
#include "rackwright/status.h"

namespace {

using rackwright::tests::Modern;

constexpr size_t places = 16, room_bytes = 1 << 16;

uint64_t address_of(const void *pointer)
{
    return reinterpret_cast<uint64_t>(pointer);
}

/* A tile whose elements are commands of its unit. */
class Tile {
  public:
    explicit Tile(unsigned number)
        : asked_(rw_queue_create(places, sizeof(rw_command))), ended_(rw_queue_create(places, sizeof(rw_ending)))
    {
        rw_tile_open(number, asked_, ended_);
    }

    void tell(uint64_t funct, uint64_t first = 0, uint64_t second = 0) { (void)run(funct, first, second); }

    uint64_t ask(uint64_t funct) { return run(funct | RW_COMMAND_ANSWERS, 0, 0); }

  private:
    uint64_t run(uint64_t funct, uint64_t first, uint64_t second)
    {
        const rw_command command = {first, second, funct, 0, 0, {0, 0, 0}};
        uint64_t status;
        const uint64_t answer = rw_tile_command(asked_, ended_, &command, &status);
        if (status != RACKWRIGHT_OK) std::exit(3);
        return answer;
    }

    rw_queue *asked_, *ended_;
};

alignas(64) char written[room_bytes];
alignas(64) char objects[room_bytes], arrays[room_bytes];

/* Has the unit write a message to the last bytes of `room` bytes. Its answer is their address, or 1 + status. */
uint64_t serialize(Tile &tile, const Modern &message, size_t room)
{
    tile.tell(SERIALIZE_MEM_SETUP, address_of(written + room));
    tile.tell(SERIALIZE_LIMIT, address_of(written));
    tile.tell(SERIALIZE_DO_SERIALIZE, address_of(Modern::rackwright_type.serializer_table), address_of(&message));
    return tile.ask(SERIALIZE_WAIT);
}

/* Has the unit parse bytes into a message that is clear. Its answer is 0, or 1 + status. */
uint64_t parse(Tile &tile, std::string_view bytes, Modern *message)
{
    tile.tell(DESERIALIZE_MEM_SETUP, address_of(objects), address_of(arrays));
    tile.tell(DESERIALIZE_LIMITS, address_of(objects + room_bytes), address_of(arrays + room_bytes));
    tile.tell(DESERIALIZE_ARENA, address_of(message->GetArena()));
    tile.tell(DESERIALIZE_PARSE_INFO, address_of(Modern::rackwright_type.table), address_of(message));
    tile.tell(DESERIALIZE_DO_PARSE, address_of(bytes.data()), bytes.size());
    return tile.ask(DESERIALIZE_WAIT);
}

/* Message `number`, with messages within it down to 0. */
void fill(Modern *message, int number)
{
    message->set_number(-number);
    message->set_text(std::string(static_cast<size_t>(7 * number), 't'));
    message->set_blob("bytes");
    message->set_real(number + 0.5);
    message->set_left("chosen");
    for (int i = 0; i < number; i++) {
        message->add_packed_numbers(UINT64_C(1) << 9 * i);
        message->add_texts(std::string(static_cast<size_t>(11 * i), 's'));
        message->add_opens(rackwright::tests::SOME);
    }
    if (number > 0) fill(message->mutable_below(), number - 1);
}

/* Both units do what the library does. */
bool is_right(Tile &serializer, Tile &parser, int number)
{
    google::protobuf::Arena arena;
    Modern message;
    fill(&message, number);
    const std::string expected = message.SerializeAsString();
    const uint64_t start = serialize(serializer, message, room_bytes);
    if (start != address_of(written + room_bytes - expected.size())) return false;
    const std::string_view bytes(written + room_bytes - expected.size(), expected.size());
    if (bytes != expected) return false;
    auto *const read = google::protobuf::Arena::CreateMessage<Modern>(&arena);
    return parse(parser, bytes, read) == 0 && read->number() == -number && read->SerializeAsString() == expected;
}

const char *status_of(uint64_t answer)
{
    return rackwright_status_name(static_cast<rackwright_status>(answer - 1));
}

} // namespace

int main()
{
    constexpr int messages = 6;
    Tile serializer(0), parser(1);
    int right = 0;
    for (int number = 0; number < messages; number++) right += is_right(serializer, parser, number);
    std::printf("%d of %d\n", right, messages);

    google::protobuf::Arena arena;
    Modern large;
    fill(&large, messages);
    auto *const broken = google::protobuf::Arena::CreateMessage<Modern>(&arena);
    std::printf("%s\n", status_of(serialize(serializer, large, 64)));
    std::printf("%s\n", status_of(parse(parser, std::string_view("\x1a\x05only", 6), broken)));
    std::printf("%s\n", is_right(serializer, parser, messages) ? "right" : "wrong");
    return 0;
}
