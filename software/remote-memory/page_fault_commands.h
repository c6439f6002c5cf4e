/* How programs reach page-fault.
 *
 * Made of their manifests by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_PAGE_FAULT_COMMANDS_H
#define RACKWRIGHT_PAGE_FAULT_COMMANDS_H

#define PAGE_FAULT_CUSTOM 3 /* page-fault: n of custom-n */
#define PAGE_FAULT_WALK 0 /* rs1: place of an entry, answers cause */
#define PAGE_FAULT_FETCH 1 /* rs1: place of an entry, answers cause */
#define PAGE_FAULT_FETCHING 2 /* answers 1 while a page is on its way */
#define PAGE_FAULT_GIVE_FRAME 3 /* rs1: frame, rs2: its record, answers 1 taken, 0 no room */
#define PAGE_FAULT_EVICT 4 /* rs1: frame, rs2: remote entry, answers 1 taken, 0 no room */
#define PAGE_FAULT_TAKEN 5 /* rs1: entries of the ring that were read since, answers new pages so far, modulo 2^32 */
#define PAGE_FAULT_RING 6 /* rs1: page of the ring */
#define PAGE_FAULT_TICK 7
#define PAGE_FAULT_OWN_ADDRESS 8 /* rs1: hardware address */
#define PAGE_FAULT_BLADE_ADDRESS 9 /* rs1: hardware address, rs2: number of the blade */
#define PAGE_FAULT_FAULT 127 /* answers where an access was refused, if the unit translates addresses */

#endif
