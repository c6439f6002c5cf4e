/* Messages between memory blades and their clients; software/remote-memory/PROTOCOL.md has the format. */
#ifndef RACKWRIGHT_PAGE_MESSAGE_H
#define RACKWRIGHT_PAGE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "nic.h"

enum page_operation { PAGE_FETCH = 0x01, PAGE_STORE = 0x02, PAGE_FETCHED = 0x81, PAGE_STORED = 0x82 };
enum page_status { PAGE_DONE, PAGE_UNKNOWN, PAGE_OLDER, PAGE_FULL };

struct page_header {
  uint8_t destination[6], source[6];
  uint8_t type[2];
  uint8_t protocol, operation;
  uint32_t tag;
  uint8_t status, incarnation;
  uint16_t version;
  uint64_t page;
  uint64_t reserved;
};

_Static_assert(sizeof(struct page_header) == 40, "the header is that of PROTOCOL.md");

enum {
  PAGE_BYTES = 4096,
  PAGE_HEADER = sizeof(struct page_header),
  PAGE_TRAILER = 8,
  PAGE_SUMMED = 14,        /* where what is summed begins */
  PAGE_SHORT_MESSAGE = 64, /* a message without a page */
  PAGE_LONG_MESSAGE = PAGE_HEADER + PAGE_BYTES + PAGE_TRAILER,
};

/* Whether what the NIC has received came whole and is of this protocol. */
static inline bool page_message(uint64_t completion, const struct page_header *header) {
  bool whole = (completion >> NIC_RECEIVE_COMPLETION_SUM_BIT & 0xffff) == 0xffff && (completion & 0xffff) >= PAGE_SHORT_MESSAGE;
  return whole && header->type[0] == 0x88 && header->type[1] == 0xb5 && header->protocol == 1;
}

/* Has the NIC sum received messages as they are to be. */
static inline void page_sum_received(void) {
  nic_write(NIC_RECEIVE_CHECKSUM, 1ull << NIC_RECEIVE_CHECKSUM_ENABLE_BIT | PAGE_SUMMED);
}

/* Has the NIC put the checksum into the next message that is sent, whose trailer is cleared. */
static inline void page_sum(struct page_header *header, unsigned length) {
  *(uint64_t *)((uint8_t *)header + length - PAGE_TRAILER) = 0;
  nic_write(NIC_SEND_CHECKSUM, 1ull << NIC_SEND_CHECKSUM_ENABLE_BIT | PAGE_SUMMED |
                                       (uint64_t)(length - PAGE_TRAILER) << NIC_SEND_CHECKSUM_OFFSET_BIT);
}

#endif
