#include "random.h"

uint64_t random_bits(struct random *random) {
  uint64_t bits = random->state += 0x9e3779b97f4a7c15ull;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebull;
  return bits ^ bits >> 31;
}

double random_fraction(struct random *random) { return (double)((random_bits(random) >> 11) + 1) * 0x1p-53; }

double logarithm(double value) {
  static const double LN_2 = 0.69314718055994530942;
  union {
    double number;
    uint64_t bits;
  } parts = {value};
  const int exponent = (int)(parts.bits >> 52 & 0x7ff) - 1023;
  parts.bits = (parts.bits & ~(0x7ffull << 52)) | 1023ull << 52;
  /* ln m = 2 artanh((m - 1) / (m + 1)), with m from 1 to 2. */
  const double ratio = (parts.number - 1) / (parts.number + 1), square = ratio * ratio;
  double sum = 0, power = ratio;
  for (int term = 1; term < 28; term += 2, power *= square) sum += power / term;
  return exponent * LN_2 + 2 * sum;
}

/* e to a power. */
static double exponential(double power) {
  /* The series for a 64th of it; then to the 64th. */
  const double part = power / 64;
  double sum = 1, term = 1;
  for (int index = 1; index < 16; ++index) sum += term *= part / index;
  for (int doubling = 0; doubling < 6; ++doubling) sum *= sum;
  return sum;
}

bool read_distribution(struct text text, struct distribution *distribution) {
  static const struct {
    const char *name;
    int kind;
  } kinds[] = {{"fixed", FIXED}, {"uniform", UNIFORM}, {"exponential", EXPONENTIAL}};
  if (text_is(text, "facebook")) {
    *distribution = (struct distribution){PARETO, 214.476, 0.348238};
    return true;
  }
  struct text name = {text.at, 0};
  while (name.length < text.length && text.at[name.length] != ':') ++name.length;
  uint64_t value;
  if (name.length == text.length) return false;
  const struct text number = {text.at + name.length + 1, text.length - name.length - 1};
  for (unsigned index = 0; index < 3; ++index) {
    if (text_is(name, kinds[index].name) && text_number(number, &value)) {
      distribution->kind = kinds[index].kind;
      distribution->scale = (double)value;
      return true;
    }
  }
  return false;
}

static double draw_any(const struct distribution *distribution, struct random *random) {
  if (distribution->kind == FIXED) return distribution->scale;
  const double fraction = random_fraction(random);
  switch (distribution->kind) {
    case UNIFORM: return fraction * distribution->scale;
    case EXPONENTIAL: return -logarithm(fraction) * distribution->scale;
    default: return distribution->scale * (exponential(-distribution->shape * logarithm(fraction)) - 1) / distribution->shape;
  }
}

uint64_t draw(const struct distribution *distribution, struct random *random, uint64_t least, uint64_t most) {
  const double value = draw_any(distribution, random) + 0.5;
  if (value < (double)least) return least;
  return value > (double)most ? most : (uint64_t)value;
}
