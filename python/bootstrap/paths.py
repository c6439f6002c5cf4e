"""Paths in the repository. All outputs are under `.build/` and `out/`."""

from __future__ import annotations

from pathlib import Path


def _repository() -> Path:
    """The checkout that contains this file; everything that is not Python is beside it."""
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / "rw").is_file():
        raise ImportError("Rackwright works in its checkout; install it with: pip install -e CHECKOUT/python")
    return checkout


REPOSITORY = _repository()

BUILD = REPOSITORY / ".build"
VENV = BUILD / "venv"
STAMPS = BUILD / "stamps"
LOGS = BUILD / "logs"
CARGO_TARGET = BUILD / "target"
ROCKET = BUILD / "rocket"
"""The Python package with the Rocket core in Verilog."""

ENGINE = REPOSITORY / "engine"
HARDWARE = REPOSITORY / "hardware"
PYTHON = REPOSITORY / "python"
SOC = REPOSITORY / "soc"
SOFTWARE = REPOSITORY / "software"

HARDWARE_JAR = BUILD / "hardware" / "rackwright.jar"
HARDWARE_CLASSPATH = BUILD / "hardware" / "classpath.txt"
SOC_JAR = BUILD / "soc" / "rackwright-soc.jar"
SOC_CLASSPATH = BUILD / "soc" / "classpath.txt"
SOC_DRAM = BUILD / "soc" / "librackwright_dram.so"
"""The engine's model of DRAM, for harnesses of chips."""
SOFTWARE_HOST = BUILD / "software" / "host"
SOFTWARE_RISCV = BUILD / "software" / "riscv64"
PROTOBUF = BUILD / "software" / "protobuf"
