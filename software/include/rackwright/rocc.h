/* RoCC instructions as inline functions.
 *
 * A command is one 32-bit instruction in one of the four opcodes that RISC-V sets aside for
 * extensions (custom-0 to custom-3): a 7-bit function number, two source registers and, when the
 * core should wait for an answer, a destination register.
 *
 * The opcode and the function number are part of the instruction, so both must be compile-time
 * constants: hence macros and not functions. Every command is a compiler barrier, because a unit
 * reads and writes memory that the compiler knows nothing about.
 */
#ifndef RACKWRIGHT_ROCC_H
#define RACKWRIGHT_ROCC_H

#include <stdint.h>

/* Bits 6..0 of an instruction in custom-n (RISC-V unprivileged specification, table "RISC-V base
 * opcode map"). */
#define RACKWRIGHT_OPCODE_0 0x0b
#define RACKWRIGHT_OPCODE_1 0x2b
#define RACKWRIGHT_OPCODE_2 0x5b
#define RACKWRIGHT_OPCODE_3 0x7b
#define RACKWRIGHT_OPCODE(custom) RACKWRIGHT_OPCODE_##custom

#define RACKWRIGHT_TEXT_(x) #x
#define RACKWRIGHT_TEXT(x) RACKWRIGHT_TEXT_(x)

/* `funct3` of a RoCC instruction: which of rd, rs1, rs2 it uses (bits 2, 1 and 0). */
#define RACKWRIGHT_USES_RS1_RS2 "3"
#define RACKWRIGHT_USES_RD "4"
#define RACKWRIGHT_USES_ALL "7"

/* A command with two operands and no answer: the core does not wait for the unit. */
#define RACKWRIGHT_COMMAND(custom, funct, rs1, rs2)                                            \
    __asm__ volatile(".insn r " RACKWRIGHT_TEXT(RACKWRIGHT_OPCODE(custom))                     \
                     ", " RACKWRIGHT_USES_RS1_RS2 ", " RACKWRIGHT_TEXT(funct) ", x0, %0, %1"   \
                     :                                                                         \
                     : "r"((uint64_t)(rs1)), "r"((uint64_t)(rs2))                              \
                     : "memory")

/* A command without operands that answers: waits for the unit and yields a 64-bit value. */
#define RACKWRIGHT_QUERY(custom, funct)                                                        \
    (__extension__({                                                                           \
        uint64_t rackwright_answer;                                                            \
        __asm__ volatile(".insn r " RACKWRIGHT_TEXT(RACKWRIGHT_OPCODE(custom))                 \
                         ", " RACKWRIGHT_USES_RD ", " RACKWRIGHT_TEXT(funct) ", %0, x0, x0"    \
                         : "=r"(rackwright_answer)                                             \
                         :                                                                     \
                         : "memory");                                                          \
        rackwright_answer;                                                                     \
    }))

/* A command with two operands that answers. */
#define RACKWRIGHT_CALL(custom, funct, rs1, rs2)                                               \
    (__extension__({                                                                           \
        uint64_t rackwright_answer;                                                            \
        __asm__ volatile(".insn r " RACKWRIGHT_TEXT(RACKWRIGHT_OPCODE(custom))                 \
                         ", " RACKWRIGHT_USES_ALL ", " RACKWRIGHT_TEXT(funct) ", %0, %1, %2"   \
                         : "=r"(rackwright_answer)                                             \
                         : "r"((uint64_t)(rs1)), "r"((uint64_t)(rs2))                          \
                         : "memory");                                                          \
        rackwright_answer;                                                                     \
    }))

/* Orders every earlier load and store of this core before every later one. Needed before a start
 * command, so that the unit sees the input, and after a completion, so that the core does not use
 * a value of the output that it loaded too early. */
static inline void rackwright_fence(void)
{
    __asm__ volatile("fence rw, rw" ::: "memory");
}

/* Cycles of the core's clock since an arbitrary start. */
static inline uint64_t rackwright_cycles(void)
{
    uint64_t cycles;
    __asm__ volatile("rdcycle %0" : "=r"(cycles) : : "memory");
    return cycles;
}

/* Instructions this core has retired since an arbitrary start. */
static inline uint64_t rackwright_instructions(void)
{
    uint64_t instructions;
    __asm__ volatile("rdinstret %0" : "=r"(instructions) : : "memory");
    return instructions;
}

#endif
