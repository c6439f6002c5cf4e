#include "text.h"

#include "bytes.h"

struct text text_of(const char *zero_ended) {
  unsigned length = 0;
  while (zero_ended[length]) ++length;
  return (struct text){zero_ended, length};
}

struct text take_word(struct text *from) {
  struct text word = {from->at, 0};
  while (word.length < from->length && word.at[word.length] != ' ') ++word.length;
  const unsigned passed = word.length + (word.length < from->length);
  from->at += passed;
  from->length -= passed;
  return word;
}

bool text_is(struct text text, const char *zero_ended) {
  const struct text other = text_of(zero_ended);
  return text.length == other.length && memcmp(text.at, other.at, text.length) == 0;
}

bool text_number(struct text text, uint64_t *number) {
  if (text.length == 0 || text.length > 18) return false;
  uint64_t value = 0;
  for (unsigned index = 0; index < text.length; ++index) {
    const char digit = text.at[index];
    if (digit < '0' || digit > '9') return false;
    value = value * 10 + (uint64_t)(digit - '0');
  }
  *number = value;
  return true;
}

bool set_number(const struct number_option *numbers, unsigned count, struct text name, struct text value) {
  for (const struct number_option *option = numbers; option < numbers + count; ++option) {
    uint64_t number;
    if (!text_is(name, option->name) || !text_number(value, &number)) continue;
    if (number < option->least || number > option->most) return false;
    *option->value = number;
    return true;
  }
  return false;
}

char *put_text(char *to, const char *zero_ended) {
  while (*zero_ended) *to++ = *zero_ended++;
  return to;
}

char *put_bytes(char *to, const void *bytes, unsigned length) { return (char *)memcpy(to, bytes, length) + length; }

char *put_number(char *to, uint64_t number) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  while (count) *to++ = digits[--count];
  return to;
}
