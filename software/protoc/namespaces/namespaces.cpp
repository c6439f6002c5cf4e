#include "namespaces.h"

#include <google/protobuf/compiler/cpp/helpers.h>

#include <cctype>
#include <map>
#include <set>

namespace {

using google::protobuf::FileDescriptor;
using google::protobuf::compiler::cpp::ResolveKeyword;

using Names = std::map<std::string, std::string>;

// What to replace: names from the global namespace on, and each part where it is opened and closed.
void collect(const FileDescriptor *file, std::set<const FileDescriptor *> *seen, Names *names)
{
    if (!seen->insert(file).second) return;
    std::string path, legal;
    size_t start = 0;
    while (start < file->package().size()) {
        size_t end = file->package().find('.', start);
        if (end == std::string::npos) end = file->package().size();
        const std::string part = file->package().substr(start, end - start);
        const std::string resolved = ResolveKeyword(part);
        path += "::" + part;
        legal += "::" + resolved;
        if (resolved != part) {
            names->insert({"namespace " + part, "namespace " + resolved});
            names->insert({path, legal});
        } else if (legal != path) {
            names->insert({path, legal});
        }
        start = end + 1;
    }
    for (int i = 0; i < file->dependency_count(); i++) collect(file->dependency(i), seen, names);
}

bool is_part_of_a_name(char each)
{
    return std::isalnum(static_cast<unsigned char>(each)) || each == '_';
}

void replace(const std::string &from, const std::string &to, std::string *text)
{
    size_t at = 0;
    while ((at = text->find(from, at)) != std::string::npos) {
        const size_t end = at + from.size();
        const bool begins = at == 0 || !is_part_of_a_name((*text)[at - 1]);
        const bool ends = end == text->size() || !is_part_of_a_name((*text)[end]);
        if (begins && ends) text->replace(at, from.size(), to);
        at += begins && ends ? to.size() : from.size();
    }
}

} // namespace

std::string with_legal_namespaces(const FileDescriptor *file, std::string text)
{
    Names names;
    std::set<const FileDescriptor *> seen;
    collect(file, &seen, &names);
    // Longer names first: they begin with shorter ones.
    for (auto each = names.rbegin(); each != names.rend(); ++each) {
        replace(each->first, each->second, &text);
    }
    return text;
}
