/* Quicksort with insertion sort for short ranges. */
#include "kernel.h"

enum { COUNT = 1024 };
static int32_t values[COUNT];

static void insert(int32_t *v, int n) {
  for (int i = 1; i < n; i++) {
    int32_t x = v[i];
    int j = i;
    for (; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
    v[j] = x;
  }
}

static void quick(int32_t *v, int n) {
  while (n > 12) {
    int32_t pivot = v[n / 2];
    int i = 0, j = n - 1;
    while (i <= j) {
      while (v[i] < pivot) i++;
      while (v[j] > pivot) j--;
      if (i > j) break;
      int32_t swap = v[i];
      v[i++] = v[j];
      v[j--] = swap;
    }
    quick(v + i, n - i);
    n = j + 1;
  }
  insert(v, n);
}

void setup(void) {}

uint64_t kernel(void) {
  uint64_t random = 29;
  for (int i = 0; i < COUNT; i++) values[i] = (int32_t)next_random(&random);
  quick(values, COUNT);
  return (uint64_t)values[COUNT / 2];
}
