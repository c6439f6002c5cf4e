"""Programs without an operating system: waiting, devices, instructions that nobody answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright import CPUS, Server, compile_bare_metal

every_cpu = pytest.mark.parametrize("cpu", CPUS)

DEVICES = """
#define MTIMECMP ((volatile uint64_t *)0x02004000)
#define MTIME ((volatile uint64_t *)0x0200bff8)
"""


def status(cpu: str, folder: Path, body: str) -> int:
    """What a program with this `main` ends with."""
    source = folder / "bare.c"
    source.write_text(f'#include "bare.h"\n{DEVICES}\n{body}\n')
    program = compile_bare_metal([source], folder / "bare.elf")
    return Server(cpu).run(program, max_cycles=50_000_000).exit_code


@every_cpu
def test_a_wait_for_the_timer_ends_with_the_timer(cpu: str, tmp_path: Path) -> None:
    """However long it takes: the engine looks up from a run several times in these 3 ms."""
    body = """int main(void) {
        uint64_t end = *MTIME + 30000;
        *MTIMECMP = end;
        __asm__ volatile("csrs mie, %0\\n wfi" : : "r"(1 << 7) : "memory");
        return *MTIME < end ? 1 : 0; }"""
    assert status(cpu, tmp_path, body) == 0


@every_cpu
def test_half_of_a_device_register_is_half(cpu: str, tmp_path: Path) -> None:
    body = """int main(void) {
        volatile uint32_t *halves = (volatile uint32_t *)MTIMECMP;
        *MTIMECMP = 0x1111111122222222;
        halves[0] = 0x33333333;
        halves[1] = 0x44444444;
        return *MTIMECMP == 0x4444444433333333 && halves[1] == 0x44444444 ? 0 : 1; }"""
    assert status(cpu, tmp_path, body) == 0


@every_cpu
def test_a_core_without_triggers_says_so(cpu: str, tmp_path: Path) -> None:
    """By reading 0 whatever is written, as the specification of privileged instructions has it."""
    body = """int main(void) {
        uint64_t selected, data;
        __asm__ volatile("csrw tselect, %0" : : "r"(3L));
        __asm__ volatile("csrr %0, tselect" : "=r"(selected));
        __asm__ volatile("csrw tdata1, %0" : : "r"(-1L));
        __asm__ volatile("csrr %0, tdata1" : "=r"(data));
        return selected | data ? 1 : 0; }"""
    assert status(cpu, tmp_path, body) == 0


@every_cpu
def test_a_custom_instruction_without_a_unit_is_illegal(cpu: str, tmp_path: Path) -> None:
    body = """static volatile uint64_t cause, value, place;
        __attribute__((interrupt, aligned(4))) static void trap(void) {
            uint64_t pc;
            __asm__ volatile("csrr %0, mcause" : "=r"(cause));
            __asm__ volatile("csrr %0, mtval" : "=r"(value));
            __asm__ volatile("csrr %0, mepc" : "=r"(pc));
            place = pc;
            __asm__ volatile("csrw mepc, %0" : : "r"(pc + 4)); }
        int main(void) {
            uint64_t here;
            __asm__ volatile("csrw mtvec, %0" : : "r"(trap));
            __asm__ volatile("la %0, 1f\\n1: .insn r CUSTOM_1, 0, 5, x0, x0, x0" : "=r"(here) : : "memory");
            return cause == 2 && value == 0x0a00002b && place == here ? 0 : 1; }"""
    assert status(cpu, tmp_path, body) == 0


STORE_FAULT = 128 + 7

SEVERAL_HARTS = """
enum { HARTS = 3, ROUNDS = 200 };
#define CALL(hart) (((volatile uint32_t *)0x02000000)[hart])
static volatile uint64_t counted, numbers, arrived;
uint8_t stacks[HARTS][4096] __attribute__((aligned(16)));
void work(uint64_t number) {
    __atomic_fetch_or(&numbers, 1ul << number, __ATOMIC_RELAXED);
    for (int round = 0; round < ROUNDS; round++) __atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&arrived, 1, __ATOMIC_RELEASE);
}
__attribute__((naked)) void every_hart(void) {
    __asm__ volatile("beqz a0, _start\\n la sp, stacks\\n addi t0, a0, 1\\n slli t0, t0, 12\\n"
                     "add sp, sp, t0\\n call work\\n1: wfi\\n j 1b");
}
int main(void) {
    for (int hart = 1; hart < HARTS; hart++) CALL(hart) = 1;
    work(0);
    while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < HARTS) {}
    return numbers == 7 && counted == HARTS * ROUNDS ? 0 : 1;
}
"""


@every_cpu
def test_a_program_starts_further_harts_by_software_interrupts(cpu: str, tmp_path: Path) -> None:
    """They share memory. A hart that is not there has no interrupt to be raised."""
    source = tmp_path / "several.c"
    source.write_text(f'#include "bare.h"\n{SEVERAL_HARTS}')
    program = compile_bare_metal([source], tmp_path / "several.elf", ["-Wl,--entry=every_hart"])
    first, second = (Server(cpu, harts=3).run(program, max_cycles=1_000_000) for _ in range(2))
    assert (first.exit_code, first.harts) == (0, 3)
    assert first.digest == second.digest
    assert Server(cpu, harts=2).run(program, max_cycles=1_000_000).exit_code == STORE_FAULT
