#include "field.h"

#include <google/protobuf/compiler/cpp/helpers.h>
#include <google/protobuf/compiler/cpp/options.h>

#include "enum_values.h"

namespace {

using google::protobuf::FieldDescriptor;
using namespace google::protobuf::compiler::cpp;

bool is_unsupported(const FieldDescriptor *field)
{
    return field->type() == FieldDescriptor::TYPE_GROUP || field->options().weak() ||
           (is_closed_enum(field) && exceeds_sets(field->enum_type()));
}

// A scalar that is present when it is not zero.
bool has_implicit_presence(const FieldDescriptor *field)
{
    return !field->is_repeated() && !field->has_presence();
}

std::string flags_of(const FieldDescriptor *field)
{
    std::string text;
    const auto flag = [&](bool value) { text += value ? ", true" : ", false"; };
    flag(field->is_repeated());
    flag(field->is_packed());
    flag(is_unsupported(field));
    flag(field->type() == FieldDescriptor::TYPE_STRING &&
         GetUtf8CheckMode(field, Options()) == Utf8CheckMode::kStrict);
    flag(has_implicit_presence(field));
    const bool closed = is_closed_enum(field);
    flag(closed);
    if (closed) text += ", " + values_of(field->enum_type());
    return text;
}

std::string hasbit_of(const FieldDescriptor *field)
{
    if (!HasHasbit(field)) return "::rackwright::protobuf::no_hasbit";
    return "::rackwright::protobuf::hasbit_of(&_Internal::set_has_" + FieldName(field) + ")";
}

std::string oneof_case_of(const FieldDescriptor *field)
{
    const auto *oneof = field->real_containing_oneof();
    if (oneof == nullptr) return "nullptr";
    return "&object._impl_._oneof_case_[" + std::to_string(oneof->index()) + "]";
}

std::string type_of(const FieldDescriptor *field)
{
    if (field->type() != FieldDescriptor::TYPE_MESSAGE) return "nullptr";
    return "::rackwright::protobuf::type_of<" +
           QualifiedClassName(field->message_type(), Options()) + ">()";
}

std::string properties_of(const FieldDescriptor *field)
{
    return "{" + std::to_string(field->number()) + ", " + std::to_string(field->type()) +
           flags_of(field) + "}";
}

std::string description_of_map(const FieldDescriptor *field)
{
    const FieldDescriptor *key = field->message_type()->map_key();
    const FieldDescriptor *value = field->message_type()->map_value();
    return "    builder.map(" + properties_of(field) + ", object." + FieldMemberName(field, false) +
           ",\n        " + properties_of(key) + ", " + properties_of(value) + ",\n        " +
           type_of(value) + ");\n";
}

} // namespace

std::string description_of(const FieldDescriptor *field)
{
    if (field->is_map()) return description_of_map(field);
    return "    builder.field(" + properties_of(field) + ",\n        &object." +
           FieldMemberName(field, false) + ", " + hasbit_of(field) + ",\n        " +
           oneof_case_of(field) + ", " + type_of(field) + ");\n";
}
