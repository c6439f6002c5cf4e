// Sets a field of any type through reflection.
#ifndef RACKWRIGHT_TESTS_SET_FIELD_H
#define RACKWRIGHT_TESTS_SET_FIELD_H

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

// Sets a field, or adds an element, to what `values` has for its type; a message only comes to be.
// `values` has a method for each type: i32, i64, u32, u64, real, single, boolean, text, and
// value_of(enum). Returns the message that came to be, or nothing.
template <class Values>
google::protobuf::Message *set_field(google::protobuf::Message *message,
                                     const google::protobuf::FieldDescriptor *field, Values &&values)
{
    using google::protobuf::FieldDescriptor;
    const google::protobuf::Reflection *reflection = message->GetReflection();
    switch (field->cpp_type()) {
#define SET(KIND, NAME, VALUE)                                                                 \
    case FieldDescriptor::CPPTYPE_##KIND:                                                      \
        field->is_repeated() ? reflection->Add##NAME(message, field, VALUE)                    \
                             : reflection->Set##NAME(message, field, VALUE);                   \
        return nullptr
        SET(INT32, Int32, values.i32());
        SET(INT64, Int64, values.i64());
        SET(UINT32, UInt32, values.u32());
        SET(UINT64, UInt64, values.u64());
        SET(DOUBLE, Double, values.real());
        SET(FLOAT, Float, values.single());
        SET(BOOL, Bool, values.boolean());
        SET(STRING, String, values.text());
        SET(ENUM, Enum, values.value_of(field->enum_type()));
#undef SET
    case FieldDescriptor::CPPTYPE_MESSAGE:
        return field->is_repeated() ? reflection->AddMessage(message, field)
                                    : reflection->MutableMessage(message, field);
    }
    return nullptr;
}

#endif
