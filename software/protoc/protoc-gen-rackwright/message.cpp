#include "message.h"

#include <google/protobuf/compiler/cpp/helpers.h>

#include <algorithm>
#include <set>
#include <vector>

#include "field.h"

namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::compiler::cpp::ClassName;
using google::protobuf::compiler::cpp::HasHasbit;

// Entries of a table that is still worth keeping on chip.
constexpr int most_entries = 4096;

std::vector<const FieldDescriptor *> fields_in_order(const Descriptor *message)
{
    std::vector<const FieldDescriptor *> fields;
    for (int i = 0; i < message->field_count(); i++) fields.push_back(message->field(i));
    std::sort(fields.begin(), fields.end(), [](const FieldDescriptor *a, const FieldDescriptor *b) {
        return a->number() < b->number();
    });
    return fields;
}

// Whether an object of this class can lack a required field, in itself or below.
bool has_required(const Descriptor *message, std::set<const Descriptor *> *seen)
{
    if (!seen->insert(message).second) return false;
    for (int i = 0; i < message->field_count(); i++) {
        const FieldDescriptor *field = message->field(i);
        if (field->is_required()) return true;
        const Descriptor *below = field->message_type();
        if (below != nullptr && has_required(below, seen)) return true;
    }
    return false;
}

// What keeps the units from handling the class at all.
std::string limits_of(const Descriptor *message, bool too_wide)
{
    const bool sets = message->options().message_set_wire_format();
    const bool extends = message->extension_range_count() > 0;
    std::string limits;
    if (too_wide || sets) limits += "::rackwright::protobuf::parses_nothing | ";
    if (too_wide || sets || extends) {
        limits += "::rackwright::protobuf::serializes_nothing | ";
    }
    return limits + "0u";
}

bool any_hasbits(const Descriptor *message)
{
    for (int i = 0; i < message->field_count(); i++) {
        if (HasHasbit(message->field(i))) return true;
    }
    return false;
}

} // namespace

std::string declaration_of(const Descriptor *message)
{
    const std::string name = ClassName(message);
    return "static ::rackwright::protobuf::Type rackwright_type;\n"
           "static void RackwrightDescribe(::rackwright::protobuf::Builder &builder,\n"
           "                               const " +
           name + " &object);\n";
}

std::string definition_of(const Descriptor *message)
{
    const std::string name = ClassName(message);
    auto fields = fields_in_order(message);
    int first = fields.empty() ? 1 : fields.front()->number();
    int last = fields.empty() ? 1 : fields.back()->number();
    const bool too_wide = last - first >= most_entries;
    if (too_wide) {
        fields.clear();
        first = last = 1;
    }
    std::set<const Descriptor *> seen;
    const std::string required = has_required(message, &seen) ? "true" : "false";
    const std::string room = "rackwright_room_" + name;
    const std::string range = std::to_string(first) + ", " + std::to_string(last);

    std::string text = "\nvoid " + name +
                       "::RackwrightDescribe(::rackwright::protobuf::Builder &builder,\n"
                       "    const " +
                       name + " &object)\n{\n    (void)builder, (void)object;\n";
    if (any_hasbits(message)) {
        text += "    builder.hasbits(&object._impl_._has_bits_, sizeof object._impl_._has_bits_);\n";
    }
    for (const FieldDescriptor *field : fields) text += description_of(field);
    if (message->extension_range_count() > 0) text += "    builder.extensions();\n";
    text += "}\nstatic ::rackwright::protobuf::Storage<sizeof(" + name + "), " +
            std::to_string(last - first + 1) + ", " + std::to_string(fields.size()) + "> " + room +
            ";\n::rackwright::protobuf::Type " + name + "::rackwright_type(" + room + ".table, " +
            required + ");\n[[maybe_unused]] static const bool rackwright_built_" + name +
            " = ::rackwright::protobuf::describe<" + name + ">(\n    " + name +
            "::rackwright_type, " + room + ", " + range + ", " + limits_of(message, too_wide) +
            ",\n    &" + name + "::RackwrightDescribe);\n";
    return text;
}
