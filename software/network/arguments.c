#include "arguments.h"

#include "bare.h"

static void refuse(const char *text, const char *reason) {
  print_text(text);
  print_text(reason);
  print_byte('\n');
  exit(2);
}

unsigned argument_count(void) {
  return boot_information.argument_count ? (unsigned)boot_information.argument_count - 1 : 0;
}

const char *argument(unsigned index) {
  if (index >= argument_count()) refuse("", "an argument is missing");
  return boot_information.arguments[index + 1];
}

/* Reads digits; tells through `text` where they end. */
static uint64_t digits(const char **text) {
  uint64_t value = 0;
  for (; **text >= '0' && **text <= '9'; ++*text) value = value * 10 + (uint64_t)(**text - '0');
  return value;
}

uint64_t number_argument(unsigned index, uint64_t otherwise) {
  if (index >= argument_count()) return otherwise;
  const char *text = argument(index), *end = text;
  const uint64_t value = digits(&end);
  if (end == text || *end) refuse(text, ": not a number");
  return value;
}

uint32_t address_argument(unsigned index) {
  const char *text = argument(index), *end = text;
  uint32_t address = 0;
  for (int part = 0; part < 4; ++part) {
    const char *begin = end;
    const uint64_t value = digits(&end);
    if (end == begin || value > 255 || *end != (part < 3 ? '.' : 0)) refuse(text, ": not an IPv4 address");
    address = address << 8 | (uint32_t)value;
    ++end;
  }
  return address;
}

void read_number_option(const struct number_option *numbers, unsigned count, const char *option) {
  const struct text whole = text_of(option);
  struct text value = whole, name = {whole.at, 0};
  while (name.length < whole.length && whole.at[name.length] != '=') ++name.length;
  const unsigned rest = name.length < whole.length ? name.length + 1 : name.length;
  value.at += rest;
  value.length -= rest;
  if (!set_number(numbers, count, name, value)) refuse(option, ": not an option, or its value is out of range");
}
