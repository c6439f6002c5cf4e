/* Sorts seeded random numbers by quicksort and verifies. Argument: how many 64-bit numbers (8388608: 64 MiB). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void swap(uint64_t *one, uint64_t *other) {
  uint64_t kept = *one;
  *one = *other;
  *other = kept;
}

static uint64_t middle_of_three(const uint64_t *numbers, size_t count) {
  uint64_t a = numbers[0], b = numbers[count / 2], c = numbers[count - 1];
  if (a > b) {
    uint64_t kept = a;
    a = b;
    b = kept;
  }
  return c < a ? a : c > b ? b : c;
}

/* Hoare's partition; the smaller part by recursion, so that the stack stays short. */
static void quicksort(uint64_t *numbers, size_t count) {
  while (count > 16) {
    uint64_t pivot = middle_of_three(numbers, count);
    size_t low = 0, high = count - 1;
    for (;;) {
      while (numbers[low] < pivot) ++low;
      while (numbers[high] > pivot) --high;
      if (low >= high) break;
      swap(&numbers[low++], &numbers[high--]);
    }
    size_t first = high + 1;
    if (first < count - first) {
      quicksort(numbers, first);
      numbers += first;
      count -= first;
    } else {
      quicksort(numbers + first, count - first);
      count = first;
    }
  }
  for (size_t index = 1; index < count; ++index) {
    uint64_t number = numbers[index];
    size_t place = index;
    for (; place > 0 && numbers[place - 1] > number; --place) numbers[place] = numbers[place - 1];
    numbers[place] = number;
  }
}

int main(int count_of_arguments, char **arguments) {
  size_t count = count_of_arguments > 1 ? strtoull(arguments[1], NULL, 10) : 8388608;
  uint64_t *numbers = malloc(count * sizeof *numbers);
  if (!numbers) return 2;
  uint64_t state = 88172645463325252ull, sum = 0;
  for (size_t index = 0; index < count; ++index) {
    numbers[index] = next_random(&state);
    sum += numbers[index];
  }
  quicksort(numbers, count);
  for (size_t index = 0; index < count; ++index) {
    sum -= numbers[index];
    if (index && numbers[index - 1] > numbers[index]) return 1;
  }
  printf("sorted %zu numbers, checksum %016llx\n", count, (unsigned long long)(numbers[count / 3] ^ sum));
  return sum != 0;
}
