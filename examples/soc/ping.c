/* The program ping of software/network on a chip: there, nobody has given the network interface its hardware address,
 * as servers do at their reset, and its interrupt reaches the hart through the interrupt controller.
 *
 * The chip's bus.h is included before everything, by `-include`, so that the driver finds the registers. */
#include "bare.h"
#include "interrupts.h"
#include "nic.h"

#define main ping
#include "../../software/network/programs/ping.c"
#undef main

/* What hardware addresses begin with that servers of clusters are given: the rest is from the Internet address. */
static const uint64_t ASSIGNED = 0x00126d000000;

int main(void)
{
  nic_write(NIC_MAC_ADDRESS, ASSIGNED | (boot_information.address & 0xff));
  let_through(NIC_INTERRUPT);
  return ping();
}
