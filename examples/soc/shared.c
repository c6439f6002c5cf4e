/* Two harts copy by the one unit that they share, whose commands and answers know their hart. A copy is several
 * commands: a lock makes the harts take turns.
 *
 * `shared.h` is the chip's. */
#include "bare.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"
#include "second_hart.h"
#include "shared.h"

enum { HARTS = 2, TURNS = 4, BYTES = 500, APART = 1 << 16 };

static volatile uint32_t lock, right, ended;

static void acquire(void)
{
  while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) __asm__ volatile("nop");
}

static void release(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

static uint8_t pattern(uint64_t hart, uint64_t turn, uint64_t place) { return (uint8_t)(hart * 101 + turn * 31 + place); }

/* Copies what only this hart writes, and reads it without the lock. */
static uint32_t copies(uint64_t hart)
{
  uint8_t *source = free_memory + hart * APART, *target = source + APART / 2;
  uint32_t good = 0;
  for (uint64_t turn = 0; turn < TURNS; turn++) {
    const uint64_t bytes = BYTES + hart + turn;
    for (uint64_t place = 0; place < bytes; place++) source[place] = pattern(hart, turn, place);
    rackwright_fence();
    acquire();
    RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_SRC, source, bytes);
    RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_LIMIT, bytes, 0);
    RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_DEST_AND_START, target, 0);
    (void)RACKWRIGHT_QUERY(STREAM_COPY_CUSTOM, STREAM_COPY_CHECK_COMPLETION);
    rackwright_fence();
    const uint64_t status = RACKWRIGHT_QUERY(STREAM_COPY_CUSTOM, STREAM_COPY_STATUS);
    rackwright_fence();
    release();
    uint64_t wrong = status != RACKWRIGHT_OK;
    for (uint64_t place = 0; place < bytes; place++) wrong |= target[place] != pattern(hart, turn, place);
    good += wrong == 0;
    /* Both ask at any time; every answer returns to its hart. */
    good += RACKWRIGHT_QUERY(STREAM_COPY_CUSTOM, STREAM_COPY_STATUS) == RACKWRIGHT_OK;
  }
  return good;
}

__attribute__((used)) static void second(void)
{
  __atomic_fetch_add(&right, copies(1), __ATOMIC_RELEASE);
  __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
  for (;;) __asm__ volatile("wfi");
}

int main(void)
{
  const uint64_t start = read_cycles();
  start_second_hart();
  __atomic_fetch_add(&right, copies(0), __ATOMIC_RELEASE);
  while (!ended) __asm__ volatile("nop");
  print_number(right);
  print_text(" of 16 are right, in ");
  print_number(read_cycles() - start);
  print_text(" cycles\n");
  return right != 2 * HARTS * TURNS;
}
