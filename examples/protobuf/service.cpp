// A service that gets a trip, adds a stop, and sends the trip on: with the library as it is, or with
// the units. The two differ in the calls that parse and serialize, and in nothing else.
#include <google/protobuf/arena.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "rackwright/protobuf.h"
#include "rackwright/rocc.h"
#include "trip.pb.h"

namespace {

using example::Trip;
using google::protobuf::Arena;

std::string received_trip()
{
    Trip trip;
    trip.set_id(77);
    trip.set_driver("somebody with a rather long name");
    for (int i = 0; i < 20; i++) {
        Trip::Stop *stop = trip.add_stops();
        stop->set_place("stop number " + std::to_string(i));
        stop->set_degrees(20 - i);
        trip.add_minutes(static_cast<uint32_t>(15 * i));
    }
    return trip.SerializeAsString();
}

// The service itself.
void add_stop(Trip *trip)
{
    trip->mutable_driver()->append(", driving");
    trip->add_stops()->set_place("the last stop, where everybody gets off");
}

std::string by_library(const std::string &request)
{
    Arena arena;
    auto *trip = Arena::CreateMessage<Trip>(&arena);
    if (!trip->ParseFromArray(request.data(), static_cast<int>(request.size()))) return {};
    add_stop(trip);
    std::string reply(trip->ByteSizeLong(), '\0');
    trip->SerializeToArray(reply.data(), static_cast<int>(reply.size()));
    return reply;
}

std::string by_units(const std::string &request)
{
    Arena arena;
    auto *trip = Arena::CreateMessage<Trip>(&arena);
    if (!rackwright::ParseFromArray(trip, request.data(), request.size())) return {};
    add_stop(trip);
    static char room[4096];
    return std::string(rackwright::SerializeToTail(*trip, room, sizeof room));
}

} // namespace

int main(int, char **arguments)
{
    const bool uses_units = std::strcmp(arguments[1], "units") == 0;
    const auto serve = uses_units ? by_units : by_library;
    const std::string request = received_trip();
    std::string reply = serve(request); // warms the caches
    const uint64_t start = rackwright_cycles();
    reply = serve(request);
    const uint64_t cycles = rackwright_cycles() - start;
    std::printf("%s: %zu bytes in, %zu out, %d cycles, %d calls left to the library, %s\n",
                arguments[1], request.size(), reply.size(), static_cast<int>(cycles),
                static_cast<int>(rackwright::protobuf_counters.all_fallbacks()),
                reply == by_library(request) ? "as the library" : "DIFFERENT");
    return 0;
}
