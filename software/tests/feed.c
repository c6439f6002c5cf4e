/* What comes in pieces, from standard input to standard output: FORMAT PIECE [TOTAL]. PIECE are the bytes of a piece; with TOTAL,
 * the bytes of all of them, it is compressed. Says after each piece how much of the output there is, on standard error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright_feed.h"

#define MOST (1u << 20)

static unsigned char input[MOST], output[MOST];

static rackwright_feed_format format_of(const char *name)
{
    static const char *const names[] = {"zstd", "deflate", "zlib", "gzip", "snappy"};
    for (unsigned format = 0; format < 5; format++) {
        if (strcmp(name, names[format]) == 0) return (rackwright_feed_format)format;
    }
    exit(2);
}

int main(int count, char **words)
{
    if (count < 3) return 2;
    const rackwright_feed_unit unit = count > 3 ? RACKWRIGHT_FEED_COMPRESSOR : RACKWRIGHT_FEED_DECOMPRESSOR;
    if (!rackwright_feeds(unit)) return 2;
    const size_t piece = atol(words[2]);
    size_t size = 0, shown = 0;
    if (unit == RACKWRIGHT_FEED_COMPRESSOR) {
        rackwright_feed_compress(format_of(words[1]), output, sizeof output, input, atol(words[3]));
    } else {
        size = fread(input, 1, piece, stdin);
        rackwright_feed_decompress(format_of(words[1]), output, sizeof output, input, size);
    }
    for (bool last = false; !last;) {
        const size_t more = fread(input + size, 1, piece, stdin);
        last = more < piece;
        size += more;
        rackwright_feed_more(unit, more, last);
        const size_t written = rackwright_feed_written(unit);
        fwrite(output + shown, 1, written - shown, stdout);
        shown = written;
        fprintf(stderr, "%zu\n", written);
    }
    const size_t whole = rackwright_feed_end(unit);
    if (rackwright_is_error(whole)) {
        fprintf(stderr, "%s\n", rackwright_error_name(whole));
        return 1;
    }
    fwrite(output + shown, 1, whole - shown, stdout);
    return 0;
}
