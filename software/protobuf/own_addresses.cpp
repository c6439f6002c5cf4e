// Objects that hold addresses of their own parts, as google.protobuf.Any: the deserializer leaves zeros
// there.
#include "objects.h"

namespace rackwright::protobuf {

using google::protobuf::Message;

void set_own_addresses(const Type &type, Message *message)
{
    char *const object = reinterpret_cast<char *>(message);
    for (size_t i = 0; i < type.own_count; i++) {
        const char *const address = object + type.own[i].of;
        std::memcpy(object + type.own[i].at, &address, sizeof address);
    }
}

void set_all_own_addresses(const Type &type, Message *message)
{
    set_own_addresses(type, message);
    for (size_t i = 0; i < type.message_count; i++) {
        const MessageRow row(type, i);
        if ((row.type().holds & own_addresses) == 0) continue;
        if (!row.is_repeated()) {
            if (Message *below = row.of(*message)) set_all_own_addresses(row.type(), below);
            continue;
        }
        const auto elements = row.is_map() ? row.entries_of(*message) : row.elements_of(*message);
        for (uint32_t e = 0; e < elements.count; e++) {
            set_all_own_addresses(row.type(), elements.first[e]);
        }
    }
}

} // namespace rackwright::protobuf
