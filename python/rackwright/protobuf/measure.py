"""Runs a suite on every target: host, simulated cores, simulated cores with the units."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.hardware.designs import ParameterValue
from rackwright.machine.parameters import ServerParameters
from rackwright.machine.server import Server
from rackwright.protobuf.program import Programs, compile_benchmark
from rackwright.protobuf.rows import Row
from rackwright.protobuf.schema import read_schema
from rackwright.protobuf.suite import Benchmark, Suite
from rackwright.protobuf.wire import delimited
from rackwright.reports.times import Times
from rackwright.unit.config import UnitConfig

OPERATIONS = ("deserialize", "serialize")
TARGETS = ("host", "rocket", "boom", "rocket+unit", "boom+unit")
CALLS = ("batch", "single")
"""The number of messages passed to a unit at a time: all of a benchmark, or one."""

UNITS = {"deserialize": "protobuf-deserialize", "serialize": "protobuf-serialize"}

_EXIT_NOT_VERIFIED = 1


@dataclass(frozen=True)
class Way:
    """The conditions of parsing and serializing besides the messages.

    `clock` and `parameters` are those of the units, by name; `calls` is one of `CALLS`. `timing` has numbers
    of caches, DRAM and harts that replace the defaults. Raises `RackwrightError` for unknown arguments.
    """

    clock: str | None = None
    calls: str = "batch"
    parameters: Mapping[str, Mapping[str, ParameterValue]] = field(default_factory=dict)
    timing: ServerParameters = field(default_factory=ServerParameters)

    def __post_init__(self) -> None:
        if self.calls not in CALLS:
            raise RackwrightError(f"calls are {' or '.join(CALLS)}, not {self.calls}")
        strangers = set(self.parameters) - set(UNITS.values())
        if strangers:
            raise RackwrightError(f"no unit {min(strangers)}; there are {', '.join(UNITS.values())}")


def measure(
    suite: Suite,
    operations: Sequence[str] = OPERATIONS,
    targets: Sequence[str] = TARGETS,
    *,
    include: Sequence[Path] = (),
    way: Way | None = None,
    begin: Callable[[str], None] = lambda _: None,
    detail: Callable[[str], None] = lambda _: None,
) -> Iterator[Row]:
    """Measures every benchmark on every target; rows are in the order of targets, for each part of the suite.

    Every result has been compared with the official library's, by the program that was measured. `way` has
    the conditions. `begin` is called at each start, `detail` with the progress, a few times per second of a
    simulation.
    """
    way = way or Way()
    for part in suite.parts():
        folders = (*include, suite.proto.parent)
        yield from _measure_part(part, operations, targets, folders, way, begin, detail)


def _measure_part(
    suite: Suite,
    operations: Sequence[str],
    targets: Sequence[str],
    include: Sequence[Path],
    way: Way,
    begin: Callable[[str], None],
    detail: Callable[[str], None],
) -> Iterator[Row]:
    begin(f"{suite.name}: compiling")
    schema = read_schema(suite.proto, include)
    messages = list(dict.fromkeys(benchmark.message for benchmark in suite.benchmarks))
    machines = {"host" if target == "host" else "riscv64" for target in targets}
    programs = compile_benchmark(schema, messages, machines)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, benchmark in enumerate(suite.benchmarks):
            (folder / f"{number}.bin").write_bytes(delimited(benchmark.messages))
        for target in targets:
            for operation in operations:
                job = f"{suite.name}: {operation} on {target}"
                begin(job)
                tell = partial(_tell, job, detail)
                output = _run(programs, target, operation, suite.benchmarks, folder, way, tell)
                yield from _rows(output, target, suite.benchmarks)


def _tell(job: str, detail: Callable[[str], None], _: int, cycles: int) -> None:
    """The progress of a core's simulation."""
    detail(f"{job}, {cycles / 1e6:,.1f} million cycles")


@dataclass(frozen=True)
class _Output:
    """The program's output on a target, and the clocks of the core (None on the host) and of the unit."""

    text: str
    calls: str
    clock_hz: int | None
    unit_clock_hz: int | None


def _run(
    programs: Programs,
    target: str,
    operation: str,
    benchmarks: Sequence[Benchmark],
    folder: Path,
    way: Way,
    progress: Callable[[int, int], None],
) -> _Output:
    files = [f"{benchmark.message}={number}.bin" for number, benchmark in enumerate(benchmarks)]
    cpu, _, unit = target.partition("+")
    by_unit = "unit" if way.calls == "batch" else "unit-by-call"
    arguments = [operation, by_unit if unit else "library", *files]
    if cpu == "host":
        command = [str(programs.host), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        _check(done.returncode, target, done.stderr)
        return _Output(done.stdout, "single", None, None)
    config = UnitConfig(UNITS[operation], way.parameters.get(UNITS[operation], {}), clock=way.clock)
    server = Server(cpu, [config] if unit else [], timing=way.timing)
    # Names without folders, so that the program has the same arguments wherever it runs.
    with contextlib.chdir(folder):
        result = server.run(programs.riscv64, arguments, progress=progress)
    _check(result.exit_code, target, result.stderr.decode(errors="replace"))
    unit_clock = result.unit_clock_hz(UNITS[operation])
    return _Output(result.stdout.decode(), way.calls if unit else "single", result.clock_hz, unit_clock)


def _check(status: int, target: str, said: str) -> None:
    """An unverified result is a row; any other failure is an error."""
    if status not in (0, _EXIT_NOT_VERIFIED):
        raise RackwrightError(f"the benchmark failed on {target}: {said.strip()}")


def _rows(output: _Output, target: str, benchmarks: Sequence[Benchmark]) -> Iterator[Row]:
    lines = [json.loads(line) for line in output.text.splitlines()]
    if len(lines) != len(benchmarks):
        raise RackwrightError(f"the benchmark ended early on {target}, after {len(lines)} results")
    for benchmark, line in zip(benchmarks, lines, strict=True):
        yield _row(benchmark, target, line, output)


def _row(benchmark: Benchmark, target: str, line: dict[str, Any], output: _Output) -> Row:
    return Row(
        benchmark=benchmark.name,
        operation=line["operation"],
        target=target,
        messages=line["messages"],
        wire_bytes=line["wire_bytes"],
        calls=output.calls,
        times=Times.of(line, output.clock_hz),
        cycles=line.get("cycles"),
        verified=line["verified"],
        status=line["status"],
        group=benchmark.group,
        reasons=line["fallbacks"],
        unit_clock_hz=output.unit_clock_hz,
    )
