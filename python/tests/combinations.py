"""What runs on which core, where, and with what beside it: cases, and how a user tries each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rackwright import compile_bare_metal, compile_program
from rackwright.hardware.headers import server_header
from rackwright.unit.accelerators import unit_manifest
from rackwright.unit.config import UnitConfig

WORKLOADS = ("bare metal", "program", "Linux", "nothing")
CPUS = ("functional", "rocket", "boom", "rocket-rtl")
PLACES = ("alone", "cluster")
FEATURES = ("nothing", "units", "devices", "NIC", "profile", "capture", "waves")
UNIT = "stream-copy"
"""The smallest unit with memory: it is compiled in each form that a case needs, as with waves and state."""

_COMMON = """
#define COMMAND(funct, rs1, rs2) RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, funct, rs1, rs2)
static volatile uint64_t *const mtime = (volatile uint64_t *)0x0200bff8;
static volatile uint64_t *const mac = (volatile uint64_t *)0x10016028;
static unsigned char source[] = {'b', 'e', 'e', 'r'}, copy[8];
"""
_BODIES = {
    "nothing": "return 0;",
    "devices": "uint64_t now = *mtime; while (*mtime == now) {} return 0;",
    "NIC": "return *mac == 0;",
    "units": """COMMAND(STREAM_COPY_SRC, (uintptr_t)source, sizeof source);
        COMMAND(STREAM_COPY_DEST_AND_START, (uintptr_t)copy, 0);
        RACKWRIGHT_QUERY(STREAM_COPY_CUSTOM, STREAM_COPY_CHECK_COMPLETION);
        rackwright_fence();
        return copy[0] != 'b';""",
}
_COMMANDS = {
    "devices": "sleep 0.001 && date && dd if=/dev/hwrng of=/dev/null bs=8 count=1",
    "NIC": "test -d /sys/class/net/eth0",
    "units": "./program.elf",
}
"""What root's shell runs of Linux."""
_IN_CLUSTER = """
switch = Switch("tor0")
switch.add_downlinks([server])
row = Cluster(switch).run(until_ms=1000, ends_with=[server], threads=1).servers.iloc[0]
if row["error"] or row["exit_code"]:
    raise RackwrightError(row["error"] or f"exit status {row['exit_code']}")
"""


def compiled(kind: str, folder: Path, compiler: Callable[[list[Path], Path, list[str]], Path]) -> Path:
    """program.elf in `folder`: the program of this kind, by this compiler."""
    (folder / "units.h").write_text(server_header([unit_manifest(UnitConfig(UNIT))]))
    source = folder / "program.c"
    first = '#include <stdint.h>\n#include "rackwright/rocc.h"\n#include "units.h"\n'
    body = _BODIES.get(kind, _BODIES["nothing"])
    source.write_text(f"{first}{_COMMON}int main(void) {{ {body} }}\n")
    return compiler([source], folder / "program.elf", [f"-I{folder}"])


@dataclass(frozen=True)
class Case:
    """A cell of the table: a workload, and a `feature` that is used beside it."""

    workload: str
    cpu: str
    place: str
    feature: str

    @property
    def needs_units(self) -> bool:
        """Whether it needs units: waves are those of units."""
        return self.feature in ("units", "waves")

    @property
    def boots(self) -> bool:
        """Whether a kernel runs, which takes seconds from a checkpoint, and a minute without one."""
        return self.workload == "Linux" and refusal(self) is None

    @property
    def needs_image(self) -> bool:
        """Whether an image is made, even if what is asked for beside it is then refused."""
        return self.boots or (self.workload == "Linux" and refusal(self) == "g")

    def command(self, folder: Path, booted: Path) -> list[str]:
        """What is written behind `./rw`, with files in `folder`. `booted` is a checkpoint of Linux."""
        options = {
            "capture": ["--pcap", "tor0.port0"],
            "waves": ["--waves", str(folder / "waves.fst")],
        }.get(self.feature, [])
        prefix = ["profile", "-o", str(folder / "profile"), "--"] if self.feature == "profile" else []
        if self.place == "cluster":
            into = ["-o", str(folder / "out")] if self.feature == "capture" else []
            options = options if self.feature == "capture" else []
            return [*prefix, "run", str(self._script(folder, booted)), *options, *into]
        if self.workload == "nothing":
            return [*prefix, "run", str(self._script(folder, booted))]
        if self.needs_units:
            options = [*options, "--accelerator", UNIT]
        if self.workload == "Linux":
            options = ["--net", "user"] if self.feature == "NIC" else options
            what = ["--from", str(booted), "--run", self._linux_command]
            return [*prefix, "boot", "--cpu", self.cpu, *options, *what]
        return [*prefix, "run", "--cpu", self.cpu, *options, str(self._program(folder))]

    def _workload(self, folder: Path, booted: Path) -> str:
        if self.workload == "nothing":
            return "None"
        if self.workload == "Linux":
            return f"Linux({self._state(booted)}, run={self._linux_command!r})"
        kind = "Program" if self.workload == "program" else "BareMetal"
        return f"{kind}({str(self._program(folder))!r})"

    def _state(self, booted: Path) -> str:
        return f"'default', checkpoint={str(booted)!r}" if self.boots else "'default'"

    @property
    def _linux_command(self) -> str:
        return _COMMANDS.get(self.feature, "true")

    def _program(self, folder: Path) -> Path:
        kind = "units" if self.needs_units else self.feature
        compiler = compile_bare_metal if self.workload == "bare metal" else compile_program
        return compiled(kind, folder, compiler)

    def _script(self, folder: Path, booted: Path) -> Path:
        what = f"workload={self._workload(folder, booted)}"
        run = _IN_CLUSTER if self.place == "cluster" else "server.run()"
        units = [UNIT] if self.needs_units else []
        waves = f", waves=Path({str(folder / 'waves.fst')!r})" if self.feature == "waves" else ""
        script = folder / "script.py"
        script.write_text(f"""
from pathlib import Path
from rackwright import BareMetal, Cluster, Linux, Program, RackwrightError, Server, Switch
server = Server({self.cpu!r}, {units!r}, name="one", {what}{waves})
{run}
""")
        return script


