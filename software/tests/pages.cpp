/* The Snappy units from processes of an operating system, on pages that are not there yet: FILE PROCESSES ROUNDS.
 *
 * Each process maps the file anew for each round, and memory for the output, of which no page is there; has a unit compress
 * and decompress; and compares with the official library. */
#include <snappy.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "rackwright_snappy.h"

namespace {

/* Memory of which no page is there. */
char *untouched(size_t bytes, int permission = PROT_READ | PROT_WRITE)
{
    void *place = mmap(nullptr, bytes, permission, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::runtime_error("no memory");
    return static_cast<char *>(place);
}

void expect(bool holds, const char *what, const rackwright_snappy_result &result)
{
    if (holds) return;
    std::printf("%s: %s, %zu bytes, offset %zu\n", what, rackwright_status_name(result.status), result.output_bytes,
                result.input_offset);
    std::fflush(stdout);
    _exit(1);
}

/* One file, compressed and back. */
void round_trip(const char *path)
{
    const int file = open(path, O_RDONLY);
    struct stat status = {};
    if (file < 0 || fstat(file, &status) != 0) throw std::runtime_error("no such file");
    const size_t bytes = status.st_size;
    void *mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) throw std::runtime_error("the file cannot be mapped");
    const char *input = static_cast<const char *>(mapped);
    const size_t room = rackwright_snappy_max_compressed_bytes(bytes);
    char *compressed = untouched(room);
    char *output = untouched(bytes);

    const auto made = rackwright_snappy_compress(input, bytes, compressed, room);
    expect(made.status == RACKWRIGHT_OK, "compress", made);
    std::string official;
    expect(snappy::Uncompress(compressed, made.output_bytes, &official), "the library refuses", made);
    expect(official.size() == bytes && std::memcmp(official.data(), input, bytes) == 0, "compressed wrongly", made);

    const auto back = rackwright_snappy_uncompress(compressed, made.output_bytes, output, bytes);
    expect(back.status == RACKWRIGHT_OK && back.output_bytes == bytes, "uncompress", back);
    expect(std::memcmp(output, input, bytes) == 0, "uncompressed wrongly", back);

    munmap(mapped, bytes);
    munmap(compressed, room);
    munmap(output, bytes);
    close(file);
}

/* What the process may not touch, a unit may not either, and the process goes on. */
void refusals()
{
    const std::string text(100000, 'a');
    std::string stream;
    snappy::Compress(text.data(), text.size(), &stream);
    char *readable = untouched(text.size(), PROT_READ);
    const auto written = rackwright_snappy_uncompress(stream.data(), stream.size(), readable, text.size());
    expect(written.status == RACKWRIGHT_ACCESS_FAULT, "written where it may only be read", written);
    char *closed = untouched(text.size(), PROT_NONE), *output = untouched(2 * text.size());
    const auto read = rackwright_snappy_compress(closed, text.size(), output, 2 * text.size());
    expect(read.status == RACKWRIGHT_ACCESS_FAULT, "read where nothing may be", read);
    munmap(readable, text.size());
    munmap(closed, text.size());
    munmap(output, 2 * text.size());
}

int work(const char *path, int rounds)
{
    /* A malformed stream ends as it does without pages. */
    char nonsense[64];
    std::memset(nonsense, 0xff, sizeof nonsense);
    char nowhere[64];
    const auto refused = rackwright_snappy_uncompress(nonsense, sizeof nonsense, nowhere, sizeof nowhere);
    expect(refused.status == RACKWRIGHT_MALFORMED, "nonsense", refused);
    refusals();
    for (int round = 0; round < rounds; round++) round_trip(path);
    struct rusage used = {};
    getrusage(RUSAGE_SELF, &used);
    std::printf("%d rounds right, %s\n", rounds, used.ru_minflt > 0 ? "with page faults" : "without page faults");
    std::fflush(stdout);
    return 0;
}

} // namespace

int main(int count, char **words)
{
    if (count != 4) {
        std::fprintf(stderr, "usage: %s FILE PROCESSES ROUNDS\n", words[0]);
        return 2;
    }
    const int processes = std::atoi(words[2]);
    for (int number = 0; number < processes; number++) {
        if (fork() == 0) _exit(work(words[1], std::atoi(words[3])));
    }
    int failures = 0;
    for (int number = 0; number < processes; number++) {
        int status = 0;
        wait(&status);
        failures += status != 0;
    }
    return failures;
}
