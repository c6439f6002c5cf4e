// Serialization: where bytes go, what does not fit, and what is left to the library.
#include <google/protobuf/arena.h>

#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "everything.pb.h"
#include "modern.pb.h"
#include "rackwright/protobuf.h"

namespace {

using rackwright::Fallback;
using rackwright::tests::Empty;
using rackwright::tests::Everything;
using rackwright::tests::Leaf;
using rackwright::tests::Mixed;
using rackwright::tests::Modern;

Leaf leaf(int value)
{
    Leaf made;
    made.set_value(value);
    made.set_name("leaf number " + std::to_string(value));
    for (int i = 0; i < value % 4; i++) made.add_children()->set_value(-i);
    return made;
}

Everything everything()
{
    Everything message;
    message.set_int32_field(-1);
    message.set_sint64_field(-77);
    message.set_fixed32_field(5);
    message.set_float_field(0.5f);
    message.set_bool_field(true);
    message.set_bytes_field(std::string(3000, 'b'));
    message.set_color(rackwright::tests::GREY);
    *message.mutable_leaf() = leaf(3);
    for (int i = 0; i < 9; i++) {
        message.add_int32s(i - 4);
        message.add_sint64s(i - 4);
        message.add_doubles(i);
        message.add_bools(i % 2 == 0);
        message.add_strings(std::string(static_cast<size_t>(i) * 5, 's'));
        *message.add_leaves() = leaf(i);
    }
    *message.mutable_chosen_leaf() = leaf(1);
    return message;
}

Modern modern()
{
    Modern message;
    message.set_number(5);
    message.set_maybe(0);
    message.set_real(-0.0);
    message.add_packed_numbers(300);
    message.add_packed_numbers(0);
    message.mutable_below();
    message.set_open(static_cast<rackwright::tests::Open>(99));
    message.set_left("");
    return message;
}

// Serializes in both ways; tells how often the library was called.
template <class Message> uint64_t serialize(const Message &message)
{
    const std::string expected = message.SerializePartialAsString();
    const auto before = rackwright::protobuf_counters;
    std::vector<char> room(expected.size() + 40, '#');
    const std::string_view tail =
        rackwright::SerializeToTail(message, room.data() + 8, room.size() - 16);
    CHECK(tail == expected && tail.data() + tail.size() == room.data() + room.size() - 8);
    for (const char *at = room.data(); at < tail.data(); at++) CHECK(*at == '#');
    for (size_t i = room.size() - 8; i < room.size(); i++) CHECK(room[i] == '#');

    size_t written = 0;
    CHECK(rackwright::SerializeToArray(message, room.data(), room.size(), &written));
    CHECK(written == expected.size() && std::string_view(room.data(), written) == expected);
    CHECK(rackwright::SerializeToArray(message, room.data(), expected.size()));
    return (rackwright::protobuf_counters - before).all_fallbacks();
}

void bytes_are_those_of_the_library()
{
    CHECK(serialize(everything()) == 0);
    CHECK(serialize(modern()) == 0);
    CHECK(serialize(Empty()) == 0);
    for (int i = 0; i < 9; i++) CHECK(serialize(leaf(i)) == 0);
}

void the_library_is_called_for_a_reason()
{
    Mixed mixed;
    mixed.set_number(3);
    (*mixed.mutable_counts())["one"] = 1;
    CHECK(serialize(mixed) == 3); // each of the three calls
    Leaf unknown;
    CHECK(unknown.ParseFromString(std::string("\xa0\x06\x01", 3)));
    CHECK(serialize(unknown) == 3);
    rackwright::use_units(false);
    CHECK(serialize(leaf(2)) == 3);
    rackwright::use_units(true);
}

void what_does_not_fit_is_refused()
{
    const Leaf message = leaf(3);
    std::vector<char> room(message.ByteSizeLong() - 1);
    CHECK(rackwright::SerializeToTail(message, room.data(), room.size()).data() == nullptr);
    CHECK(!rackwright::SerializeToArray(message, room.data(), room.size()));
    CHECK(!rackwright::SerializeToArray(message, room.data(), 0));
    CHECK(serialize(message) == 0);
}

void batches_and_requests_fill_a_range()
{
    std::vector<Leaf> leaves;
    size_t bytes = 0;
    for (int i = 0; i < 30; i++) leaves.push_back(leaf(i)), bytes += leaves.back().ByteSizeLong();
    std::vector<const Leaf *> messages;
    for (const Leaf &each : leaves) messages.push_back(&each);
    std::vector<char> room(bytes);
    std::vector<std::string_view> outputs(30);
    CHECK(rackwright::SerializeBatch(messages.data(), 30, room.data(), room.size(), outputs.data()));
    for (int i = 0; i < 30; i++) CHECK(outputs[i] == leaves[i].SerializeAsString());
    CHECK(outputs[29].data() == room.data());
    CHECK(!rackwright::SerializeBatch(messages.data(), 30, room.data(), bytes - 1, outputs.data()));

    CHECK(leaves[7].ParseFromString(std::string("\xa0\x06\x01", 3))); // the library's
    for (int time = 0; time < 2; time++) {
        rackwright::OutputRegion region(room.data(), room.size());
        std::vector<rackwright::SerializeRequest> requests(30);
        for (int i = 0; i < 30; i++) requests[i].start(leaves[i], &region);
        for (int i = 0; i < 30; i++) CHECK(requests[i].wait() == leaves[i].SerializeAsString());
    }
}

} // namespace

int main()
{
#define RUN(TEST) TEST(), std::printf("%s\n", #TEST)
    RUN(bytes_are_those_of_the_library);
    RUN(the_library_is_called_for_a_reason);
    RUN(what_does_not_fit_is_refused);
    RUN(batches_and_requests_fill_a_range);
    return 0;
}