@dataclass(frozen=True)
class Reason:
    """Why a case is refused: what the last line of standard error says, and what the page says."""

    line: str
    page: str


REASONS = {
    "a": Reason(
        "exit status", "without a link there is no network interface, and its registers do not exist"
    ),
    "b": Reason("--pcap does not apply", "only links of clusters can be captured"),
    "c": Reason("LoadAccessFault", "a program in user mode has an emulated kernel, and no devices"),
    "d": Reason("can't be observed", "Rocket in RTL cannot be observed, only its model"),
    "e": Reason("runs bare-metal programs", "Rocket in RTL runs only bare-metal programs"),
    "f": Reason(
        "rocket-rtl is for servers that run alone", "servers of clusters support only modelled harts"
    ),
    "g": Reason(
        "`waves` is for servers that run alone", "waves are recorded only for servers that run alone"
    ),
    "h": Reason("No such option", "`./rw boot` records no waves; only links of clusters can be captured"),
    "i": Reason("'rocket-rtl' is not one of", "Linux would take hours on Rocket in RTL (below)"),
    "j": Reason("workload", "a server without a workload has nothing to run"),
}


def refusal(case: Case) -> str | None:
    """The letter of the reason why a case is refused; None for one that works."""
    if case.workload == "nothing":
        return _refusal_of_nothing(case)
    if case.workload == "Linux" and case.place == "alone":
        return _refusal_of_boot(case)
    if case.feature == "capture" and case.place == "alone":
        return "b"
    if case.cpu == "rocket-rtl":
        return _refusal_of_rtl(case)
    if case.feature == "waves" and case.place == "cluster":
        return "g"
    if case.workload == "program" and case.feature in ("devices", "NIC"):
        return "c"
    return "a" if (case.feature, case.place) == ("NIC", "alone") else None


def _refusal_of_nothing(case: Case) -> str:
    if case.place == "cluster" and case.cpu == "rocket-rtl":
        return "f"
    return "g" if case.place == "cluster" and case.feature == "waves" else "j"


def _refusal_of_boot(case: Case) -> str | None:
    if case.feature in ("capture", "waves"):
        return "h"
    return "i" if case.cpu == "rocket-rtl" else None


def _refusal_of_rtl(case: Case) -> str | None:
    if case.feature == "profile":
        return "d" if case.place == "alone" else "f"
    if case.place == "cluster":
        return "f"
    if case.workload == "program":
        return "e"
    return "a" if case.feature == "NIC" else None


def cases() -> list[Case]:
    """All cells, by row."""
    return [
        Case(workload, cpu, place, feature)
        for workload in WORKLOADS
        for place in PLACES
        for cpu in CPUS
        for feature in FEATURES
    ]


def table() -> str:
    """The table and its reasons, as docs/combinations.md has them."""
    head = "| workload | where | core | " + " | ".join(FEATURES) + " |"
    rows = [head, "| --- " * (3 + len(FEATURES)) + "|"]
    every = cases()
    for first in range(0, len(every), len(FEATURES)):
        row = every[first : first + len(FEATURES)]
        cells = [refusal(case) or "yes" for case in row]
        rows.append(f"| {row[0].workload} | {row[0].place} | `{row[0].cpu}` | {' | '.join(cells)} |")
    reasons = [f"- {letter}: {reason.page}" for letter, reason in REASONS.items()]
    return "\n".join([*rows, "", *reasons])
