"""The programs that Rackwright needs: how to recognise them and which package contains them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

OLDEST_CARGO = (1, 85)
OLDEST_JAVA = 17
PROTOBUF_VERSION = "3.21.12"
"""The official protobuf library that is compiled, and that tools of this machine link."""

HEADERS = Path("/usr/include")

CLANG_VERSIONS = (21, 20, 19, 18, 17, 16)


@dataclass(frozen=True)
class Found:
    """An installed program: its path and its version."""

    path: str
    version: str


@dataclass(frozen=True)
class Tool:
    """A program that some step needs.

    `packages` are the names that bring it, best first; one of them is enough. `optional` tools make things
    faster. `tests_only` tools are needed only by the test suite and by the `verbs` listed here, which require
    them; a listed verb may also be an optional step of verbs.
    """

    name: str
    needed_for: str
    packages: tuple[str, ...]
    find: Callable[[], Found | None]
    optional: bool = False
    tests_only: bool = False
    verbs: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()
    """Packages to install beside the first one, written with `*` for its version suffix."""


def version_of(command: list[str]) -> str | None:
    """The first line that `command` prints, or None when it cannot be run."""
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=30, check=True, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return None
    text = (result.stdout + result.stderr).strip()
    return re.sub(r"\x1b\[[0-9;]*m", "", text.splitlines()[0]) if text else ""


def _program(name: str, *arguments: str) -> Found | None:
    path = shutil.which(name)
    if path is None:
        return None
    version = version_of([path, *(arguments or ("--version",))])
    return None if version is None else Found(path, version)


def numbers(text: str) -> tuple[int, ...]:
    """The first version in `text`: its first number, and the second if there is one."""
    match = re.search(r"(\d+)(?:\.(\d+))?", text)
    return tuple(int(part) for part in match.groups() if part) if match else ()


def _find_java() -> Found | None:
    found = _program("javac")
    return found if found and numbers(found.version)[:1] >= (OLDEST_JAVA,) else None


def _cargo_directories() -> list[str]:
    """The places of Cargo: the search path, the user's own, and Ubuntu's versioned packages."""
    versioned = sorted(Path("/usr/lib").glob("rust-*/bin"), key=lambda p: numbers(p.parent.name))
    own = Path.home() / ".cargo" / "bin"
    return [*os.environ.get("PATH", "").split(os.pathsep), str(own), *map(str, reversed(versioned))]


def _find_cargo() -> Found | None:
    for directory in _cargo_directories():
        cargo, rustc = (os.path.join(directory, name) for name in ("cargo", "rustc"))
        if not (os.access(cargo, os.X_OK) and os.access(rustc, os.X_OK)):
            continue
        versions = [version_of([program, "--version"]) for program in (cargo, rustc)]
        if all(version and numbers(version) >= OLDEST_CARGO for version in versions):
            return Found(cargo, versions[0] or "")
    return None


def _find_cargo_part(name: str) -> Found | None:
    cargo = find(CARGO)
    if cargo is None:
        return None
    path = Path(cargo.path).with_name(name)
    version = version_of([str(path), "--version"])
    return None if version is None else Found(str(path), version)


def _find_clang() -> Found | None:
    for version in CLANG_VERSIONS:
        found = _program(f"clang++-{version}")
        if found:
            return found
    plain = _program("clang++")
    return plain if plain and numbers(plain.version)[:1] >= (CLANG_VERSIONS[-1],) else None


def _find_venv() -> Found | None:
    version = version_of([sys.executable, "-c", "import ensurepip, venv; print('venv and pip')"])
    return None if version is None else Found(sys.executable, version)


def _header(name: str) -> Found | None:
    path = HEADERS / name
    return Found(str(path), "header") if path.exists() else None


def _find_libprotoc() -> Found | None:
    """The same version as the compiled library, as the system's headers state it, such as 3021012."""
    found = _header("google/protobuf/stubs/common.h")
    if found is None or _header("google/protobuf/compiler/plugin.h") is None:
        return None
    text = Path(found.path).read_text(encoding="utf-8")
    stated = re.search(r"define GOOGLE_PROTOBUF_VERSION (\d+)", text)
    number = int(stated[1]) if stated else 0
    version = f"{number // 10**6}.{number // 1000 % 1000}.{number % 1000}"
    return Found(found.path, version) if version == PROTOBUF_VERSION else None


CARGO = Tool(
    "cargo",
    "building the simulation engine (Rust 1.85 or newer)",
    ("rustc-web", "rustc-1.*", "rustc"),
    _find_cargo,
    companions=("cargo*",),
)

