/* Registers of a queue of commands: offsets in bytes, and the first bits of their fields.
 *
 * Made of their map by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_COMMAND_REGISTERS_H
#define RACKWRIGHT_COMMAND_REGISTERS_H

#define RACKWRIGHT_REGISTER_RS1 0x0 /* operand of the next commands */
#define RACKWRIGHT_REGISTER_RS2 0x8 /* operand of the next commands */
#define RACKWRIGHT_REGISTER_COMMAND 0x10 /* sends the command; answered when the unit has taken it */
#define RACKWRIGHT_REGISTER_COMMAND_FUNCT_BIT 0 /* first of 7 bits: its number */
#define RACKWRIGHT_REGISTER_COMMAND_OPCODE_BIT 7 /* first of 2 bits: n of custom-n */
#define RACKWRIGHT_REGISTER_COMMAND_ANSWERS_BIT 9 /* the bit: it has an answer (xd) */
#define RACKWRIGHT_REGISTER_RESULT 0x18 /* the oldest answer, waiting for it; 2^64 - 1 when none is due */
#define RACKWRIGHT_REGISTER_STATE 0x20 /* a write clears the bit overrun */
#define RACKWRIGHT_REGISTER_STATE_DUE_BIT 0 /* first of 3 bits: answers due */
#define RACKWRIGHT_REGISTER_STATE_OVERRUN_BIT 3 /* the bit: a command with an answer was dropped because 4 answers were due */

#endif
