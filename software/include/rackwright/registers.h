/* Commands to a unit behind registers.
 *
 * `page` is the address of its registers, `custom` and `funct` are those of the command: constants of the header that
 * `rw units --header` makes. Every access waits until the
 * unit has answered it, and is a compiler barrier, because a unit reads and writes memory that the compiler knows nothing
 * about. */
#ifndef RACKWRIGHT_REGISTERS_H
#define RACKWRIGHT_REGISTERS_H

#include <stdint.h>

#include "rackwright/command_registers.h"

static inline void rackwright_register_write(uint64_t page, uint64_t offset, uint64_t value)
{
    __asm__ volatile("sd %0, 0(%1)" : : "r"(value), "r"(page + offset) : "memory");
}

static inline uint64_t rackwright_register_read(uint64_t page, uint64_t offset)
{
    uint64_t value;
    __asm__ volatile("ld %0, 0(%1)" : "=r"(value) : "r"(page + offset) : "memory");
    return value;
}

static inline uint64_t rackwright_command_word(uint64_t custom, uint64_t funct)
{
    return custom << RACKWRIGHT_REGISTER_COMMAND_OPCODE_BIT | funct << RACKWRIGHT_REGISTER_COMMAND_FUNCT_BIT;
}

/* A command with two operands and no answer. */
static inline void rackwright_register_command(uint64_t page, uint64_t custom, uint64_t funct, uint64_t rs1,
                                               uint64_t rs2)
{
    rackwright_register_write(page, RACKWRIGHT_REGISTER_RS1, rs1);
    rackwright_register_write(page, RACKWRIGHT_REGISTER_RS2, rs2);
    rackwright_register_write(page, RACKWRIGHT_REGISTER_COMMAND, rackwright_command_word(custom, funct));
}

/* A command without operands that answers: waits for the unit and yields a 64-bit value. */
static inline uint64_t rackwright_register_query(uint64_t page, uint64_t custom, uint64_t funct)
{
    rackwright_register_write(page, RACKWRIGHT_REGISTER_COMMAND, rackwright_command_word(custom, funct) | UINT64_C(1) << RACKWRIGHT_REGISTER_COMMAND_ANSWERS_BIT);
    return rackwright_register_read(page, RACKWRIGHT_REGISTER_RESULT);
}

#endif
