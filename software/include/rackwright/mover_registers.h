/* Registers of a stream behind a mover: offsets in bytes, and the first bits of their fields.
 *
 * Made of their map by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_MOVER_REGISTERS_H
#define RACKWRIGHT_MOVER_REGISTERS_H

#define RW_MOVER_REGISTER_ADDRESS 0x0 /* address of the buffer, low half */
#define RW_MOVER_REGISTER_ADDRESS_HIGH 0x8 /* high half */
#define RW_MOVER_REGISTER_BYTES 0x10 /* bytes of the frame, or of the room for one; a write starts it */
#define RW_MOVER_REGISTER_STATUS 0x18 /* state of the frame */
#define RW_MOVER_REGISTER_STATUS_CODE_BIT 0 /* first of 3 bits: how the last frame ended, as of units: 0 is ok */
#define RW_MOVER_REGISTER_STATUS_BUSY_BIT 8 /* the bit: a frame is being moved */
#define RW_MOVER_REGISTER_STATUS_DONE_BIT 9 /* the bit: a frame has ended, and was not acknowledged */
#define RW_MOVER_REGISTER_MOVED 0x20 /* bytes moved of the present frame, or of the last one */
#define RW_MOVER_REGISTER_CONTROL 0x28 /* interrupts, and an early end */
#define RW_MOVER_REGISTER_CONTROL_INTERRUPT_BIT 0 /* the bit: the line is high while done is 1 */
#define RW_MOVER_REGISTER_CONTROL_STOP_BIT 1 /* the bit: a 1 ends the frame with what has been moved */
#define RW_MOVER_REGISTER_CONTROL_ACKNOWLEDGE_BIT 2 /* the bit: a 1 clears done */

#endif
