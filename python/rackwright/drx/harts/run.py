"""Compiles kernels in C, and runs them: on simulated harts, or on this machine."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bootstrap import tools
from bootstrap.paths import BUILD
from bootstrap.software import HOST, RISCV
from rackwright.drx.harts.program import HEADERS, Way, program_text
from rackwright.drx.kernel import Kernel
from rackwright.errors import RackwrightError
from rackwright.files.whole import write_whole
from rackwright.machine.programs import make_program, place_of
from rackwright.machine.server import Server
from rackwright.profiling.observed import Profile
from rackwright.profiling.run import profile
from rackwright.profiling.watching import Watching

CPU = "boom"

_FLAGS = ("-std=gnu11", "-O3", "-fwrapv", "-fno-math-errno", "-ffp-contract=off", "-fopenmp-simd")
"""Numbers equal NumPy's: no rounding is omitted."""

_LIBRARIES = ("-pthread", "-lm")


@dataclass(frozen=True)
class Timed:
    """The output of a program, and the time of the kernel itself.

    `vectors` is true if a compiler generated vector instructions for the harts. `cycles`, `clock_hz` and
    `digest` are those of simulated harts; None on this machine.
    """

    output: bytes
    way: Way
    harts: int
    nanoseconds: int
    vectors: bool
    cycles: int | None = None
    clock_hz: int | None = None
    digest: str | None = None


def compiled(kernel: Kernel, way: Way, *, simulated: bool) -> tuple[Path, bool]:
    """The program of a kernel, for simulated harts or this machine, and whether it uses the harts' vectors.

    Clang vectorises for RISC-V; without it, the harts' compiler does not.
    """
    text = program_text(kernel, way)
    compiler = _clang()
    if simulated and compiler:
        command = [compiler, "--target=riscv64-linux-gnu", "-march=rv64gcv", "-mabi=lp64d", "-static"]
    elif simulated:
        command = [f"{RISCV.compiler_prefix}gcc", "-march=rv64gc", "-mabi=lp64d", "-static"]
    else:
        command = [compiler or f"{HOST.compiler_prefix}gcc", "-march=native"]
    options = [*command, *_FLAGS, f"-I{HEADERS}"]
    source = place_of([BUILD / f"{kernel.name}-{way.value}.c"], None, [*options, text]).with_suffix(".c")
    write_whole(source, text)
    program = source.with_suffix(".elf")
    make_program([*options, str(source), *_LIBRARIES], program)
    return program, compiler is not None or not simulated


def _clang() -> str | None:
    """Clang's C compiler beside its C++ compiler, if there is one."""
    (tool,) = (each for each in tools.TOOLS if each.name == "clang++")
    found = tools.find(tool)
    return None if found is None else shutil.which(found.path.replace("clang++", "clang"))


def run_on_harts(kernel: Kernel, inputs: Sequence[bytes], way: Way, harts: int) -> Timed:
    """Runs a kernel on the given number of harts of the model `boom`, from memory and back.

    Raises `RackwrightError` if the program cannot be compiled, or fails.
    """
    program, vectors = compiled(kernel, way, simulated=True)
    result = Server(CPU, harts=harts).run(program, [str(harts)], stdin=b"".join(inputs))
    nanoseconds = _time(kernel, result.exit_code, result.stderr)
    return Timed(
        result.stdout,
        way,
        harts,
        nanoseconds,
        vectors,
        cycles=round(nanoseconds * result.clock_hz / 1e9),
        clock_hz=result.clock_hz,
        digest=result.digest,
    )


def profile_on_harts(kernel: Kernel, inputs: Sequence[bytes], way: Way, harts: int) -> Profile:
    """Where the cycles of the kernel itself go on so many harts; raises as `run_on_harts`."""
    program, _ = compiled(kernel, way, simulated=True)
    watching = Watching("hint:1", "hint:2")
    server = Server(CPU, harts=harts)
    made = profile(server, program, [str(harts)], watching=watching, stdin=b"".join(inputs))
    if made.exit_code != 0:
        raise RackwrightError(f"{kernel.name}: its program in C ended with {made.exit_code}")
    return made


def run_on_host(kernel: Kernel, inputs: Sequence[bytes], way: Way, threads: int) -> Timed:
    """Runs a kernel with the given number of threads on this machine; raises like `run_on_harts`."""
    program, vectors = compiled(kernel, way, simulated=False)
    command = [str(program), str(threads)]
    result = subprocess.run(command, input=b"".join(inputs), capture_output=True, check=False)
    return Timed(result.stdout, way, threads, _time(kernel, result.returncode, result.stderr), vectors)


def _time(kernel: Kernel, status: int, said: bytes) -> int:
    """The nanoseconds that a program prints; raises `RackwrightError` with its output if it fails."""
    text = said.decode(errors="replace").strip()
    if status != 0:
        raise RackwrightError(f"{kernel.name}: its program in C ended with {status}: {text}")
    return int(text)
