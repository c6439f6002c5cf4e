#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "pieces.h"
#include "rackwright_stream.h"

#define USUAL_PIECE (128u << 10)

/* An unbounded piece that stands for more than so many times its bytes can't be: DEFLATE's most is 1,032. */
#define MOST_RATIO 1040

struct rackwright_stream {
    const piece_format *format;
    size_t piece;            /* 0: decompresses */
    bool headed, pieced;     /* its head is there; it has a piece */
    bool ended;
    size_t error;            /* 0, or what it ended with */
    buffer taken;            /* input of which no unit knows yet */
    buffer made;             /* output for which there was no room */
};

/* What a step did. */
typedef enum { WENT_ON, NEEDS_INPUT, WHOLE, FAILED } step;

static const piece_format *pieces_of(rackwright_format format)
{
    switch (format) {
    case RACKWRIGHT_ZSTD: return &rackwright_zstd_pieces;
    case RACKWRIGHT_DEFLATE: return &rackwright_gzip_pieces;
    case RACKWRIGHT_SNAPPY: return &rackwright_snappy_pieces;
    default: return NULL;
    }
}

static rackwright_stream *make(rackwright_format format, size_t piece)
{
    const piece_format *pieces = pieces_of(format);
    rackwright_stream *stream = pieces == NULL ? NULL : calloc(1, sizeof *stream);
    if (stream == NULL) return NULL;
    stream->format = pieces;
    stream->piece = piece < pieces->most_plain ? piece : pieces->most_plain;
    return stream;
}

rackwright_stream *rackwright_stream_compress(rackwright_format format, size_t piece)
{
    return make(format, piece == 0 ? USUAL_PIECE : piece);
}

rackwright_stream *rackwright_stream_decompress(rackwright_format format)
{
    return make(format, 0);
}

void rackwright_stream_free(rackwright_stream *stream)
{
    if (stream == NULL) return;
    free(stream->taken.memory);
    free(stream->made.memory);
    free(stream);
}

static step fail(rackwright_stream *stream, size_t error)
{
    stream->error = error;
    return FAILED;
}

static step refuse(rackwright_stream *stream, rackwright_status status)
{
    return fail(stream, (size_t)0 - (size_t)status);
}

/* Has `function` make `room` bytes at most: in place, or in a buffer if there is not so much room. An error leaves no trace. */
static size_t produce(rackwright_stream *stream, rackwright_output *output, piece_function *function,
                      size_t room, const void *src, size_t size)
{
    const bool direct = room <= output->size - output->position;
    if (!direct && !buffer_reserve(&stream->made, room)) return (size_t)0 - RACKWRIGHT_UNSUPPORTED;
    unsigned char *dst = direct ? (unsigned char *)output->dst + output->position
                                : stream->made.memory + stream->made.end;
    const size_t length = function(dst, room, src, size);
    if (rackwright_is_error(length)) return length;
    *(direct ? &output->position : &stream->made.end) += length;
    return length;
}

/* What has been taken and is there, in one place. */
typedef struct {
    const unsigned char *src;
    size_t size;
} view;

/* All that is there, up to `most` bytes of it. Input is copied only behind bytes that wait already. */
static bool gather(rackwright_stream *stream, rackwright_input *input, size_t most, view *all)
{
    buffer *taken = &stream->taken;
    const size_t waiting = buffer_size(taken), given = input->size - input->position;
    if (waiting == 0) {
        *all = (view){(const unsigned char *)input->src + input->position, given < most ? given : most};
        return true;
    }
    const size_t missing = waiting < most ? most - waiting : 0, more = missing < given ? missing : given;
    const unsigned char *src = (const unsigned char *)input->src + input->position;
    if (!buffer_append(taken, src, more)) return false;
    input->position += more;
    *all = (view){taken->memory + taken->begin, buffer_size(taken)};
    return true;
}

/* Passes over bytes that a unit has had. */
static void consume(rackwright_stream *stream, rackwright_input *input, size_t bytes)
{
    if (buffer_size(&stream->taken) == 0) {
        input->position += bytes;
    } else {
        stream->taken.begin += bytes;
    }
}

/* Keeps all input for later: what there is of a piece is not enough. */
static step wait_for_input(rackwright_stream *stream, rackwright_input *input)
{
    const unsigned char *src = (const unsigned char *)input->src + input->position;
    const size_t bytes = input->size - input->position;
    if (!buffer_append(&stream->taken, src, bytes)) return refuse(stream, RACKWRIGHT_UNSUPPORTED);
    input->position = input->size;
    return NEEDS_INPUT;
}

