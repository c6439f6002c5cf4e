/* Commands to a unit behind registers.
 *
 * `page` is the address of its registers, `custom` and `funct` are those of the command: constants of the header that
 * `rw units --header` makes. The map is in hardware/src/main/scala/rackwright/adapter/README.md. Every access waits until the
 * unit has answered it, and is a compiler barrier, because a unit reads and writes memory that the compiler knows nothing
 * about. */
#ifndef RACKWRIGHT_REGISTERS_H
#define RACKWRIGHT_REGISTERS_H

#include <stdint.h>

#define RACKWRIGHT_REGISTER_RS1 0x00
#define RACKWRIGHT_REGISTER_RS2 0x08
#define RACKWRIGHT_REGISTER_COMMAND 0x10
#define RACKWRIGHT_REGISTER_RESULT 0x18

/* Bit of the command that asks for an answer. */
#define RACKWRIGHT_REGISTER_ANSWERS (1u << 9)

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

/* A command with two operands and no answer. */
static inline void rackwright_register_command(uint64_t page, uint64_t custom, uint64_t funct, uint64_t rs1,
                                               uint64_t rs2)
{
    rackwright_register_write(page, RACKWRIGHT_REGISTER_RS1, rs1);
    rackwright_register_write(page, RACKWRIGHT_REGISTER_RS2, rs2);
    rackwright_register_write(page, RACKWRIGHT_REGISTER_COMMAND, custom << 7 | funct);
}

/* A command without operands that answers: waits for the unit and yields a 64-bit value. */
static inline uint64_t rackwright_register_query(uint64_t page, uint64_t custom, uint64_t funct)
{
    rackwright_register_write(page, RACKWRIGHT_REGISTER_COMMAND, custom << 7 | funct | RACKWRIGHT_REGISTER_ANSWERS);
    return rackwright_register_read(page, RACKWRIGHT_REGISTER_RESULT);
}

#endif
