/* Copies short ranges, where what a command takes counts. */
#include "copying.h"

int main(void) {
  uint8_t *source = free_memory, *target = free_memory + (1 << 16);
  for (uint64_t bytes = 1; bytes <= 256; bytes *= 4) {
    for (uint64_t place = 0; place < bytes; place++) source[place] = (uint8_t)(place + bytes);
    uint64_t cycles = 0;
    for (uint64_t turn = 0; turn < 8; turn++) cycles += copy(source, target, bytes);
    print_text("8 times ");
    print_number(bytes);
    print_cycles(" bytes", cycles);
    if (target[bytes - 1] != source[bytes - 1]) return 1;
  }
  return 0;
}
