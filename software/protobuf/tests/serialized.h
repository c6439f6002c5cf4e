// What the library makes of a message, deterministically, whatever is missing in it.
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>

#include <string>

inline std::string serialized(const google::protobuf::Message &message)
{
    std::string bytes;
    {
        google::protobuf::io::StringOutputStream output(&bytes);
        google::protobuf::io::CodedOutputStream stream(&output);
        stream.SetSerializationDeterministic(true);
        message.SerializePartialToCodedStream(&stream);
    }
    return bytes;
}
