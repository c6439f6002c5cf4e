/* The official libraries' own functions for a preloaded library, whose functions stand before them.
 *
 * A library is found behind this one, or, where a program has loaded it for itself alone, by its name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

static void *official(const char *library, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found != NULL) return found;
    void *opened = dlopen(library, RTLD_LAZY);
    if (opened != NULL) found = dlsym(opened, name);
    if (found != NULL) return found;
    fprintf(stderr, "rackwright: %s has to do what no unit does: %s\n", library, dlerror());
    abort();
}

/* Defines __real_NAME, which looks for NAME once. */
#define OFFICIAL(library, result, name, parameters, arguments)                                 \
    result __real_##name parameters;                                                           \
    result __real_##name parameters                                                            \
    {                                                                                          \
        static result(*found) parameters;                                                      \
        result(*known) parameters = __atomic_load_n(&found, __ATOMIC_ACQUIRE);                 \
        if (known == NULL) {                                                                   \
            known = (result(*) parameters)official(library, #name);                            \
            __atomic_store_n(&found, known, __ATOMIC_RELEASE);                                 \
        }                                                                                      \
        return known arguments;                                                                \
    }

#define ZSTD "libzstd.so.1"
OFFICIAL(ZSTD, size_t, ZSTD_compress,
         (void *dst, size_t capacity, const void *src, size_t size, int level),
         (dst, capacity, src, size, level))
OFFICIAL(ZSTD, size_t, ZSTD_decompress, (void *dst, size_t capacity, const void *src, size_t size),
         (dst, capacity, src, size))
OFFICIAL(ZSTD, size_t, ZSTD_compressCCtx,
         (ZSTD_CCtx *context, void *dst, size_t capacity, const void *src, size_t size, int level),
         (context, dst, capacity, src, size, level))
OFFICIAL(ZSTD, size_t, ZSTD_decompressDCtx,
         (ZSTD_DCtx *context, void *dst, size_t capacity, const void *src, size_t size),
         (context, dst, capacity, src, size))

#define ZLIB "libz.so.1"
OFFICIAL(ZLIB, int, compress2,
         (Bytef *dst, uLongf *length, const Bytef *src, uLong size, int level),
         (dst, length, src, size, level))
OFFICIAL(ZLIB, int, uncompress, (Bytef *dst, uLongf *length, const Bytef *src, uLong size),
         (dst, length, src, size))

#define SNAPPY "libsnappy.so.1"
OFFICIAL(SNAPPY, snappy_status, snappy_compress,
         (const char *input, size_t input_length, char *compressed, size_t *compressed_length),
         (input, input_length, compressed, compressed_length))
OFFICIAL(SNAPPY, snappy_status, snappy_uncompress,
         (const char *compressed, size_t compressed_length, char *uncompressed,
          size_t *uncompressed_length),
         (compressed, compressed_length, uncompressed, uncompressed_length))
