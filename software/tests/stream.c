/* A stream by the units, from standard input to standard output: FORMAT compress|decompress PIECE INPUT OUTPUT, the last two
 * being the bytes that it gets and has room for at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright_stream.h"

static rackwright_format format_of(const char *name)
{
    static const char *const names[] = {"", "snappy", "zstd", "gzip"};
    for (int format = RACKWRIGHT_SNAPPY; format <= RACKWRIGHT_DEFLATE; format++) {
        if (strcmp(name, names[format]) == 0) return format;
    }
    return RACKWRIGHT_NO_FORMAT;
}

/* One portion of input, of which all is taken, unless the stream ends; gives what the last run gave. */
static size_t pass(rackwright_stream *stream, rackwright_input *input, char *room, size_t bytes, bool end)
{
    size_t left;
    do {
        rackwright_output output = {room, bytes, 0};
        left = rackwright_stream_run(stream, &output, input, end);
        fwrite(room, 1, output.position, stdout);
    } while (!rackwright_is_error(left) && (input->position < input->size || (end && left != 0)));
    return left;
}

int main(int count, char **words)
{
    if (count != 6) return 2;
    const size_t given = atol(words[4]), taken = atol(words[5]);
    rackwright_stream *stream = strcmp(words[2], "compress") == 0
                                    ? rackwright_stream_compress(format_of(words[1]), atol(words[3]))
                                    : rackwright_stream_decompress(format_of(words[1]));
    if (stream == NULL) return 2;
    char *portion = malloc(given), *room = malloc(taken);
    for (bool end = false;;) {
        const size_t size = fread(portion, 1, given, stdin);
        rackwright_input input = {portion, size, 0};
        end = size < given;
        const size_t left = pass(stream, &input, room, taken, end);
        if (rackwright_is_error(left)) {
            fprintf(stderr, "%s\n", rackwright_error_name(left));
            return 1;
        }
        if (end) break;
    }
    rackwright_stream_free(stream);
    return 0;
}
