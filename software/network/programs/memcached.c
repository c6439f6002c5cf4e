/* memcached: answers get and set of the text protocol over UDP, port 11211, for ever. One key and one datagram per
   request; keys have at most 250 bytes and values 1024; nothing expires. */
#include "memcached.h"

#include "internet.h"
#include "store.h"

static char *get(char *answer, struct text line) {
  const struct text key = take_word(&line);
  if (key.length == 0 || key.length > STORE_KEY_BYTES || line.length)
    return put_text(answer, "CLIENT_ERROR bad command line\r\n");
  const struct item *item = store_get(key);
  if (item) {
    answer = put_text(answer, "VALUE ");
    answer = put_bytes(answer, key.at, key.length);
    answer = put_text(answer, " ");
    answer = put_number(answer, item->flags);
    answer = put_text(answer, " ");
    answer = put_number(answer, item->length);
    answer = put_text(answer, "\r\n");
    answer = put_bytes(answer, item->value, item->length);
    answer = put_text(answer, "\r\n");
  }
  return put_text(answer, "END\r\n");
}

/* `rest` is what follows the line: the value, and its end of line. */
static char *set(char *answer, struct text line, struct text rest) {
  const struct text key = take_word(&line);
  uint64_t flags, expires, length;
  const bool understood = text_number(take_word(&line), &flags) && text_number(take_word(&line), &expires) &&
                          text_number(take_word(&line), &length) && line.length == 0;
  if (!understood || key.length == 0 || key.length > STORE_KEY_BYTES || flags > UINT32_MAX)
    return put_text(answer, "CLIENT_ERROR bad command line format\r\n");
  if (length > STORE_VALUE_BYTES) return put_text(answer, "SERVER_ERROR object too large for cache\r\n");
  if (rest.length != length + 2 || rest.at[length] != '\r' || rest.at[length + 1] != '\n')
    return put_text(answer, "CLIENT_ERROR bad data chunk\r\n");
  store_set(key, (uint32_t)flags, rest.at, (unsigned)length);
  return put_text(answer, "STORED\r\n");
}

static char *answer_to(struct text request, char *answer) {
  struct text line = {request.at, 0};
  while (line.length + 1 < request.length && (line.at[line.length] != '\r' || line.at[line.length + 1] != '\n')) ++line.length;
  if (line.length + 1 >= request.length) return put_text(answer, "ERROR\r\n");
  const struct text rest = {line.at + line.length + 2, request.length - line.length - 2};
  const struct text command = take_word(&line);
  if (text_is(command, "get")) return get(answer, line);
  if (text_is(command, "set")) return set(answer, line, rest);
  return put_text(answer, "ERROR\r\n");
}

static void datagram(const struct endpoint *from, uint16_t port, const uint8_t *payload, unsigned length) {
  if (port != MEMCACHED_PORT || length < MEMCACHED_HEADER || get16(payload + 4) != 1) return;
  uint8_t *answer = internet_datagram();
  put_memcached_header(answer, get16(payload));
  const struct text request = {(const char *)payload + MEMCACHED_HEADER, length - MEMCACHED_HEADER};
  const char *end = answer_to(request, (char *)answer + MEMCACHED_HEADER);
  internet_send_datagram(from, MEMCACHED_PORT, (unsigned)(end - (char *)answer));
}

int main(void) {
  static const struct handlers handlers = {.datagram = datagram};
  internet_start(&handlers);
  for (;;)
    if (!internet_poll()) nic_wait();
}
