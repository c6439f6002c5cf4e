/* Seeded random numbers, and what is drawn with them. */
#ifndef RACKWRIGHT_RANDOM_H
#define RACKWRIGHT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

/* A generator (splitmix64): equal states give equal numbers. */
struct random {
  uint64_t state;
};

uint64_t random_bits(struct random *random);

/* Above 0, at most 1. */
double random_fraction(struct random *random);

/* A distribution of sizes or times. */
struct distribution {
  enum { FIXED, UNIFORM, EXPONENTIAL, PARETO } kind;
  double scale; /* the value, the greatest, the mean; of Pareto's, the scale */
  double shape; /* of Pareto's */
};

/* Reads `fixed:N`, `uniform:N`, `exponential:MEAN`, or `facebook`, which is the distribution of value sizes that mutilate
   took from Atikoglu et al. 2012: a generalised Pareto distribution of scale 214.476 and shape 0.348238. */
bool read_distribution(struct text text, struct distribution *distribution);

/* Draws a number, at least `least` and at most `most`. */
uint64_t draw(const struct distribution *distribution, struct random *random, uint64_t least, uint64_t most);

/* The natural logarithm of a positive number, to 12 digits. */
double logarithm(double value);

#endif
