#include "message.h"

#include <google/protobuf/compiler/cpp/helpers.h>
#include <google/protobuf/compiler/cpp/options.h>

#include <algorithm>
#include <set>
#include <vector>

#include "field.h"

namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::compiler::cpp::ClassName;
using google::protobuf::compiler::cpp::HasHasbit;
using google::protobuf::compiler::cpp::Options;

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

bool is_required(const Descriptor *, const FieldDescriptor *field)
{
    return field->is_required();
}

// google.protobuf.Any has addresses of its own fields.
bool is_in_any(const Descriptor *message, const FieldDescriptor *)
{
    return google::protobuf::compiler::cpp::IsAnyMessage(message, Options());
}

// Whether objects of this class have a field of which `is_it` is true, in themselves or below.
template <class Predicate>
bool holds(const Descriptor *message, Predicate is_it, std::set<const Descriptor *> *seen)
{
    if (!seen->insert(message).second) return false;
    for (int i = 0; i < message->field_count(); i++) {
        const FieldDescriptor *field = message->field(i);
        if (is_it(message, field)) return true;
        const Descriptor *below = field->message_type();
        if (below != nullptr && holds(below, is_it, seen)) return true;
    }
    return false;
}

// What a Type says that its objects hold.
std::string held_by(const Descriptor *message)
{
    std::set<const Descriptor *> seen, seen_too;
    std::string held;
    if (holds(message, is_required, &seen)) held += "::rackwright::protobuf::required_fields | ";
    if (holds(message, is_in_any, &seen_too)) held += "::rackwright::protobuf::own_addresses | ";
    return held + "0u";
}

// What keeps the units from handling the class at all.
std::string limits_of(const Descriptor *message, bool too_wide)
{
    if (!too_wide && !message->options().message_set_wire_format()) return "0u";
    return "::rackwright::protobuf::parses_nothing | ::rackwright::protobuf::serializes_nothing";
}

std::string description_of_extensions(const Descriptor *message)
{
    std::vector<const Descriptor::ExtensionRange *> ranges;
    for (int i = 0; i < message->extension_range_count(); i++) {
        ranges.push_back(message->extension_range(i));
    }
    std::sort(ranges.begin(), ranges.end(), [](const auto *a, const auto *b) {
        return a->start < b->start;
    });
    std::string listed;
    for (const auto *each : ranges) {
        listed += "{" + std::to_string(each->start) + ", " + std::to_string(each->end) + "}, ";
    }
    return "    static const ::rackwright::protobuf::Extensions::Range ranges[] = {" + listed +
           "};\n    builder.extensions({&object._impl_._extensions_, internal_default_instance(),\n"
           "        ranges, " +
           std::to_string(ranges.size()) + "});\n";
}

size_t message_fields_in(const std::vector<const FieldDescriptor *> &fields)
{
    return static_cast<size_t>(std::count_if(fields.begin(), fields.end(), [](const auto *field) {
        return field->type() == FieldDescriptor::TYPE_MESSAGE;
    }));
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
    return "RACKWRIGHT_HIDDEN static ::rackwright::protobuf::Type rackwright_type;\n"
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
    const bool extends = message->extension_range_count() > 0 && !too_wide;
    const std::string room = "rackwright_room_" + name;
    const std::string header = room + (extends ? ".header" : ".table");
    const std::string range = std::to_string(first) + ", " + std::to_string(last);

    std::string text = "\nvoid " + name +
                       "::RackwrightDescribe(::rackwright::protobuf::Builder &builder,\n"
                       "    const " +
                       name + " &object)\n{\n    (void)builder, (void)object;\n";
    if (any_hasbits(message)) {
        text += "    builder.hasbits(&object._impl_._has_bits_, sizeof object._impl_._has_bits_);\n";
    }
    if (extends) text += description_of_extensions(message);
    for (const FieldDescriptor *field : fields) text += description_of(field);
    text += std::string("}\nstatic ::rackwright::protobuf::") + (extends ? "Extended" : "") +
            "Storage<sizeof(" + name + "), " + std::to_string(last - first + 1) + ", " +
            std::to_string(fields.size()) + ", " + std::to_string(message_fields_in(fields)) + "> " +
            room + ";\n::rackwright::protobuf::Type " + name + "::rackwright_type(" + room +
            ".table, " + header + ",\n    " + held_by(message) +
            ");\n[[maybe_unused]] static const bool rackwright_built_" + name +
            " = ::rackwright::protobuf::describe<" + name + ">(\n    " + name +
            "::rackwright_type, " + room + ".room(" + header + "), " + range + ",\n    " +
            limits_of(message, too_wide) +
            ",\n    &" + name + "::RackwrightDescribe);\n";
    return text;
}
