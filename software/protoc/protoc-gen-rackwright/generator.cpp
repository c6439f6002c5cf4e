#include "generator.h"

#include <google/protobuf/compiler/cpp/helpers.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/printer.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../namespaces/namespaces.h"
#include "enum_values.h"
#include "message.h"

namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::compiler::GeneratorContext;
using google::protobuf::compiler::cpp::IsMapEntryMessage;
using google::protobuf::io::Printer;

// The classes of `messages` and of those inside them; entries of maps have no class of their own.
void collect(const Descriptor *message, std::vector<const Descriptor *> *messages)
{
    if (IsMapEntryMessage(message)) return;
    for (int i = 0; i < message->nested_type_count(); i++) {
        collect(message->nested_type(i), messages);
    }
    messages->push_back(message);
}

std::vector<const Descriptor *> messages_of(const FileDescriptor *file)
{
    std::vector<const Descriptor *> messages;
    for (int i = 0; i < file->message_type_count(); i++) collect(file->message_type(i), &messages);
    return messages;
}

// The sets of the enums that fields of these messages, or of maps in them, are closed to.
std::string sets_of(const std::vector<const Descriptor *> &messages)
{
    std::set<std::string> seen;
    std::string text;
    const auto add = [&](const FieldDescriptor *field) {
        if (!is_closed_enum(field)) return;
        const EnumDescriptor *type = field->enum_type();
        const bool has_set = needs_set(type) && !exceeds_sets(type);
        if (has_set && seen.insert(type->full_name()).second) text += set_of(type);
    };
    for (const Descriptor *message : messages) {
        for (int i = 0; i < message->field_count(); i++) {
            const FieldDescriptor *field = message->field(i);
            add(field->is_map() ? field->message_type()->map_value() : field);
        }
    }
    return text;
}

// Classes of other kinds have no accessors of hasbits, or no reflection to be verified with.
bool is_generated_for_speed(const FileDescriptor *file)
{
    return file->options().optimize_for() == google::protobuf::FileOptions::SPEED;
}

// Inserts into a file that was generated for `file`, the one that ends with `ending`.
void insert(GeneratorContext *context, const FileDescriptor *file, const std::string &ending,
            const std::string &point, const std::string &text)
{
    const std::string stem = google::protobuf::compiler::cpp::StripProto(file->name());
    const std::unique_ptr<google::protobuf::io::ZeroCopyOutputStream> output(
        context->OpenForInsert(stem + ending, point));
    Printer printer(output.get(), '$');
    printer.PrintRaw(with_legal_namespaces(file, text));
}

} // namespace

bool Generator::Generate(const FileDescriptor *file, const std::string &parameter,
                         GeneratorContext *context, std::string *error) const
{
    if (!parameter.empty()) {
        *error = "protoc-gen-rackwright has no option \"" + parameter + "\"";
        return false;
    }
    const auto messages = messages_of(file);
    if (messages.empty() || !is_generated_for_speed(file)) return true;

    insert(context, file, ".pb.h", "includes", "#include <rackwright/protobuf_type.h>\n");
    for (const Descriptor *message : messages) {
        insert(context, file, ".pb.h", "class_scope:" + message->full_name(),
               declaration_of(message));
    }
    std::string definitions = sets_of(messages);
    for (const Descriptor *message : messages) definitions += definition_of(message);
    insert(context, file, ".pb.cc", "namespace_scope", definitions);
    return true;
}
