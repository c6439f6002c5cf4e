/* The arguments of a program. */
#ifndef RACKWRIGHT_ARGUMENTS_H
#define RACKWRIGHT_ARGUMENTS_H

#include "text.h"

#include <stdint.h>

/* The number of arguments behind the program's name. */
unsigned argument_count(void);

/* Argument `index`, from 0, as it is. Ends the program with status 2 when there are fewer. */
const char *argument(unsigned index);

/* Argument `index` as a decimal number, or `otherwise` when there are fewer. Ends the program when it is no number. */
uint64_t number_argument(unsigned index, uint64_t otherwise);

/* Argument `index` as an IPv4 address. Ends the program when it is none. */
uint32_t address_argument(unsigned index);

/* Sets the one of so many numbers that an argument NAME=VALUE is for. Ends the program when none is, or may not have that value. */
void read_number_option(const struct number_option *numbers, unsigned count, const char *option);

#endif
