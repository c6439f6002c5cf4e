#include "files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace {

struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

File open_file(const std::string &path, const char *mode)
{
    File file(std::fopen(path.c_str(), mode));
    if (!file) throw std::runtime_error(path + ": " + std::strerror(errno));
    return file;
}

Bytes read_all(std::FILE *file, const std::string &name)
{
    Bytes bytes;
    size_t used = 0;
    do {
        bytes.resize(used + (size_t{1} << 20));
        used += std::fread(bytes.data() + used, 1, bytes.size() - used, file);
    } while (used == bytes.size());
    if (std::ferror(file)) throw std::runtime_error(name + ": cannot be read");
    bytes.resize(used);
    return bytes;
}

} // namespace

Bytes read_file(const std::string &path)
{
    if (path == "-") return read_all(stdin, "standard input");
    return read_all(open_file(path, "rb").get(), path);
}

void write_file(const std::string &path, const char *data, size_t bytes)
{
    const File file = open_file(path, "wb");
    if (std::fwrite(data, 1, bytes, file.get()) != bytes || std::fflush(file.get()) != 0) {
        throw std::runtime_error(path + ": cannot be written");
    }
}

uint64_t hash_of(const char *data, size_t bytes)
{
    const uint64_t prime = 0x100000001b3;
    uint64_t hash = 0xcbf29ce484222325;
    size_t i = 0;
    for (; i + 8 <= bytes; i += 8) {
        uint64_t word;
        std::memcpy(&word, data + i, sizeof word);
        hash = (hash ^ word) * prime;
    }
    for (; i < bytes; i++) hash = (hash ^ static_cast<unsigned char>(data[i])) * prime;
    return hash;
}
