#include "memory.h"

#include <cstdint>
#include <cstring>

#include "check.h"

namespace {

// In front of every block. The pattern of a freed block stays there until the block is used again.
struct Header {
    uint64_t pattern;
    uint64_t bytes;
};

constexpr uint64_t in_use = 0x5ca1ab1e0ddba11, freed = 0xdeadbeefdeadbeef;
size_t blocks = 0;

} // namespace

size_t blocks_in_use()
{
    return blocks;
}

extern "C" {

void *__real_malloc(size_t bytes);
void __real_free(void *block);

void *__wrap_malloc(size_t bytes)
{
    auto *header = static_cast<Header *>(__real_malloc(bytes + sizeof(Header)));
    if (header == nullptr) return nullptr;
    *header = {in_use, bytes};
    blocks++;
    return header + 1;
}

void __wrap_free(void *block)
{
    if (block == nullptr) return;
    Header *header = static_cast<Header *>(block) - 1;
    CHECK(header->pattern != freed); // a double free
    CHECK(header->pattern == in_use); // a free of what is no block
    header->pattern = freed;
    blocks--;
    __real_free(header);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    void *block = __wrap_malloc(count * bytes);
    if (block != nullptr) std::memset(block, 0, count * bytes);
    return block;
}

void *__wrap_realloc(void *old, size_t bytes)
{
    void *block = __wrap_malloc(bytes);
    if (old != nullptr && block != nullptr) {
        const Header *header = static_cast<Header *>(old) - 1;
        std::memcpy(block, old, header->bytes < bytes ? header->bytes : bytes);
        __wrap_free(old);
    }
    return block;
}
}
