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
        const uint64_t version = compresses ? RACKWRIGHT_QUERY(UNIT_COMPRESS, UNIT_VERSION)
                                            : RACKWRIGHT_QUERY(UNIT_DECOMPRESS, UNIT_VERSION);
        found = version == VERSION;
    }
    sigaction(SIGILL, &before, NULL);
    return found;
}

/* Whether the unit makes `plain` of these bytes. All formats refuse those of the others. */
static bool decompresses(const unsigned char *packed, size_t size)
{
    char again[sizeof plain];
    return unit_decompress(UNIT_NO_WRAPPER, again, sizeof again, packed, size) == sizeof plain &&
           memcmp(again, plain, sizeof plain) == 0;
}

static rackwright_format decompressed_format(void)
{
    if (!has_unit(false)) return RACKWRIGHT_NO_FORMAT;
    /* Without the 0 at the end of the string. */
    if (decompresses(as_zstd, sizeof as_zstd - 1)) return RACKWRIGHT_ZSTD;
    if (decompresses(as_snappy, sizeof as_snappy - 1)) return RACKWRIGHT_SNAPPY;
    if (decompresses(as_deflate, sizeof as_deflate - 1)) return RACKWRIGHT_DEFLATE;
    return RACKWRIGHT_NO_FORMAT;
}

static rackwright_format compressed_format(void)
{
    unsigned char packed[128];
    if (!has_unit(true)) return RACKWRIGHT_NO_FORMAT;
    const size_t size = unit_compress(UNIT_NO_WRAPPER, packed, sizeof packed, plain, sizeof plain);
    if (rackwright_is_error(size)) return RACKWRIGHT_NO_FORMAT;
    if (size > 4 && memcmp(packed, as_zstd, 4) == 0) return RACKWRIGHT_ZSTD;
    if (size == sizeof as_snappy - 1 && memcmp(packed, as_snappy, size) == 0) return RACKWRIGHT_SNAPPY;
    /* Its first bit says that no block follows, the next two what it is: there is none of kind 3. */
    if ((packed[0] & 1) == 1 && (packed[0] & 6) != 6) return RACKWRIGHT_DEFLATE;
    return RACKWRIGHT_NO_FORMAT;
}

rackwright_units rackwright_find_units(void)
{
    const rackwright_units units = {compressed_format(), decompressed_format()};
    return units;
}
