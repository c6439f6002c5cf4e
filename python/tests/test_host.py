"""What the host's rows say they were measured on."""

from __future__ import annotations

import re
from pathlib import Path

from bootstrap.software import HOST_OPTIMISATION
from rackwright.reports.host import describe_host, describe_library


def test_processor_and_frequency_are_the_systems(tmp_path: Path) -> None:
    processors = tmp_path / "cpuinfo"
    processors.write_text(
        "processor\t: 0\nmodel name\t: A Processor\ncpu MHz\t\t: 2250.5\n", encoding="utf-8"
    )
    assert describe_host(processors).startswith("A Processor, 2.25 GHz by its kernel, ")


def test_a_frequency_that_cannot_be_known_is_said_to_be(tmp_path: Path) -> None:
    assert ", frequency not known, " in describe_host(tmp_path / "absent")


def test_the_library_has_its_version_and_flags() -> None:
    flags = rf"{HOST_OPTIMISATION} -march=native .*"
    assert re.fullmatch(rf"libsnappy \d+\.\d+\.\d+, g\+\+ {flags}", describe_library())
