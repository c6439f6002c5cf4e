// How long a call takes from end to end when there is nothing to do in it.
//
//   latency deserialize|serialize
//
// Prints the cycles of a call for an empty message, the mean of many that each wait for the one before.
#include <google/protobuf/arena.h>

#include <cstdio>
#include <cstring>

#include "check.h"
#include "everything.pb.h"
#include "rackwright/protobuf.h"
#include "rackwright/rocc.h"

namespace {

using rackwright::tests::Empty;

constexpr uint64_t CALLS = 256;

// Cycles of a call, after as many that warm the caches.
template <typename Call> double cycles_of(Call call)
{
    uint64_t taken = 0;
    for (int turn = 0; turn < 2; turn++) {
        const uint64_t began = rackwright_cycles();
        for (uint64_t i = 0; i < CALLS; i++) CHECK(call());
        taken = rackwright_cycles() - began;
    }
    return static_cast<double>(taken) / CALLS;
}

} // namespace

int main(int, char **arguments)
{
    google::protobuf::Arena arena;
    auto *message = google::protobuf::Arena::CreateMessage<Empty>(&arena);
    char room[64];
    const double cycles =
        std::strcmp(arguments[1], "serialize") == 0
            ? cycles_of([&] {
                  return rackwright::SerializeToTail(*message, room, sizeof room).data() != nullptr;
              })
            : cycles_of([&] { return rackwright::ParseFromArray(message, room, 0); });
    CHECK(rackwright::protobuf_counters.all_fallbacks() == 0);
    std::printf("%.1f\n", cycles);
}
