#include "offload.h"

#include <stdio.h>
#include <stdlib.h>

#include "rackwright/process.h"

/* Calls so far; from any thread. */
typedef struct {
    unsigned long by_unit, by_library;
} calls;

static rackwright_units units;
static calls compressions, decompressions;

/* Without an operating system, a program has been linked for the units that its server has. */
__attribute__((constructor)) static void find_units(void)
{
    if (rackwright_shares_units()) units = rackwright_find_units();
}

static bool is_offered(rackwright_format format, unsigned by_unit)
{
    return (by_unit >> format & 1) != 0 || !rackwright_shares_units();
}

static void print(const char *what, const calls *made)
{
    fprintf(stderr, "rackwright: %s: %lu by the unit, %lu by the library\n", what, made->by_unit,
            made->by_library);
}

__attribute__((destructor)) static void report(void)
{
    if (getenv("RACKWRIGHT_REPORT") == NULL) return;
    print("compressed", &compressions);
    print("decompressed", &decompressions);
}

static size_t counted(calls *made, size_t result)
{
    unsigned long *count = rackwright_is_error(result) ? &made->by_library : &made->by_unit;
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
    return result;
}

size_t offload_none(void)
{
    return counted(&compressions, (size_t)0 - RACKWRIGHT_UNSUPPORTED);
}

size_t offload_compress(rackwright_format format, offload_function *by_unit, void *dst, size_t capacity,
                        const void *src, size_t size)
{
    if (!is_offered(format, units.compresses)) return offload_none();
    return counted(&compressions, by_unit(dst, capacity, src, size));
}

size_t offload_decompress(rackwright_format format, offload_function *by_unit, void *dst,
                          size_t capacity, const void *src, size_t size)
{
    const size_t result = is_offered(format, units.decompresses)
                              ? by_unit(dst, capacity, src, size)
                              : (size_t)0 - RACKWRIGHT_UNSUPPORTED;
    return counted(&decompressions, result);
}
