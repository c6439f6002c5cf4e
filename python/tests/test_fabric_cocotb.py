"""Our links and our function beside those of cocotbext-pcie, another model of the same specification.

Its link has credits, acknowledgements and their timers; its root complex enumerates. It runs below cocotb,
in a simulator of its own: Verilator, as always here.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cocotb_tools.runner import get_runner
from cocotbext.pcie.core.tlp import Tlp, TlpType  # type: ignore[import-untyped]

from rackwright.fabric import Card, Credits, PcieLink, RootComplex, System
from rackwright.fabric.fabric import Fabric, Load, Measured
from rackwright.hardware.designs import Elaboration, elaborate_all
from rackwright.hardware.toolchain import compiler, verilator_root

CASES = Path(__file__).parent / "cocotb_cases"
REGISTERS = CASES.parents[2] / "hardware/src/main/resources/rackwright/pcie/registers.json"
PREFIX = "Vtop"
"""Of the files of a simulator of cocotb."""

FEMTOSECONDS = 1_000_000
"""In a nanosecond."""

REQUESTS = (TlpType.MEM_READ, TlpType.MEM_READ_64, TlpType.MEM_WRITE, TlpType.MEM_WRITE_64)

pytestmark = pytest.mark.long("a simulation below cocotb, with a design of its own")


class Simulator:
    """A design under Verilator, with cocotb in the same process."""

    def __init__(self, folder: Path, source: Path, top: str) -> None:
        self._folder, self._top = folder, top
        self._runner = get_runner("verilator")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", str(verilator_root() / "bin"), prepend=":")
            patch.setenv("VERILATOR_ROOT", str(verilator_root()))
            patch.setenv("CXX", compiler())
            # Not a compiled header, for which its rules have options of no compiler.
            included = f"-include{PREFIX}__pch.h"
            patch.setenv("MAKEFLAGS", f"VK_PCH_I_FAST={included} VK_PCH_I_SLOW={included}")
            self._runner.build(
                sources=[source],
                hdl_toplevel=top,
                build_dir=folder,
                build_args=["--timing", "-Wno-fatal"],
                timescale=("1ps", "1fs"),
            )

    def run(self, case: str, environment: Mapping[str, str]) -> Any:
        """The result of a case; it fails with the case."""
        result = self._folder / "result.json"
        result.unlink(missing_ok=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(str(CASES))
            self._runner.test(
                hdl_toplevel=self._top,
                test_module=case,
                build_dir=self._folder,
                test_dir=self._folder,
                extra_env={**environment, "RESULT": str(result)},
            )
        return json.loads(result.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    return Simulator(tmp_path_factory.mktemp("nothing"), CASES / "nothing.sv", "nothing")


def transfers(measured: Measured) -> list[tuple[str, list[str]]]:
    """The requests of the card, in order, each with its completions: packets in hexadecimal digits."""
    requests: list[tuple[str, list[str]]] = []
    waiting: dict[int, list[list[str]]] = defaultdict(list)
    for packet in measured.packets:
        tlp = Tlp.unpack(packet.data)
        if packet.port.endswith("->root") and tlp.fmt_type in REQUESTS:
            requests.append((packet.data.hex(), []))
            if tlp.fmt_type in (TlpType.MEM_READ, TlpType.MEM_READ_64):
                waiting[tlp.tag].append(requests[-1][1])
        elif packet.port.startswith("root->") and tlp.fmt_type == TlpType.CPL_DATA:
            waiting[tlp.tag][0].append(packet.data.hex())
            if tlp.byte_count <= 4 * tlp.length:
                waiting[tlp.tag].pop(0)
    return requests


@pytest.mark.parametrize(("generation", "lanes"), [(3, 8), (4, 16)])
@pytest.mark.parametrize(
    ("test", "size"),
    [("write", 64), ("write", 256), ("read", 256), ("read", 512), ("latency", 64), ("latency", 256)],
)
def test_transfers_last_as_long_as_over_the_link_of_cocotbext_pcie(
    test: str, size: int, generation: int, lanes: int, nothing: Simulator, tmp_path: Path
) -> None:
    # Enough: that link tells of free room when a timer ends, ours at once where none is left.
    credits = Credits(posted=(127, 2047), completion=None)
    root = RootComplex("root", credits=credits)
    root.connect(Card("traffic", model=True), PcieLink(gen=generation, lanes=lanes))
    fabric = Fabric(System.of(root), capture=True)
    load = Load(outstanding=1 if test == "latency" else 48, count=400)
    measured = fabric.measure(test, [size], load)
    (row,) = measured.rows
    ours = size * 8 / row["gigabits_per_second"]
    parts = row["parts"] or {"memory": 20.0, "link": 0.0, "queue": 0.0}
    on_link = parts["link"] + parts["queue"]
    behind_root = root.latency_ns * (1 if test == "write" else 2) + parts["memory"]
    # One after the other, all but the link is given; else what is behind the link hardly counts.
    behind_card = ours - behind_root - on_link if test == "latency" else 20.0
    case = {
        "generation": generation,
        "lanes": lanes,
        "delay_ns": 25.0,
        "payload_bytes": 256,
        # A write is done for the card when it has left.
        "outstanding": load.count if test == "write" else load.outstanding,
        "root_credits": [127, 2047, 64, 64, 0, 0],
        "card_credits": [32, 1024, 32, 32, 0, 0],
        "root_fs": round(behind_root * FEMTOSECONDS),
        "card_fs": round(behind_card * FEMTOSECONDS),
        "requests": transfers(measured),
    }
    written = tmp_path / "case.json"
    written.write_text(json.dumps(case), encoding="utf-8")
    done = nothing.run("fabric_link", {"CASE": str(written)})
    assert len(done) == 400
    theirs = (done[-1] - done[0]) / 399 / FEMTOSECONDS
    assert theirs == pytest.approx(ours, rel=0.02)
    if test == "latency":
        assert theirs - behind_root - behind_card == pytest.approx(on_link, rel=0.02), "of the link alone"


def test_our_function_makes_dma_below_the_root_of_cocotbext_pcie(tmp_path: Path) -> None:
    (manifest,) = elaborate_all([Elaboration("traffic")])
    known = json.loads(REGISTERS.read_text(encoding="utf-8"))["registers"]
    offsets = {register["name"]: register["offset"] for register in known}
    simulator = Simulator(tmp_path, manifest.parent / "Traffic.sv", "Traffic")
    found = simulator.run("fabric_function", {"REGISTERS": json.dumps(offsets)})
    assert found["bars"] == [1 << 12, 1 << 20]
    assert len(found["runs"]) == 8
    assert found["packets"] > 400
