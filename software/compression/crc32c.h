/* CRC-32C (Castagnoli), as iSCSI has it (RFC 3720) and Snappy's framing format asks for. */
#ifndef RACKWRIGHT_COMPRESSION_CRC32C_H
#define RACKWRIGHT_COMPRESSION_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t rackwright_crc32c(const void *src, size_t size);

#endif
