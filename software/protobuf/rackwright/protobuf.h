// Parses and serializes messages of the official protobuf C++ library with the units beside the core.
//
//     google::protobuf::Arena arena;
//     auto *message = google::protobuf::Arena::CreateMessage<my::Message>(&arena);
//     if (rackwright::ParseFromArray(message, data, size)) …
//
// The classes are those that protoc writes, with the members that protoc-gen-rackwright adds. A call
// does what the library's function of that name does. It uses the unit where it can; otherwise it
// calls the library and counts why. The unit parses into messages on an arena only: all that it
// makes belongs to the arena and may be read, changed and cleared like anything else there. Parsing
// into the same message again takes new memory of the arena, until the arena is reset.
//
// A program that links this library has its `operator delete` and can't have another, and runs on a
// machine with the units unless it calls `use_units(false)`. On an operating system units are shared: calls
// then have a unit do one message at a time, and requests are done when they are waited for. Nothing here may
// be called from two threads at once; an arena must not end while a request for one of its messages is under
// way. No other thread may look at a message that is being serialized: unknown fields and extensions are
// hidden meanwhile.
#pragma once

#include <google/protobuf/message.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rackwright/protobuf_counters.h"
#include "rackwright/protobuf_type.h"
#include "rackwright/protobuf_units.h"

namespace rackwright {

// Whether calls may use the units: true at first on RV64, false and without effect elsewhere.
void use_units(bool use);

// Like message->ParseFromArray(data, size).
template <class Message> bool ParseFromArray(Message *message, const void *data, size_t size);

// Serializes as the library does deterministically, into the last bytes of `data`..`data + capacity`;
// gives the bytes written. A view of null means that they did not fit. This is the unit's own way:
// nothing is moved.
template <class Message>
std::string_view SerializeToTail(const Message &message, void *data, size_t capacity);

// The same from `data` on. False when the bytes did not fit. `written`, if given, takes their number.
template <class Message>
bool SerializeToArray(const Message &message, void *data, size_t capacity,
                      size_t *written = nullptr);

// Parses data[i] into *messages[i] for every i, with as many requests under way as the unit takes.
// True when each of them would have been parsed; otherwise the others have been parsed nevertheless.
template <class Message>
bool ParseBatch(Message *const *messages, const std::string_view *data, size_t count);

// Serializes every message into the range, each below the one before, as SerializeToTail does.
// outputs[i] takes the bytes of *messages[i]. False when they did not all fit.
template <class Message>
bool SerializeBatch(const Message *const *messages, size_t count, void *data, size_t capacity,
                    std::string_view *outputs);

// Tells that messages of this arena will be parsed that take about `bytes` bytes of memory, as the
// arena's own initial block does for the library.
void reserve_for_parsing(google::protobuf::Arena *arena, size_t bytes);

// A parse that goes on while the core does something else. The message and the data must stay until
// wait() has returned; so must this object, which takes a new start after that.
class ParseRequest {
  public:
    template <class Message> void start(Message *message, const void *data, size_t size);

    // Whether wait() would return at once.
    bool is_done() const { return !uses_unit_ || record_.is_complete(); }

    // What ParseFromArray would have returned.
    bool wait();

  private:
    protobuf::Record record_;
    const protobuf::Type *type_ = nullptr;
    google::protobuf::Message *message_ = nullptr;
    const void *data_ = nullptr;
    size_t size_ = 0;
    bool uses_unit_ = false;
};

// A range that serialized messages fill from its end downward.
class OutputRegion {
  public:
    OutputRegion(void *data, size_t capacity);
    ~OutputRegion();
    OutputRegion(const OutputRegion &) = delete;
    OutputRegion &operator=(const OutputRegion &) = delete;

  private:
    friend class SerializeRequest;
    char *start_;
    char *end_;
};

// A serialization that goes on while the core does something else. The message must stay as it is,
// and this object and the region must stay, until wait() has returned.
class SerializeRequest {
  public:
    // Requests of one region must be waited for in the order in which they were started, and before
    // a request for another region is started.
    template <class Message> void start(const Message &message, OutputRegion *region);

    // Whether wait() would return at once.
    bool is_done() const { return !uses_unit_ || record_.is_complete(); }

    // The bytes: in the region, or, when the library made them, in this object. A view of null means
    // that they did not fit into the region.
    std::string_view wait();

  private:
    protobuf::Record record_;
    const protobuf::Type *type_ = nullptr;
    const google::protobuf::Message *message_ = nullptr;
    OutputRegion *region_ = nullptr;
    std::string own_;
    bool uses_unit_ = false;
};

} // namespace rackwright

#include "rackwright/protobuf_calls.h"
