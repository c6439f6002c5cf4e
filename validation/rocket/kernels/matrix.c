/* A small product of matrices in double precision. */
#include "kernel.h"

enum { N = 16 };
static double a[N][N], b[N][N], c[N][N];

void setup(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = i + 1, b[i][j] = j - 1;
}

uint64_t kernel(void) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  }
  return (uint64_t)c[2][3];
}
