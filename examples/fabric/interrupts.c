/* Has each card `traffic` of a fabric write memory by DMA, and waits for its interrupt, which comes behind the data.
 *
 * rw run --fabric examples/fabric/switch.py interrupts.elf */
#include "bare.h"
#include "messages.h"
#include "pci.h"
#include "traffic_run.h"

enum { MOST = 64, FIRST_IDENTITY = 10 };

static struct pci_function functions[MOST];
static volatile unsigned interrupts[MOST];

__attribute__((interrupt("machine"), aligned(4))) static void count_interrupt(void) {
  for (unsigned identity; (identity = messages_claim());) interrupts[identity - FIRST_IDENTITY]++;
}

/* Waits for the next interrupt of a card. They are let in only by `wfi`, so that none comes between the test and the wait. */
static void wait_for(unsigned card, unsigned before) {
  for (;;) {
    __asm__ volatile("csrci mstatus, 8" : : : "memory");
    if (interrupts[card] != before) break;
    __asm__ volatile("wfi\n csrsi mstatus, 8" : : : "memory");
  }
  __asm__ volatile("csrsi mstatus, 8" : : : "memory");
}

/* Both directions of one card; says what went wrong, or 0. */
static int test(const struct pci_function *function, unsigned card) {
  volatile uint64_t *registers = (volatile uint64_t *)function->bar[0];
  volatile uint64_t *buffer = (volatile uint64_t *)free_memory;
  uint64_t base = (uint64_t)buffer, sum = traffic_fill(buffer, function->id);
  traffic_begin(registers, base, 0);
  wait_for(card, 0);
  if (!traffic_has_read(registers, sum)) return 1;
  traffic_begin(registers, base, 1);
  wait_for(card, 1);
  /* Nothing has been read from the card: its message alone says that the data are there. */
  return traffic_has_written(buffer, base) ? 0 : 2;
}

int main(void) {
  struct pci pci = {1, PCI_WINDOW, 0, MOST, functions};
  unsigned cards = 0;
  pci_scan(&pci, 0, 32);
  messages_begin(count_interrupt);
  for (int index = 0; index < pci.count; index++) {
    const struct pci_function *function = &functions[index];
    if (function->vendor != TRAFFIC_VENDOR || function->device != TRAFFIC_DEVICE) continue;
    unsigned card = cards++;
    messages_enable(FIRST_IDENTITY + card);
    if (pci_send_messages(function, 0, messages_address(0), FIRST_IDENTITY + card)) return 3;
    int wrong = test(function, card);
    if (wrong) return wrong;
  }
  for (unsigned card = 0; card < cards; card++)
    if (interrupts[card] != 2) return 4;
  print_number(cards);
  print_text(" cards, two interrupts each\n");
  return 0;
}
