"""Where things are in the repository. Everything that is made goes under `.build/` and `out/`."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

BUILD = REPOSITORY / ".build"
VENV = BUILD / "venv"
STAMPS = BUILD / "stamps"
LOGS = BUILD / "logs"
CARGO_TARGET = BUILD / "target"

ENGINE = REPOSITORY / "engine"
HARDWARE = REPOSITORY / "hardware"
PYTHON = REPOSITORY / "python"
SOFTWARE = REPOSITORY / "software"

HARDWARE_JAR = BUILD / "hardware" / "rackwright.jar"
HARDWARE_CLASSPATH = BUILD / "hardware" / "classpath.txt"
SOFTWARE_HOST = BUILD / "software" / "host"
SOFTWARE_RISCV = BUILD / "software" / "riscv64"
PROTOBUF = BUILD / "software" / "protobuf"
