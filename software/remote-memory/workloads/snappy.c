/* Compresses a file by the official snappy library into another file, reads that back, and compares. Argument: the
   file. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "snappy-c.h"

static char *read_file(const char *name, size_t *bytes) {
  int file = open(name, O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status)) return NULL;
  char *contents = malloc((size_t)status.st_size + 1);
  *bytes = 0;
  for (ssize_t got; contents && (got = read(file, contents + *bytes, 4000)) > 0;) *bytes += (size_t)got;
  close(file);
  return *bytes == (size_t)status.st_size ? contents : NULL;
}

static int write_file(const char *name, const char *contents, size_t bytes) {
  FILE *file = fopen(name, "w");
  return file && fwrite(contents, 1, bytes, file) == bytes && !fclose(file);
}

int main(int count_of_arguments, char **arguments) {
  if (count_of_arguments != 2) return 2;
  size_t bytes, packed_bytes, unpacked_bytes;
  char *contents = read_file(arguments[1], &bytes);
  if (!contents) {
    perror(arguments[1]);
    return 2;
  }
  packed_bytes = snappy_max_compressed_length(bytes);
  char *packed = malloc(packed_bytes);
  if (!packed || snappy_compress(contents, bytes, packed, &packed_bytes) != SNAPPY_OK) return 1;
  if (!write_file("unfinished", packed, packed_bytes) || rename("unfinished", "/packed.sz")) return 1;
  free(packed);
  packed = read_file("./packed.sz", &packed_bytes);
  if (!packed || unlink("packed.sz") || access("packed.sz", F_OK) == 0) return 1;
  if (snappy_uncompressed_length(packed, packed_bytes, &unpacked_bytes) != SNAPPY_OK || unpacked_bytes != bytes)
    return 1;
  char *unpacked = malloc(unpacked_bytes);
  if (!unpacked || snappy_uncompress(packed, packed_bytes, unpacked, &unpacked_bytes) != SNAPPY_OK) return 1;
  printf("%zu bytes became %zu and %s\n", bytes, packed_bytes,
         memcmp(contents, unpacked, bytes) ? "others" : "the same again");
  return memcmp(contents, unpacked, bytes) != 0;
}
