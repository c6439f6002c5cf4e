/* A matrix transposed: every element that is written lies in another row, and misses. */
#include "kernel.h"

enum { N = 64 };
static uint64_t from[N][N], to[N][N];

void setup(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) from[i][j] = (uint64_t)(i + j);
}

uint64_t kernel(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) to[j][i] = from[i][j];
  return to[3][5];
}
