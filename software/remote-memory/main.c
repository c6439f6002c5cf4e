/* Runs a Linux program in user mode whose pages live here and on memory blades. Its arguments: the kind of paging,
   the number of local pages, how many are evicted at once (0: as fits), in what order (0: the clock), the number of
   harts, of blades, the addresses of these, the program's own. */
#include "bare.h"
#include "files.h"

enum { KIND = 1, LOCAL, BATCH, ORDER, HARTS, BLADES, FIRST_BLADE, MOST_BLADES = 4 };

bool by_unit;
unsigned blade_count;
uint64_t blade_address[MOST_BLADES];

static unsigned number(const char *text) {
  unsigned value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = 10 * value + (unsigned)(*text - '0');
  return value;
}

static void supervise(void) {
  const struct boot_information *told = &boot_information;
  unsigned harts = number(told->arguments[HARTS]);
  if (harts < 1 || harts > MOST_HARTS) fail("there are 1 to 8 harts, not", harts);
  by_unit = told->arguments[KIND][0] == 'u';
  blade_count = number(told->arguments[BLADES]);
  if (blade_count < 1 || blade_count > MOST_BLADES || told->neighbour_count != blade_count)
    fail("there are 1 to 4 blades, whose addresses are known at the start, not", blade_count);
  for (unsigned index = 0; index < blade_count; ++index) blade_address[index] = told->neighbours[index].mac;
  frames_start(number(told->arguments[LOCAL]), number(told->arguments[BATCH]), number(told->arguments[ORDER]));
  if (by_unit) unit_start();
  else blade_start();
  descriptors_start();
  static struct strings strings;
  for (unsigned index = FIRST_BLADE + blade_count; index < (unsigned)told->argument_count; ++index) {
    if (!strings_add(&strings, told->arguments[index])) fail("arguments are too long, or more than", MOST_STRINGS);
  }
  strings.arguments = strings.count;
  if (!load_possible(file_first())) fail("the program is no static RV64 Linux program below", LOADED_END);
  struct start start = load_program(file_first(), &strings);
  threads_start(start.pc, start.sp);
  harts_start(harts);
  hart_loop(0);
}

static void begin(void) {
  uint64_t hart = (uint64_t)__builtin_frame_address(0) - (uint64_t)hart_stacks;
  kernel_enter();
  hart_loop((unsigned)(hart / HART_STACK));
}

void further_hart_begins(void) { enter_supervisor(process_satp(process), begin); }

int main(void) {
  tables_start();
  processes_start();
  enter_supervisor(process_satp(process), supervise);
}
