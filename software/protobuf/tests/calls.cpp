// What calls answer, what they count, and what they leave to the library.
#include <google/protobuf/arena.h>
#include <google/protobuf/duration.pb.h>

#include <string>
#include <vector>

#include "check.h"
#include "everything.pb.h"
#include "modern.pb.h"
#include "rackwright/protobuf.h"

namespace {

using google::protobuf::Arena;
using rackwright::Fallback;
using rackwright::tests::Everything;
using rackwright::tests::Extended;
using rackwright::tests::Leaf;
using rackwright::tests::Maps;
using rackwright::tests::Mixed;
using rackwright::tests::Modern;
using rackwright::tests::Strict;
using rackwright::tests::Wide;

// Parses and tells for what reason the library was called; fallback_reasons when it was not.
template <class Message>
unsigned reason_of_parse(Message *message, const std::string &bytes, bool expected)
{
    const auto before = rackwright::protobuf_counters;
    CHECK(rackwright::ParseFromArray(message, bytes.data(), bytes.size()) == expected);
    const auto counted = rackwright::protobuf_counters - before;
    CHECK(counted.parsed + counted.all_fallbacks() == 1);
    unsigned reason = 0;
    while (reason < rackwright::fallback_reasons && counted.fallbacks[reason] == 0) reason++;
    return reason;
}

template <class Message>
void falls_back(Fallback reason, const std::string &bytes, bool expected = true)
{
    Arena arena;
    auto *message = Arena::CreateMessage<Message>(&arena);
    CHECK(reason_of_parse(message, bytes, expected) == static_cast<unsigned>(reason));
    Message model;
    CHECK(model.ParsePartialFromString(bytes) || !expected);
    CHECK(message->SerializePartialAsString() == model.SerializePartialAsString());
}

Leaf leaf(int value)
{
    Leaf made;
    made.set_value(value);
    made.set_name("leaf number " + std::to_string(value));
    for (int i = 0; i < value % 4; i++) made.add_children()->set_value(i);
    return made;
}

void the_library_is_called_for_a_reason()
{
    const std::string bytes = leaf(3).SerializeAsString();
    Leaf on_the_heap;
    CHECK(reason_of_parse(&on_the_heap, bytes, true) == static_cast<unsigned>(Fallback::no_arena));
    CHECK(on_the_heap.SerializeAsString() == bytes);

    falls_back<Leaf>(Fallback::malformed, bytes + std::string("\x08", 1), false);
    falls_back<Leaf>(Fallback::malformed, std::string("\x10", 1), false); // no string either
    falls_back<Leaf>(Fallback::malformed, std::string("\x12\x05" "abc", 5), false);
    falls_back<Wide>(Fallback::unsupported_type, std::string("\x08\x01", 2));
    falls_back<google::protobuf::Duration>(Fallback::no_table, std::string("\x08\x01", 2));

    Mixed timed;
    timed.mutable_time()->set_seconds(9);
    Arena arena;
    auto *parsed = Arena::CreateMessage<Mixed>(&arena);
    CHECK(reason_of_parse(parsed, timed.SerializeAsString(), true) == rackwright::fallback_reasons);
    CHECK(parsed->time().seconds() == 9);
    falls_back<Maps>(Fallback::unsupported, std::string("\x22\x04\x08\x07\x10\x32", 6)); // uint32s

    rackwright::use_units(false);
    falls_back<Leaf>(Fallback::no_units, bytes);
    rackwright::use_units(true);
}

void closed_enums_may_have_gaps()
{
    Everything sample;
    sample.set_color(rackwright::tests::INFRARED);
    for (int i = 0; i < rackwright::tests::Code_descriptor()->value_count(); i++) {
        const int number = rackwright::tests::Code_descriptor()->value(i)->number();
        const auto code = static_cast<rackwright::tests::Code>(number);
        sample.set_code(code);
        sample.add_codes(code);
        sample.add_packed_codes(code);
    }
    Maps mapped;
    (*mapped.mutable_uint32s())[7] = rackwright::tests::FAINT;
    (*mapped.mutable_codes())[7] = rackwright::tests::CODE_LEAST;
    Arena arena;
    auto *everything = Arena::CreateMessage<Everything>(&arena);
    auto *maps = Arena::CreateMessage<Maps>(&arena);
    const unsigned none = rackwright::fallback_reasons;
    CHECK(reason_of_parse(everything, sample.SerializeAsString(), true) == none);
    CHECK(everything->SerializeAsString() == sample.SerializeAsString());
    CHECK(reason_of_parse(maps, mapped.SerializeAsString(), true) == none);
    CHECK(maps->codes().at(7) == rackwright::tests::CODE_LEAST);
}

// What the unit leaves over, so many fields, has become what the library makes of it.
template <class Message> void leaves_over(uint64_t count, const std::string &bytes)
{
    Arena arena;
    auto *message = Arena::CreateMessage<Message>(&arena);
    Message model;
    CHECK(model.ParseFromString(bytes));
    for (int turn = 0; turn < 2; turn++) {
        const uint64_t before = rackwright::protobuf_counters.left_over;
        CHECK(reason_of_parse(message, bytes, true) == rackwright::fallback_reasons);
        CHECK(rackwright::protobuf_counters.left_over - before == count);
        CHECK(message->SerializeAsString() == model.SerializeAsString());
        CHECK(message->GetReflection()->GetUnknownFields(*message).field_count() ==
              model.GetReflection()->GetUnknownFields(model).field_count());
    }
}

void what_is_unknown_is_left_over()
{
    const std::string bytes = leaf(3).SerializeAsString();
    leaves_over<Leaf>(1, bytes + std::string("\xa0\x06\x01", 3)); // field 100
    leaves_over<Leaf>(3, std::string("\xa1\x06" "12345678" "\xa5\x06" "1234" "\xa2\x06\x05" "texts", 24) + bytes);
    leaves_over<Leaf>(2, std::string("\x12\x01" "a" "\x10\x05" "\x0a\x02" "ab", 9)); // of another wire type
    const std::string group("\xa3\x06\x08\x01\x12\x03" "abc" "\x0b\x10\x02\x0c\xa4\x06", 15);
    leaves_over<Leaf>(1, group);
    leaves_over<Leaf>(2, bytes + group + group);
    leaves_over<Leaf>(2, std::string("\x1a\x20\x08\x07", 4) + group + group + std::string("\x1a\x00", 2));
    leaves_over<Everything>(1, std::string("\x80\x01\x32", 3));             // color
    leaves_over<Everything>(2, std::string("\xe2\x02\x04\x00\x02\x01\x03", 7)); // packed_codes

    const std::string open_group = group.substr(0, group.size() - 2);
    falls_back<Leaf>(Fallback::malformed, open_group, false);
    falls_back<Leaf>(Fallback::malformed, open_group + std::string("\xac\x06", 2), false);
    falls_back<Leaf>(Fallback::malformed, bytes + std::string("\xa4\x06", 2), false);
    falls_back<Leaf>(Fallback::malformed, std::string("\xa2\x06\x05" "text", 7), false);

    Mixed grouped;
    grouped.mutable_pair()->set_left(1);
    grouped.set_number(4);
    leaves_over<Mixed>(1, grouped.SerializeAsString());
    grouped.SetExtension(rackwright::tests::extra, "an extension");
    grouped.mutable_time()->set_seconds(9);
    leaves_over<Mixed>(2, grouped.SerializeAsString());
}

// Objects of google.protobuf.Any know where their own fields are; the unit made these.
void any_can_be_packed_and_unpacked()
{
    Extended sample;
    sample.mutable_any();
    sample.add_anys()->PackFrom(leaf(1));
    sample.mutable_below()->mutable_chosen_any()->PackFrom(leaf(2));
    (*sample.mutable_named_anys())["key"].PackFrom(leaf(3));
    Arena arena;
    auto *message = Arena::CreateMessage<Extended>(&arena);
    CHECK(reason_of_parse(message, sample.SerializeAsString(), true) == rackwright::fallback_reasons);
    CHECK(message->SerializeAsString() == sample.SerializeAsString());
    Leaf unpacked;
    CHECK(!message->any().Is<Leaf>() && message->anys(0).UnpackTo(&unpacked));
    CHECK(unpacked.value() == 1);
    CHECK(message->below().chosen_any().UnpackTo(&unpacked) && unpacked.value() == 2);
    CHECK(message->named_anys().at("key").UnpackTo(&unpacked) && unpacked.value() == 3);
    message->mutable_any()->PackFrom(leaf(7));
    CHECK(message->any().UnpackTo(&unpacked) && unpacked.value() == 7);

    auto *alone = Arena::CreateMessage<google::protobuf::Any>(&arena);
    CHECK(reason_of_parse(alone, sample.anys(0).SerializeAsString(), true) == rackwright::fallback_reasons);
    CHECK(alone->UnpackTo(&unpacked) && unpacked.value() == 1);
    CHECK(reason_of_parse(alone, "\x08", false) == static_cast<unsigned>(Fallback::malformed));
    CHECK(reason_of_parse(alone, "", true) == rackwright::fallback_reasons);
    alone->PackFrom(leaf(5));
    CHECK(alone->UnpackTo(&unpacked) && unpacked.value() == 5);
}

void required_fields_are_asked_for()
{
    Arena arena;
    auto *message = Arena::CreateMessage<Strict>(&arena);
    const unsigned none = rackwright::fallback_reasons;
    CHECK(reason_of_parse(message, std::string("\x08\x05", 2), true) == none);
    CHECK(reason_of_parse(message, std::string("\x08\x05\x12\x00", 4), false) == none);
    CHECK(message->has_below());
    CHECK(reason_of_parse(message, "", false) == none);
    CHECK(!message->has_below() && !message->has_number());
}

void maps_are_the_units()
{
    Maps sample;
    for (int i = 0; i < 20; i++) {
        (*sample.mutable_strings())["key " + std::to_string(i)] = std::string(static_cast<size_t>(i), 'v');
        (*sample.mutable_leaves())[std::to_string(i)] = leaf(i);
        (*(*sample.mutable_below())[i].mutable_int32s())[-i] = true;
    }
    Arena arena;
    auto *message = Arena::CreateMessage<Maps>(&arena);
    const unsigned none = rackwright::fallback_reasons;
    CHECK(reason_of_parse(message, sample.SerializeAsString(), true) == none);
    CHECK(message->strings().at("key 7") == "vvvvvvv" && message->strings_size() == 20);
    CHECK(message->leaves().at("19").children_size() == 3);
    CHECK(message->below().at(4).int32s().at(-4));

    // The last of two entries counts; key and value are absent, or come in the other order.
    const std::string twice("\x12\x04\x08\x05\x10\x01\x12\x00\x12\x04\x10\x00\x08\x05", 14);
    CHECK(reason_of_parse(message, twice, true) == none);
    CHECK(message->int32s_size() == 2 && !message->int32s().at(5) && !message->int32s().at(0));

    const std::string lacks_a_field("\x82\x01\x05\x0a\x01k\x12\x00", 8);
    CHECK(reason_of_parse(message, lacks_a_field, false) == none); // required, in a value
}

void requests_are_queued()
{
    constexpr int count = 40;
    Arena arena;
    std::vector<std::string> bytes;
    std::vector<Leaf *> messages;
    std::vector<rackwright::ParseRequest> requests(count);
    for (int i = 0; i < count; i++) {
        bytes.push_back(leaf(i).SerializeAsString());
        if (i % 7 == 3) bytes.back() += std::string("\xa0\x06\x01", 3); // unknown
        if (i % 11 == 5) bytes.back() += '\x08';                       // ends within a field
        messages.push_back(Arena::CreateMessage<Leaf>(&arena));
    }
    for (int i = 0; i < count; i++) requests[i].start(messages[i], bytes[i].data(), bytes[i].size());
    for (int i = 0; i < count; i++) {
        Leaf model;
        const bool parses = model.ParseFromString(bytes[i]);
        CHECK(requests[i].wait() == parses);
        if (parses) CHECK(messages[i]->SerializeAsString() == model.SerializeAsString());
    }
}

void batches_hold_any_message()
{
    Arena arena, other;
    std::vector<std::string> bytes;
    for (int i = 0; i < 30; i++) bytes.push_back(leaf(i).SerializeAsString());
    bytes[12] += std::string("\xa0\x06\x01", 3);
    std::vector<Leaf *> messages;
    std::vector<std::string_view> data;
    Leaf on_the_heap;
    for (int i = 0; i < 30; i++) {
        messages.push_back(i == 25 ? &on_the_heap
                                   : Arena::CreateMessage<Leaf>(i < 20 ? &arena : &other));
        data.push_back(bytes[i]);
    }
    CHECK(rackwright::ParseBatch(messages.data(), data.data(), messages.size()));
    for (int i = 0; i < 30; i++) CHECK(messages[i]->SerializeAsString() == bytes[i]);
    CHECK(rackwright::ParseBatch(messages.data(), data.data(), 0));
    bytes[4].pop_back();
    data[4] = bytes[4];
    CHECK(!rackwright::ParseBatch(messages.data(), data.data(), messages.size()));
    CHECK(messages[29]->SerializeAsString() == bytes[29]);
}

} // namespace

int main()
{
#define RUN(TEST) TEST(), std::printf("%s\n", #TEST)
    RUN(the_library_is_called_for_a_reason);
    RUN(closed_enums_may_have_gaps);
    RUN(what_is_unknown_is_left_over);
    RUN(any_can_be_packed_and_unpacked);
    RUN(required_fields_are_asked_for);
    RUN(maps_are_the_units);
    RUN(requests_are_queued);
    RUN(batches_hold_any_message);
    return 0;
}
