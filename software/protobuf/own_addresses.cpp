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
        const MessageField &field = type.messages[i];
        if (!field.holds_own_addresses) continue;
        if (!field.repeated) {
            if (Message *below = message_of(field, *message)) set_all_own_addresses(*field.type, below);
            continue;
        }
        const Elements elements = field.map ? entries_of(field, *message) : elements_of(field, *message);
        for (uint32_t e = 0; e < elements.count; e++) {
            set_all_own_addresses(*field.type, elements.first[e]);
        }
    }
}

} // namespace rackwright::protobuf
