// Messages of a batch with unknown fields or extensions, and those that the library has to serialize.
#include <algorithm>
#include <vector>

#include "additions.h"
#include "rackwright/protobuf_calls.h"

namespace rackwright::protobuf {

namespace {

// A message of a batch that has unknown fields or extensions.
struct Extended {
    Additions additions;
    size_t place;
    std::string_view made; // by the unit, without these
};

// Those of the batch at hand are first; they keep their room.
std::vector<Extended> extended;

// How their second requests ended.
std::vector<Record> records;

// Puts what they have in addition into the outputs of those that the unit made, which lie below each other
// and end at `end`. They move down, the lowest first. False when there is no room: all are as they were.
bool insert_all(Extended *first, Extended *last, char *start, char *end, std::string_view *outputs)
{
    size_t growth = 0, made = 0;
    for (Extended *each = first; each < last; each++) {
        if (each->made.data() == nullptr) continue;
        growth += each->additions.growth();
        end = const_cast<char *>(each->made.data());
        made++;
    }
    if (growth > static_cast<size_t>(end - start)) return false;
    while (last-- > first) {
        if (last->made.data() == nullptr) continue;
        growth -= last->additions.growth();
        outputs[last->place] = last->additions.insert(growth);
    }
    protobuf_counters.serialized += made;
    protobuf_counters.added += made;
    return true;
}

// Finds the places of additions in outputs as these are made, from `next` on; waits for all before `least`.
size_t find_places(size_t next, size_t least, size_t started)
{
    for (; next < started; next++) {
        const Record &record = records[next];
        while (next < least && !record.is_complete()) {
        }
        if (!record.is_complete()) break;
        Extended &each = extended[next];
        if (record.status() != RACKWRIGHT_OK) continue;
        each.made = {reinterpret_cast<const char *>(record.words[1]), record.words[2]};
        each.additions.find_places(each.made);
    }
    return next;
}

} // namespace

void SerializeProgress::prepare(size_t i)
{
    failed_++;
    if (extended_ == extended.size()) extended.emplace_back();
    Extended &each = extended[extended_];
    each.additions.look_for(type_, *messages_[i]);
    each.place = i;
    each.made = {};
    if (!each.additions.are_none()) extended_++;
}

// Has the unit serialize those with additions without them, and puts these into what it has made.
bool SerializeProgress::add_all(char *start, char *end)
{
    if (extended_ == 0) return true;
    records.resize(std::max(records.size(), extended_));
    for (size_t i = 0; i < extended_; i++) {
        extended[i].additions.hide();
        records[i].words[0] = 0;
    }
    set_output(start, end, nullptr);
    fence();
    size_t located = 0;
    for (size_t i = 0; i < extended_; i++) {
        set_serialize_record(&records[i]);
        start_serialize(type_.serializer_table, messages_[extended[i].place]);
        located = find_places(located, 0, i + 1);
    }
    find_places(located, extended_, extended_);
    wait_for_serializations(); // and forgets which have failed
    fence();
    for (size_t i = 0; i < extended_; i++) extended[i].additions.show();
    return insert_all(extended.data(), extended.data() + extended_, start, end, outputs_);
}

bool SerializeProgress::leave_to_library(char *start, char *end)
{
    for (size_t i = 0; i < count_; i++) {
        if (outputs_[i].data() != nullptr) continue;
        // Its status may be another than that of the first which failed.
        const uint64_t outcome = serialize_one(type_, *messages_[i], start, end);
        count_fallback(static_cast<rackwright_status>(outcome - 1));
        outputs_[i] = serialize_by_library(*messages_[i], start, end);
        if (outputs_[i].data() == nullptr) return false;
        end = const_cast<char *>(outputs_[i].data());
    }
    return true;
}

// Where the lowest output begins.
char *SerializeProgress::lowest(char *end) const
{
    for (size_t i = 0; i < count_; i++) {
        if (outputs_[i].data() != nullptr) end = std::min(end, const_cast<char *>(outputs_[i].data()));
    }
    return end;
}

bool SerializeProgress::finish(char *start, char *end)
{
    const size_t made = protobuf_counters.serialized;
    protobuf_counters.serialized += count_ - failed_;
    if (!add_all(start, lowest(end))) return false;
    if (protobuf_counters.serialized - made == count_) return true;
    return leave_to_library(start, lowest(end));
}

} // namespace rackwright::protobuf
