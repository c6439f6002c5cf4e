// A program that knows nothing of the units: it parses and serializes with the official library's own calls.
#include <google/protobuf/arena.h>

#include <cstdio>
#include <string>

#include "modern.pb.h"

using google::protobuf::Arena;
using rackwright::tests::Modern;

namespace {

void fill(Modern *message, int depth)
{
    for (int i = 0; i < 9; i++) {
        message->set_number(i * depth);
        message->add_packed_numbers(i * 100);
        (*message->mutable_labels())[std::to_string(i)] = std::string(static_cast<size_t>(i) * 7, 'x');
    }
    if (depth > 0) fill(message->mutable_below(), depth - 1);
}

// A sum that tells what the bytes are.
unsigned sum_of(const std::string &bytes)
{
    unsigned sum = 0;
    for (const char byte : bytes) sum = 31 * sum + static_cast<unsigned char>(byte);
    return sum;
}

void send(const Modern &message)
{
    std::string bytes, room(message.ByteSizeLong() + 9, '#');
    const bool to_string = message.SerializeToString(&bytes);
    const bool to_array = message.SerializeToArray(room.data(), static_cast<int>(room.size()));
    const bool too_small = message.SerializeToArray(room.data() + 1, static_cast<int>(bytes.size()) - 1);
    Arena arena;
    auto *parsed = Arena::CreateMessage<Modern>(&arena);
    Modern on_the_heap;
    const bool from_string = parsed->ParseFromString(bytes) && on_the_heap.ParseFromString(bytes);
    const bool cut = parsed->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()) - 1);
    const bool from_array = parsed->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
    // Maps have an order of their own with the library: what is sent is compared by its fields.
    std::printf("%d %d %d %d %d %d %zu %zu %c %d\n", to_string, to_array, too_small, from_string, cut, from_array,
                bytes.size(), parsed->SerializeAsString().size(), room[bytes.size()],
                parsed->DebugString() == message.DebugString() && on_the_heap.DebugString() == message.DebugString());
    parsed->clear_labels();
    for (Modern *each = parsed; each->has_below();) each = each->mutable_below(), each->clear_labels();
    std::printf("%u\n", sum_of(parsed->SerializeAsString()));
}

} // namespace

// The numbers of the last message may be given.
int main(int argument_count, char **arguments)
{
    for (int depth = 0; depth < 5; depth++) {
        Modern message;
        fill(&message, depth);
        send(message);
    }
    Modern large;
    const int numbers = argument_count > 1 ? std::stoi(arguments[1]) : 1000;
    for (int i = 0; i < numbers; i++) large.add_packed_numbers(-i);
    send(large);
    return 0;
}
