/* Which units there are: found out by asking them. */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "rackwright/rocc.h"
#include "rackwright_compression.h"
#include "unit.h"
#include "unit_commands.h"

#define VERSION 1

static const char plain[8] = "together";

/* The same in each format: a frame with one raw block (RFC 8878), a literal, a stored block (RFC 1951). */
static const unsigned char as_zstd[] = "\x28\xb5\x2f\xfd\x20\x08\x41\x00\x00together";
static const unsigned char as_snappy[] = "\x08\x1ctogether";
static const unsigned char as_deflate[] = "\x01\x08\x00\xf7\xfftogether";

static sigjmp_buf without_unit;

static void leave(int signal)
{
    (void)signal;
    siglongjmp(without_unit, 1);
}

static bool has_unit(bool compresses)
{
    struct sigaction before, action = {.sa_handler = leave};
    sigaction(SIGILL, &action, &before);
    bool found = false;
    if (sigsetjmp(without_unit, 1) == 0) {
        const uint64_t version = compresses ? RACKWRIGHT_QUERY(COMBINED_COMPRESS_CUSTOM, UNIT_VERSION)
                                            : RACKWRIGHT_QUERY(COMBINED_DECOMPRESS_CUSTOM, UNIT_VERSION);
        found = version == VERSION;
    }
    sigaction(SIGILL, &before, NULL);
    return found;
}

/* Whether the unit makes `plain` of these bytes. A unit of one format takes them to be of that one, and each refuses those of
 * the others. */
static bool decompresses(unit_format format, const unsigned char *packed, size_t size)
{
    char again[sizeof plain];
    return unit_decompress(format, again, sizeof again, packed, size) == sizeof plain &&
           memcmp(again, plain, sizeof plain) == 0;
}

static unsigned decompressed_formats(void)
{
    if (!has_unit(false)) return 0;
    unsigned found = 0;
    /* Without the 0 at the end of the strings. */
    if (decompresses(UNIT_SNAPPY, as_snappy, sizeof as_snappy - 1)) found |= 1u << RACKWRIGHT_SNAPPY;
    if (decompresses(UNIT_ZSTD, as_zstd, sizeof as_zstd - 1)) found |= 1u << RACKWRIGHT_ZSTD;
    if (decompresses(UNIT_DEFLATE, as_deflate, sizeof as_deflate - 1)) found |= 1u << RACKWRIGHT_DEFLATE;
    return found;
}

static bool is_snappy(const unsigned char *packed, size_t size)
{
    return size == sizeof as_snappy - 1 && memcmp(packed, as_snappy, size) == 0;
}

static bool is_zstd(const unsigned char *packed, size_t size)
{
    return size > 4 && memcmp(packed, as_zstd, 4) == 0;
}

/* Its first bit says that no block follows, the next two what it is: there is none of kind 3. */
static bool is_deflate(const unsigned char *packed, size_t size)
{
    return size > 0 && (packed[0] & 1) == 1 && (packed[0] & 6) != 6;
}

/* A unit of one format writes that one, whichever is asked for; no format looks like another. */
static bool compresses(unit_format format, bool (*is_it)(const unsigned char *, size_t))
{
    unsigned char packed[128];
    const size_t size = unit_compress(format, packed, sizeof packed, plain, sizeof plain);
    return !rackwright_is_error(size) && is_it(packed, size);
}

static unsigned compressed_formats(void)
{
    if (!has_unit(true)) return 0;
    unsigned found = 0;
    if (compresses(UNIT_SNAPPY, is_snappy)) found |= 1u << RACKWRIGHT_SNAPPY;
    if (compresses(UNIT_ZSTD, is_zstd)) found |= 1u << RACKWRIGHT_ZSTD;
    if (compresses(UNIT_DEFLATE, is_deflate)) found |= 1u << RACKWRIGHT_DEFLATE;
    return found;
}

rackwright_units rackwright_find_units(void)
{
    const rackwright_units units = {compressed_formats(), decompressed_formats()};
    return units;
}
