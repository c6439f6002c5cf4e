/* Words and numbers in text that ends where it says, not with a zero. */
#ifndef RACKWRIGHT_TEXT_H
#define RACKWRIGHT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* A stretch of text that is being read; what was read is no longer in it. */
struct text {
  const char *at;
  unsigned length;
};

/* A text that ends with a zero. */
struct text text_of(const char *zero_ended);

/* Takes the word up to the next space or the end, and the space. */
struct text take_word(struct text *from);

/* Whether the two are the same. */
bool text_is(struct text text, const char *zero_ended);

/* Reads a whole text as a decimal number of at most 18 digits; tells whether it is one. */
bool text_number(struct text text, uint64_t *number);

/* A number that an option sets, and what it may be. */
struct number_option {
  const char *name;
  uint64_t *value, least, most;
};

/* Sets the number of that name, of so many; tells whether there is one and may have that value. */
bool set_number(const struct number_option *numbers, unsigned count, struct text name, struct text value);

/* Appends to what is being written; each returns where it ends now. */
char *put_text(char *to, const char *zero_ended);
char *put_bytes(char *to, const void *bytes, unsigned length);
char *put_number(char *to, uint64_t number);

#endif