/* Writes what a stream begins or ends with. */
static step write(rackwright_stream *stream, const unsigned char *bytes, size_t size, bool *written)
{
    *written = true;
    return buffer_append(&stream->made, bytes, size) ? WENT_ON : refuse(stream, RACKWRIGHT_UNSUPPORTED);
}

static step compress(rackwright_stream *stream, rackwright_output *output, rackwright_input *input,
                     bool end)
{
    const piece_format *format = stream->format;
    if (stream->ended) return WHOLE;
    if (!stream->headed) return write(stream, format->head, format->head_bytes, &stream->headed);
    view all;
    if (!gather(stream, input, stream->piece, &all)) return refuse(stream, RACKWRIGHT_UNSUPPORTED);
    if (all.size < stream->piece && !end) return wait_for_input(stream, input);
    if (all.size == 0 && (stream->pieced || !format->never_empty)) {
        return write(stream, format->tail, format->tail_bytes, &stream->ended);
    }
    const size_t length =
        produce(stream, output, format->compress, format->bound(all.size), all.src, all.size);
    if (rackwright_is_error(length)) return fail(stream, length);
    stream->pieced = true;
    consume(stream, input, all.size);
    return WENT_ON;
}

/* Whether a stream begins as its format says; true while too little is there. */
static bool is_headed(rackwright_stream *stream, const view *all)
{
    const piece_format *format = stream->format;
    const size_t there = all->size < format->head_bytes ? all->size : format->head_bytes;
    return stream->headed || there == 0 || memcmp(all->src, format->head, there) == 0;
}

/* A piece of which nobody knows what it stands for, with more and more room. */
static size_t decompress_unbounded(rackwright_stream *stream, rackwright_output *output,
                                   const view *all, size_t room)
{
    for (;; room *= 2) {
        const size_t length =
            produce(stream, output, stream->format->decompress, room, all->src, all->size);
        const bool more = rackwright_error_status(length) == RACKWRIGHT_OUTPUT_FULL;
        if (!more || room / MOST_RATIO > all->size) return length;
    }
}

static step decompress(rackwright_stream *stream, rackwright_output *output,
                       rackwright_input *input, bool end)
{
    const piece_format *format = stream->format;
    view all;
    if (!gather(stream, input, SIZE_MAX, &all)) return refuse(stream, RACKWRIGHT_UNSUPPORTED);
    if (all.size == 0) return end ? WHOLE : NEEDS_INPUT;
    if (!is_headed(stream, &all)) return refuse(stream, RACKWRIGHT_MALFORMED);
    const piece_extent extent = format->extent(all.src, all.size);
    if (rackwright_is_error(extent.bytes)) return fail(stream, extent.bytes);
    const bool unbounded = extent.bytes == PIECE_UNBOUNDED;
    if (extent.bytes == PIECE_INCOMPLETE || (unbounded && !end)) {
        return end ? refuse(stream, RACKWRIGHT_MALFORMED) : wait_for_input(stream, input);
    }
    const size_t bytes = unbounded ? all.size : extent.bytes;
    const size_t length =
        unbounded ? decompress_unbounded(stream, output, &all, extent.plain)
                  : produce(stream, output, format->decompress, extent.plain, all.src, bytes);
    if (rackwright_is_error(length)) return fail(stream, length);
    stream->headed = true;
    consume(stream, input, bytes);
    return WENT_ON;
}

static void put(rackwright_stream *stream, rackwright_output *output)
{
    unsigned char *dst = (unsigned char *)output->dst + output->position;
    output->position += buffer_take(&stream->made, dst, output->size - output->position);
}

size_t rackwright_stream_run(rackwright_stream *stream, rackwright_output *output,
                             rackwright_input *input, bool end)
{
    step last = WENT_ON;
    while (last == WENT_ON && stream->error == 0) {
        put(stream, output);
        if (buffer_size(&stream->made) != 0) return buffer_size(&stream->made);
        last = stream->piece != 0 ? compress(stream, output, input, end)
                                  : decompress(stream, output, input, end);
    }
    put(stream, output);
    if (stream->error != 0) return stream->error;
    return last == WHOLE ? buffer_size(&stream->made) : 1;
}
