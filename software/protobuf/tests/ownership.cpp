// Objects that the unit has made are read, changed, moved, cleared and destroyed as the library's own:
// every change is made to an object of the library too, and both must serialize to the same bytes. The
// heap is checked (memory.h): nothing is freed twice, or freed that is not of the heap, and nothing
// leaks.
#include <google/protobuf/arena.h>

#include <functional>
#include <string>

#include "check.h"
#include "everything.pb.h"
#include "memory.h"
#include "modern.pb.h"
#include "rackwright/protobuf.h"
#include "serialized.h"

namespace {

using google::protobuf::Arena;
using google::protobuf::Message;
using rackwright::tests::Everything;
using rackwright::tests::Leaf;
using rackwright::tests::Maps;
using rackwright::tests::Modern;

std::string text(size_t size)
{
    std::string bytes;
    for (size_t i = 0; i < size; i++) bytes += static_cast<char>('a' + i % 26);
    return bytes;
}

void fill(Leaf *leaf, int depth)
{
    leaf->set_value(depth);
    leaf->set_name(text(static_cast<size_t>(7 * depth)));
    for (int i = 0; i < depth; i++) fill(leaf->add_children(), depth - 1);
}

Everything sample()
{
    Everything message;
    message.set_int32_field(-5);
    message.set_double_field(2.5);
    message.set_string_field(text(100));
    message.set_bytes_field(text(3));
    fill(message.mutable_leaf(), 3);
    for (int i = 0; i < 20; i++) {
        message.add_int32s(i);
        message.add_sint64s(-i);
        message.add_strings(text(static_cast<size_t>(5 * i)));
        fill(message.add_leaves(), i % 3);
    }
    message.set_chosen_text(text(30));
    message.mutable_upper_case()->set_flag(true);
    return message;
}

using Change = std::function<void(Everything *)>;

// Everything that a program may do to an object on an arena.
const Change changes[] = {
    [](Everything *) {},
    [](Everything *m) { m->mutable_string_field()->append(text(1000)); },
    [](Everything *m) { m->mutable_bytes_field()->append(text(12)); },
    [](Everything *m) { m->set_string_field("short"); },
    [](Everything *m) { m->set_string_field(text(5000)); },
    [](Everything *m) { m->clear_string_field(); },
    [](Everything *m) {
        for (std::string &each : *m->mutable_strings()) each += text(300);
    },
    [](Everything *m) {
        for (int i = 0; i < 1000; i++) m->add_int32s(i), m->add_sint64s(i), m->add_strings(text(40));
    },
    [](Everything *m) {
        for (int i = 0; i < 50; i++) fill(m->add_leaves(), 2);
    },
    [](Everything *m) { m->mutable_leaves()->DeleteSubrange(3, 10); },
    [](Everything *m) { m->mutable_strings()->DeleteSubrange(0, 15); },
    [](Everything *m) {
        m->mutable_strings()->Clear();
        m->add_strings(text(700));
    },
    [](Everything *m) { m->mutable_strings()->SwapElements(0, 19); },
    [](Everything *m) { m->mutable_int32s()->Truncate(4); },
    [](Everything *m) { m->mutable_leaf()->mutable_children(1)->set_name(text(80)); },
    [](Everything *m) { m->set_chosen_number(4); },
    [](Everything *m) { m->mutable_chosen_leaf()->set_name(text(60)); },
    [](Everything *m) { delete m->release_leaf(); },
    [](Everything *m) { delete m->release_string_field(); },
    [](Everything *m) { delete m->release_chosen_text(); },
    [](Everything *m) { delete m->mutable_leaves()->ReleaseLast(); },
    [](Everything *m) { m->set_allocated_leaf(new Leaf); },
    [](Everything *m) { m->set_allocated_string_field(new std::string(text(90))); },
    [](Everything *m) {
        Everything other = sample();
        other.set_int32_field(77);
        m->Swap(&other);
    },
    [](Everything *m) {
        Everything copy(*m);
        m->MergeFrom(copy);
    },
    [](Everything *m) {
        Everything moved = std::move(*m);
        moved.mutable_strings(19)->append(text(100));
        *m = moved;
    },
    [](Everything *m) {
        m->Clear();
        m->set_string_field(text(20));
        m->add_strings("again");
    },
};

void parse(Everything *message, const std::string &bytes)
{
    const auto before = rackwright::protobuf_counters;
    CHECK(rackwright::ParseFromArray(message, bytes.data(), bytes.size()));
    const auto counted = rackwright::protobuf_counters - before;
    CHECK(counted.parsed == 1 && counted.all_fallbacks() == 0);
}

// Each change, to an object of the unit and to one of the library.
void objects_change_like_those_of_the_library()
{
    const std::string bytes = sample().SerializeAsString();
    for (const Change &change : changes) {
        Arena arena;
        auto *message = Arena::CreateMessage<Everything>(&arena);
        Everything model;
        parse(message, bytes);
        CHECK(model.ParseFromString(bytes));
        change(message);
        change(&model);
        CHECK(message->SerializeAsString() == model.SerializeAsString());
    }
}

void an_object_is_parsed_into_again()
{
    const std::string bytes = sample().SerializeAsString();
    Arena arena;
    auto *message = Arena::CreateMessage<Everything>(&arena);
    for (const Change &change : changes) {
        parse(message, bytes);
        CHECK(message->SerializeAsString() == bytes);
        change(message);
    }
}

void an_arena_is_reset()
{
    const std::string bytes = sample().SerializeAsString();
    Arena arena;
    for (int i = 0; i < 5; i++) {
        auto *message = Arena::CreateMessage<Everything>(&arena);
        parse(message, bytes);
        message->mutable_string_field()->append(text(500));
        arena.Reset();
    }
}

void arenas_take_turns()
{
    const std::string bytes = sample().SerializeAsString();
    Arena arenas[3];
    Everything *messages[3];
    for (int turn = 0; turn < 4; turn++) {
        for (int i = 0; i < 3; i++) {
            messages[i] = Arena::CreateMessage<Everything>(&arenas[i]);
            parse(messages[i], bytes);
            messages[i]->mutable_strings(5)->append(text(200));
        }
        arenas[turn % 3].Reset();
    }
}

void a_region_grows()
{
    Everything large;
    for (int i = 0; i < 3000; i++) large.add_strings(text(200));
    for (int i = 0; i < 3000; i++) fill(large.add_leaves(), 1);
    const std::string bytes = large.SerializeAsString();
    Arena arena;
    const auto before = rackwright::protobuf_counters;
    auto *message = Arena::CreateMessage<Everything>(&arena);
    parse(message, bytes);
    CHECK((rackwright::protobuf_counters - before).regions > 1);
    CHECK(message->SerializeAsString() == bytes);
    message->mutable_strings(2999)->append(text(1000));
}

// Strings are moved out of objects, and live longer than the arena; others are parsed meanwhile.
void contents_are_moved_elsewhere()
{
    const std::string bytes = sample().SerializeAsString();
    std::string moved, released_text, swapped = text(90);
    std::string *released = nullptr;
    {
        Arena arena;
        auto *message = Arena::CreateMessage<Everything>(&arena);
        parse(message, bytes);
        moved = std::move(*message->mutable_string_field());
        swapped.swap(*message->mutable_strings(19));
        released = message->release_chosen_text();
        message->mutable_leaf()->mutable_name()->swap(released_text);
        CHECK(message->strings(19) == text(90));
    }
    for (int i = 0; i < 3; i++) {
        Arena arena;
        auto *message = Arena::CreateMessage<Everything>(&arena);
        parse(message, bytes);
        message->mutable_strings(18)->assign(text(85)); // in place
    }
    CHECK(moved == text(100) && swapped == text(95) && *released == text(30));
    CHECK(released_text == text(21));
    delete released;
}

// A region that somebody still holds contents of is used again when these have been freed.
void regions_are_used_again()
{
    const std::string bytes = sample().SerializeAsString();
    const auto regions_for = [&](bool keeps) {
        std::string kept;
        std::string first;
        for (int i = 0; i < 2; i++) {
            Arena arena;
            auto *message = Arena::CreateMessage<Everything>(&arena);
            parse(message, bytes);
            const char *place = message->strings(18).data();
            if (i == 0) {
                if (keeps) kept = std::move(*message->mutable_string_field());
                first.assign(reinterpret_cast<const char *>(&place), sizeof place);
            } else {
                return first == std::string(reinterpret_cast<const char *>(&place), sizeof place);
            }
        }
        return false;
    };
    CHECK(regions_for(false));
    CHECK(!regions_for(true));
    CHECK(regions_for(false));
}

void modern_objects_change_too()
{
    Modern sample;
    sample.set_text(text(50));
    sample.add_packed_numbers(5);
    sample.mutable_below()->set_text(text(4));
    sample.mutable_right()->add_texts(text(77));
    const std::string bytes = sample.SerializeAsString();
    Arena arena;
    auto *message = Arena::CreateMessage<Modern>(&arena);
    CHECK(rackwright::ParseFromArray(message, bytes.data(), bytes.size()));
    CHECK(message->SerializeAsString() == bytes);
    message->mutable_below()->mutable_text()->append(text(100));
    message->mutable_right()->add_texts(text(400));
    message->clear_below();
    message->set_left(text(20));
    CHECK(message->left() == text(20) && !message->has_below());
}

Maps sample_of_maps()
{
    Maps message;
    for (int i = 0; i < 12; i++) {
        (*message.mutable_strings())[text(static_cast<size_t>(3 * i))] = text(static_cast<size_t>(50 * i));
        fill(&(*message.mutable_leaves())[text(static_cast<size_t>(i))], i % 3);
        (*message.mutable_sint64s())[-i] = text(20);
        (*(*message.mutable_below())[i].mutable_bools())[true] = text(70);
    }
    return message;
}

// What a program may do to maps.
const std::function<void(Maps *)> map_changes[] = {
    [](Maps *) {},
    [](Maps *m) { (*m->mutable_strings())[text(9)].append(text(200)); },
    [](Maps *m) { (*m->mutable_strings())["new"] = text(100); },
    [](Maps *m) { m->mutable_strings()->erase(text(6)); },
    [](Maps *m) { m->mutable_leaves()->clear(); },
    [](Maps *m) {
        for (int i = 0; i < 200; i++) (*m->mutable_below())[i].mutable_strings()->insert({"a", text(30)});
    },
    [](Maps *m) {
        std::string taken = std::move((*m->mutable_strings())[text(33)]);
        CHECK(taken == text(550));
    },
    [](Maps *m) {
        const auto *field = m->GetDescriptor()->FindFieldByName("strings");
        Message *entry = m->GetReflection()->AddMessage(m, field); // the repeated field again
        entry->GetReflection()->SetString(entry, field->message_type()->map_key(), "by reflection");
    },
    [](Maps *m) {
        Maps other = sample_of_maps();
        other.mutable_strings()->erase("");
        m->mutable_strings()->swap(*other.mutable_strings());
        m->MergeFrom(other);
    },
    [](Maps *m) {
        Maps moved = std::move(*m);
        moved.mutable_below()->erase(3);
        *m = moved;
    },
    [](Maps *m) {
        m->Clear();
        (*m->mutable_strings())["again"] = text(40);
    },
};

// Each change, before the library has looked at the maps and after.
void maps_change_like_those_of_the_library()
{
    const std::string bytes = serialized(sample_of_maps());
    for (const auto &change : map_changes) {
        for (const bool looked_at : {false, true}) {
            Arena arena;
            auto *message = Arena::CreateMessage<Maps>(&arena);
            Maps model;
            CHECK(rackwright::ParseFromArray(message, bytes.data(), bytes.size()));
            CHECK(model.ParseFromString(bytes));
            if (looked_at) CHECK(message->strings().at(text(3)) == text(50));
            change(message);
            change(&model);
            CHECK(serialized(*message) == serialized(model));
            CHECK(rackwright::ParseFromArray(message, bytes.data(), bytes.size()));
            CHECK(serialized(*message) == bytes);
        }
    }
}

void run(const char *name, void (*test)())
{
    test();
    const size_t after_first = blocks_in_use();
    test();
    CHECK(blocks_in_use() == after_first); // nothing leaks from one time to the next
    std::printf("%s\n", name);
}

} // namespace

int main()
{
#define RUN(TEST) run(#TEST, TEST)
    RUN(objects_change_like_those_of_the_library);
    RUN(an_object_is_parsed_into_again);
    RUN(an_arena_is_reset);
    RUN(arenas_take_turns);
    RUN(a_region_grows);
    RUN(contents_are_moved_elsewhere);
    RUN(regions_are_used_again);
    RUN(modern_objects_change_too);
    RUN(maps_change_like_those_of_the_library);
    return 0;
}
