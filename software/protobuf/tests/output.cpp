// Serialization: where bytes go, what does not fit, and what is left to the library.
#include <google/protobuf/arena.h>

#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "everything.pb.h"
#include "modern.pb.h"
#include "rackwright/protobuf.h"
#include "serialized.h"

namespace {

using rackwright::Fallback;
using rackwright::tests::Empty;
using rackwright::tests::Everything;
using rackwright::tests::Extended;
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
    const std::string expected = serialized(message);
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
    CHECK(serialize(mixed) == 0);
    mixed.mutable_pair()->set_left(4); // a group
    CHECK(serialize(mixed) == 3);      // each of the three calls
    mixed.clear_pair();
    mixed.add_triple();
    CHECK(serialize(mixed) == 3);
    mixed.clear_triple();
    CHECK(mixed.mutable_unknown_fields() != nullptr && serialize(mixed) == 0);
    rackwright::use_units(false);
    CHECK(serialize(leaf(2)) == 3);
    rackwright::use_units(true);
}

// Parses what the library makes of a few extensions, beside unknown fields of all kinds.
Extended extended(int depth)
{
    Extended message;
    message.set_first(depth);
    message.SetExtension(rackwright::tests::low, -depth);
    if (depth % 2 == 0) message.AddExtension(rackwright::tests::lows, std::string(150, 'l'));
    message.AddExtension(rackwright::tests::highs, 7);
    (*message.MutableExtension(rackwright::tests::high)->mutable_strings())["key"] = "value";
    message.mutable_unknown_fields()->AddVarint(60, 1u << depth);
    message.mutable_unknown_fields()->AddLengthDelimited(5, std::string(110, 'u'));
    message.mutable_unknown_fields()->AddGroup(61)->AddFixed32(1, 5);
    if (depth == 0) return message;
    *message.MutableExtension(rackwright::tests::middle) = extended(depth - 1);
    *message.mutable_below() = extended(depth - 1);
    for (int i = 0; i < 3; i++) {
        message.add_elements()->set_first(i);
        *message.add_elements() = extended(depth - 1);
    }
    message.mutable_chosen()->mutable_unknown_fields()->AddFixed64(62, 5);
    return message;
}

void what_the_library_adds_is_where_it_belongs()
{
    for (int depth = 0; depth < 4; depth++) {
        Extended message = extended(depth);
        message.add_anys()->PackFrom(leaf(3));
        const uint64_t before = rackwright::protobuf_counters.added;
        CHECK(serialize(message) == 0);
        CHECK(rackwright::protobuf_counters.added - before == 3);
        CHECK(message.unknown_fields().field_count() == 3); // as before
        CHECK(message.GetExtension(rackwright::tests::low) == -depth);
    }
    Extended emptied = extended(1);
    emptied.Clear();
    emptied.set_first(1);
    CHECK(serialize(emptied) == 0);
}

// Elements of maps with all kinds of keys; some have nothing that the unit can't do.
Extended mapped()
{
    Extended message;
    for (int i = -4; i < 5; i++) {
        (*message.mutable_mapped())[i] = i % 3 == 0 ? Extended() : extended(1);
        (*message.mutable_named())[std::string(static_cast<size_t>(i + 4) * 3, static_cast<char>('p' - i))] = extended(0);
        (*message.mutable_counted())[static_cast<uint64_t>(i)].set_first(i);
    }
    (*message.mutable_counted())[1u << 31].mutable_unknown_fields()->AddVarint(60, 1);
    (*message.mutable_halves())[true].mutable_below()->mutable_unknown_fields()->AddVarint(60, 1);
    *(*message.mutable_halves())[false].mutable_below() = extended(2);
    return message;
}

void additions_may_be_in_maps()
{
    const uint64_t before = rackwright::protobuf_counters.added;
    CHECK(serialize(mapped()) == 0);
    Extended message = mapped();
    (*message.mutable_named())["within"] = mapped();
    *message.add_elements() = mapped();
    CHECK(serialize(message) == 0);
    CHECK(rackwright::protobuf_counters.added - before == 6);
}

void additions_have_to_fit()
{
    const Extended message = extended(2);
    std::vector<char> room(message.ByteSizeLong());
    CHECK(rackwright::SerializeToTail(message, room.data(), room.size()).size() == room.size());
    for (const size_t less : {1, 100, 1000}) {
        CHECK(rackwright::SerializeToTail(message, room.data(), room.size() - less).data() == nullptr);
    }
}

// More elements than the unit takes of a map.
void add_many(Extended *message)
{
    for (int i = 0; i < 300; i++) (*message->mutable_mapped())[i];
}

void batches_may_have_additions()
{
    std::vector<Extended> made;
    size_t bytes = 0;
    for (int i = 0; i < 24; i++) {
        made.push_back(i % 3 == 0 ? extended(i % 4) : Extended());
        made.back().set_first(i);
        if (i == 7) (*made.back().mutable_mapped())[3].mutable_unknown_fields()->AddVarint(60, 1);
        if (i == 8) made.back().mutable_unknown_fields()->AddVarint(60, 1), add_many(&made.back());
        bytes += made.back().ByteSizeLong();
    }
    std::vector<const Extended *> messages;
    for (const Extended &each : made) messages.push_back(&each);
    std::vector<char> room(bytes);
    std::vector<std::string_view> outputs(24);
    const auto before = rackwright::protobuf_counters;
    CHECK(rackwright::SerializeBatch(messages.data(), 24, room.data(), bytes, outputs.data()));
    for (int i = 0; i < 24; i++) CHECK(outputs[i] == serialized(made[i]));
    const auto counted = rackwright::protobuf_counters - before;
    CHECK(counted.serialized == 23 && counted.added == 9 && counted.all_fallbacks() == 1);
    CHECK(!rackwright::SerializeBatch(messages.data(), 24, room.data(), bytes - 1, outputs.data()));
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
    RUN(what_the_library_adds_is_where_it_belongs);
    RUN(additions_may_be_in_maps);
    RUN(additions_have_to_fit);
    RUN(batches_may_have_additions);
    RUN(what_does_not_fit_is_refused);
    RUN(batches_and_requests_fill_a_range);
    return 0;
}
