// The library's own calls, by the units, for programs that know nothing of them: linked with `--wrap` for each of
// these functions (python/rackwright/protobuf/program.py has their names), calls that a program makes come here.
// What the library calls within itself stays its own.
#include <google/protobuf/message.h>

#include <climits>
#include <string>

#include "rackwright/protobuf_calls.h"

namespace {

using google::protobuf::Message;
using google::protobuf::MessageLite;
using rackwright::protobuf::Type;

// Calls that the runtime makes for want of the units are the library's.
bool in_runtime = false;

struct Within {
    Within() { in_runtime = true; }
    ~Within() { in_runtime = false; }
};

// The type of an object of a class with a table: such classes are no lite ones.
const Type *type_of(const MessageLite &object)
{
    const auto &state = rackwright::protobuf::state;
    if (in_runtime || !(state.units_in_use || state.shares_units)) return nullptr;
    return rackwright::protobuf::type_of_object(static_cast<const Message &>(object));
}

bool parse(const Type &type, Message *message, const void *data, size_t size)
{
    const Within within;
    if (!rackwright::protobuf::prepare(&type, *message, size)) {
        return rackwright::protobuf::parse_otherwise(&type, message, data, size);
    }
    message->Clear();
    rackwright::protobuf::fence();
    rackwright::protobuf::start_parse(type.table, message, data, size);
    rackwright::protobuf_counters.parsed++;
    const uint64_t outcome = rackwright::protobuf::wait_for_parses();
    rackwright::protobuf::fence();
    if (outcome != 0 || rackwright::protobuf::has_leftovers()) {
        return rackwright::protobuf::finish(type, message, data, size, outcome);
    }
    return rackwright::protobuf::complete(type, message);
}

// In the last bytes of a room of ours, which what is larger does not fit into: a view of null then.
std::string_view serialize(const MessageLite &object)
{
    constexpr size_t capacity = 1 << 20;
    static char room[capacity];
    const Type *const type = type_of(object);
    if (type == nullptr || !type->serializes) return {};
    const Within within;
    char *const end = room + capacity;
    const auto &message = static_cast<const Message &>(object);
    if (rackwright::protobuf::state.shares_units) {
        return rackwright::protobuf::serialize_elsewhere(type, message, room, end);
    }
    const uint64_t outcome = rackwright::protobuf::serialize_one(*type, message, room, end);
    if (!rackwright::protobuf::is_output(outcome)) {
        const auto status = static_cast<rackwright_status>(outcome - 1);
        return rackwright::protobuf::serialize_otherwise(*type, message, status, room, end);
    }
    const char *const first = reinterpret_cast<const char *>(outcome);
    return {first, static_cast<size_t>(end - first)};
}

} // namespace

// Names as they are for the linker; `real` is the library's own.
#define PARSE_ARRAY(PREFIX) PREFIX##_ZN6google8protobuf11MessageLite14ParseFromArrayEPKvi
#define PARSE_STRING(PREFIX)                                                                           \
    PREFIX##_ZN6google8protobuf11MessageLite15ParseFromStringERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
#define TO_ARRAY(PREFIX) PREFIX##_ZNK6google8protobuf11MessageLite16SerializeToArrayEPvi
#define TO_STRING(PREFIX)                                                                              \
    PREFIX##_ZNK6google8protobuf11MessageLite17SerializeToStringEPNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE

extern "C" {

bool PARSE_ARRAY(__real_)(MessageLite *message, const void *data, int size);
bool PARSE_STRING(__real_)(MessageLite *message, const std::string &data);
bool TO_ARRAY(__real_)(const MessageLite *message, void *data, int size);
bool TO_STRING(__real_)(const MessageLite *message, std::string *output);

bool PARSE_ARRAY(__wrap_)(MessageLite *message, const void *data, int size)
{
    const Type *const type = size < 0 ? nullptr : type_of(*message);
    if (type == nullptr) return PARSE_ARRAY(__real_)(message, data, size);
    return parse(*type, static_cast<Message *>(message), data, static_cast<size_t>(size));
}

bool PARSE_STRING(__wrap_)(MessageLite *message, const std::string &data)
{
    const Type *const type = type_of(*message);
    if (type == nullptr) return PARSE_STRING(__real_)(message, data);
    return parse(*type, static_cast<Message *>(message), data.data(), data.size());
}

bool TO_ARRAY(__wrap_)(const MessageLite *message, void *data, int size)
{
    const std::string_view made = serialize(*message);
    if (made.data() == nullptr) return TO_ARRAY(__real_)(message, data, size);
    if (size < 0 || made.size() > static_cast<size_t>(size)) return false;
    std::memcpy(data, made.data(), made.size());
    return true;
}

bool TO_STRING(__wrap_)(const MessageLite *message, std::string *output)
{
    const std::string_view made = serialize(*message);
    if (made.data() == nullptr) return TO_STRING(__real_)(message, output);
    output->assign(made.data(), made.size());
    return true;
}

} // extern "C"

// It returns an object, which C has none of: for the linker it is named so all the same.
std::string serialize_as_string(const MessageLite *message) __asm__(
    "__wrap__ZNK6google8protobuf11MessageLite17SerializeAsStringB5cxx11Ev");
std::string serialize_as_string(const MessageLite *message)
{
    std::string output;
    TO_STRING(__wrap_)(message, &output);
    return output;
}
