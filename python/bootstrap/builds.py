"""The build steps of Rackwright and which of them a verb needs."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from bootstrap import protobuf, protobuf_source, software, tools
from bootstrap.paths import (
    BUILD,
    CARGO_TARGET,
    ENGINE,
    HARDWARE,
    HARDWARE_CLASSPATH,
    HARDWARE_JAR,
    PROTOBUF,
    PYTHON,
    REPOSITORY,
    SOFTWARE,
    SOFTWARE_HOST,
    SOFTWARE_RISCV,
    STAMPS,
    VENV,
)
from bootstrap.steps import Step, execute, input_files

PROTOBUF_STEP = "protobuf"
_LOCK = PYTHON / "requirements.lock"
_EXTENSION = PYTHON / "rackwright" / f"_engine{sysconfig.get_config_var('EXT_SUFFIX') or '.so'}"


def build_environment() -> dict[str, str]:
    """The environment in which builds and the command line run."""
    environment = dict(os.environ)
    environment["VIRTUAL_ENV"] = str(VENV)
    environment["CARGO_TARGET_DIR"] = str(CARGO_TARGET)
    environment["PATH"] = os.pathsep.join([str(VENV / "bin"), os.environ.get("PATH", "")])
    environment.pop("PYTHONHOME", None)
    environment.pop("PYTHONPATH", None)
    return environment


def _build_python() -> None:
    """Creates the virtual environment anew, so that it holds what the lock file says and no more."""
    shutil.rmtree(VENV, ignore_errors=True)
    execute("python", [sys.executable, "-m", "venv", str(VENV)])
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-input"]
    execute("python", [*pip, "--only-binary=:all:", "--no-deps", "-r", str(_LOCK)])
    site = VENV / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (site / "rackwright.pth").write_text(f"{PYTHON}\n", encoding="utf-8")


def _build_engine() -> None:
    """Compiles the extension into the package; the .pth file of the environment makes it importable."""
    maturin = [str(VENV / "bin" / "maturin"), "develop", "--release", "--locked", "--skip-install"]
    execute("engine", maturin, directory=PYTHON, environment=build_environment())


def _maven(*arguments: str) -> list[str]:
    """Maven offline once it has resolved this pom: a changed pom needs the network again."""
    resolved = STAMPS / "maven-resolved"
    same = resolved.exists() and resolved.read_bytes() == (HARDWARE / "pom.xml").read_bytes()
    return ["mvn", "-q", "-B", "-Dstyle.color=never", *(["-o"] if same else []), *arguments]


def _build_hardware() -> None:
    """Compiles the generators and notes the class path with which Java runs them."""
    HARDWARE_CLASSPATH.parent.mkdir(parents=True, exist_ok=True)
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
    dependencies = BUILD / "hardware" / "dependencies.txt"
    execute("hardware", _maven("compile", goal, f"-Dmdep.outputFile={dependencies}"), HARDWARE)
    execute("hardware", ["jar", "cf", str(HARDWARE_JAR), "-C", "target/classes", "."], HARDWARE)
    jars = dependencies.read_text(encoding="utf-8").strip()
    HARDWARE_CLASSPATH.write_text(f"{HARDWARE_JAR}{os.pathsep}{jars}\n", encoding="utf-8")
    STAMPS.mkdir(parents=True, exist_ok=True)
    (STAMPS / "maven-resolved").write_bytes((HARDWARE / "pom.xml").read_bytes())


def _tool_versions(*names: str) -> tuple[str, ...]:
    """What the result of a step also depends on: the compilers."""
    found = (tools.find(tool) for tool in tools.TOOLS if tool.name in names)
    return tuple(tool.version for tool in found if tool)


def _instruction_sets() -> str:
    """What the processor can do, as Linux lists it: the engine is compiled for this processor."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text(encoding="utf-8").splitlines() if information.exists() else []
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def all_steps() -> tuple[Step, ...]:
    """Every step, those that take longest first."""
    python = Step(
        "python",
        "Python packages into .build/venv",
        inputs=(_LOCK,),
        outputs=(VENV / "bin" / "python",),
        settings=(sys.version, str(VENV)),
        run=_build_python,
    )
    engine = Step(
        "engine",
        "simulation engine (Rust, release)",
        inputs=(ENGINE, PYTHON / "pyproject.toml", REPOSITORY / ".cargo" / "config.toml"),
        patterns=("*.rs", "Cargo.toml", "Cargo.lock", "*.c", "*.cpp", "*.h"),
        outputs=(_EXTENSION.with_name("_engine.abi3.so"),),
        settings=(*_tool_versions("cargo"), _instruction_sets()),
        run=_build_engine,
        after=("python",),
    )
    hardware = Step(
        "hardware",
        "hardware generators (Chisel, Maven)",
        inputs=(HARDWARE / "src" / "main", HARDWARE / "pom.xml"),
        patterns=("*.scala", "*.sv", "*.v"),
        outputs=(HARDWARE_CLASSPATH, HARDWARE_JAR),
        run=_build_hardware,
    )
    programs = Step(
        "software",
        "official libsnappy and the benchmark, for the host and for RV64GC",
        inputs=(*(SOFTWARE / name for name in software.FOLDERS), Path(software.__file__)),
        outputs=(SOFTWARE_HOST / "libsnappy.so", SOFTWARE_RISCV / "snappy-benchmark"),
        settings=_tool_versions("g++", "riscv64-linux-gnu-g++"),
        run=software.build,
    )
    return python, hardware, engine, programs, _protobuf_step()


def _protobuf_step() -> Step:
    return Step(
        PROTOBUF_STEP,
        f"official protobuf {protobuf_source.VERSION}, protoc and our plug-in",
        inputs=(protobuf.PLUGIN_SOURCES, protobuf.RUNTIME_SOURCES, Path(protobuf.__file__)),
        patterns=("*.cpp", "*.h"),
        outputs=tuple(PROTOBUF / name for name in protobuf.OUTPUTS),
        settings=_tool_versions("g++", "riscv64-linux-gnu-g++"),
        run=protobuf.build,
    )


def steps_for(verb: str, uses_protobuf: bool = False) -> tuple[Step, ...]:
    """The steps that `verb` needs; the protobuf library takes minutes and is made when it is used."""
    steps = {step.name: step for step in all_steps() if uses_protobuf or step.name != PROTOBUF_STEP}
    if verb == "help":
        return (steps["python"],)
    if verb == "units":
        return steps["python"], steps["hardware"]
    return tuple(steps.values())


def files_of(step: Step) -> list[Path]:
    """The files that `step` is made from."""
    return input_files(step.inputs, step.patterns)
