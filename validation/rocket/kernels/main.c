/* Measures one kernel: prints "cycles instructions result". */
#include "bare.h"
#include "kernel.h"

int main(void) {
  setup();
  kernel();
  uint64_t instructions = read_instructions();
  uint64_t cycles = read_cycles();
  uint64_t result = kernel();
  cycles = read_cycles() - cycles;
  instructions = read_instructions() - instructions;
  print_number(cycles);
  print_byte(' ');
  print_number(instructions);
  print_byte(' ');
  print_number(result);
  print_byte('\n');
  return 0;
}