TOOLS = (
    Tool(
        "python3-venv",
        "the Python packages in .build/venv",
        ("python3-venv",),
        _find_venv,
    ),
    Tool("javac", "running Chisel (JDK 17 or newer)", ("default-jdk-headless",), _find_java),
    Tool("mvn", "compiling hardware/", ("maven",), lambda: _program("mvn", "-v")),
    Tool("g++", "compiling the RTL that Verilator writes", ("g++",), lambda: _program("g++")),
    Tool(
        "clang++",
        "the same, stepping RTL about 1.3x faster (16 or newer)",
        tuple(f"clang-{version}" for version in CLANG_VERSIONS),
        _find_clang,
        optional=True,
    ),
    Tool("zlib", "writing the waves of a unit (--waves)", ("zlib1g-dev",), lambda: _header("zlib.h")),
    Tool("lz4", "the same", ("liblz4-dev",), lambda: _header("lz4.h")),
    Tool(
        "riscv64-linux-gnu-g++",
        "compiling software/ for the simulated machine",
        ("g++-riscv64-linux-gnu",),
        lambda: _program("riscv64-linux-gnu-g++"),
    ),
    CARGO,
    Tool(
        "make",
        "tests of single blocks of hardware",
        ("make",),
        lambda: _program("make"),
        tests_only=True,
    ),
    Tool(
        "rustfmt",
        "checking the engine's format",
        ("rustfmt-web", "rustfmt-1.*", "rustfmt"),
        lambda: _find_cargo_part("rustfmt"),
        tests_only=True,
    ),
    Tool(
        "clippy",
        "linting the engine",
        ("rust-web-clippy", "rust-1.*-clippy", "rust-clippy"),
        lambda: _find_cargo_part("cargo-clippy"),
        tests_only=True,
    ),
    Tool(
        "yosys",
        "synthesising units to gates",
        ("yosys",),
        lambda: _program("yosys", "-V"),
        companions=("qflow-tech-osu018", "qflow-tech-osu035"),
        optional=True,
        tests_only=True,
        verbs=("synth",),
    ),
    Tool(
        "berkeley-abc",
        "the same: mapping logic to cells",
        ("berkeley-abc",),
        lambda: _program("berkeley-abc", "-q", "version"),
        optional=True,
        tests_only=True,
        verbs=("synth",),
    ),
    Tool(
        "sta",
        "the same: the longest paths",
        ("opensta",),
        lambda: _program("sta", "-version"),
        optional=True,
        tests_only=True,
        verbs=("synth",),
    ),
    Tool(
        f"libprotoc {PROTOBUF_VERSION}",
        "classes of messages of Protocol Buffers: protoc",
        ("libprotoc-dev",),
        _find_libprotoc,
        tests_only=True,
        verbs=("protobuf",),
    ),
    Tool(
        "dtc",
        "device trees of whole chips",
        ("device-tree-compiler",),
        lambda: _program("dtc"),
        tests_only=True,
        verbs=("soc",),
    ),
    Tool(
        "mpirun",
        "clusters shared by several processes",
        ("openmpi-bin",),
        lambda: _program("mpirun"),
        companions=("libopenmpi-dev",),
        optional=True,
        tests_only=True,
    ),
    Tool(
        "ccache",
        "compiling Verilator's runtime once for all tests of blocks",
        ("ccache",),
        lambda: _program("ccache"),
        optional=True,
        tests_only=True,
    ),
    Tool(
        "memcached",
        "a real service for the dispatcher",
        ("memcached",),
        lambda: _program("memcached"),
        optional=True,
        tests_only=True,
    ),
    Tool(
        "ip",
        "network namespaces for tests of the dispatcher",
        ("iproute2",),
        lambda: _program("ip", "-Version"),
        optional=True,
        tests_only=True,
    ),
    Tool(
        "qemu-riscv64",
        "the oracle that the harts are compared with",
        ("qemu-user",),
        lambda: _program("qemu-riscv64"),
        tests_only=True,
    ),
    Tool(
        "qemu-system-riscv64",
        "the same for privileged instructions",
        ("qemu-system-riscv", "qemu-system-misc"),
        lambda: _program("qemu-system-riscv64"),
        tests_only=True,
    ),
)


@cache
def find(tool: Tool) -> Found | None:
    """The path of `tool`, or None. Found once per run; `forget` after an installation."""
    return tool.find()


def find_all(tools: Iterable[Tool]) -> None:
    """Searches several tools in parallel: querying a program's version takes most of the time."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(find, tools))


def forget() -> None:
    """Makes the next `find` search again."""
    find.cache_clear()


def needed(verb: str, extras: Collection[str] = ()) -> tuple[Tool, ...]:
    """The tools that a verb with these extra steps needs; `test` takes all, optional ones as well."""
    purposes = {verb, *extras}
    return tuple(
        replace(tool, optional=False) if purposes & set(tool.verbs) else tool
        for tool in TOOLS
        if verb == "test" or purposes & set(tool.verbs) or not tool.tests_only
    )


def put_cargo_on_path() -> None:
    """Makes `cargo` and `rustc` the ones that are new enough, for every program started later."""
    cargo = find(CARGO)
    if cargo is None:
        return
    directory = os.path.dirname(cargo.path)
    paths = [path for path in os.environ.get("PATH", "").split(os.pathsep) if path != directory]
    if shutil.which("cargo") != cargo.path:
        os.environ["PATH"] = os.pathsep.join([directory, *paths])
