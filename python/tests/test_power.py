"""From a recorded run to watts: activity, what follows for every wire, and sums that have to hold."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import rw
from gate_activity import powers
from nic_echo import echo
from tiers import long

from bootstrap.paths import REPOSITORY
from rackwright import RackwrightError, Unit, elaborate
from rackwright.compression.libsnappy import compress
from rackwright.hardware.manifests import read_manifest
from rackwright.power.energy import Power, power_of, rules_factor
from rackwright.power.propagation import propagate
from rackwright.power.run import answers, read_run
from rackwright.power.saif import Activity, Signal, read_activity
from rackwright.power.wires import Gate, Wires
from rackwright.synthesis.flow import gates_of, read_design
from rackwright.synthesis.functions import evaluate
from rackwright.synthesis.library import DEFAULT_LIBERTY, load_library
from rackwright.synthesis.process import load_power_rules, load_process
from rackwright.unit.commands import operate
from rackwright.unit.nic import NicUnit

MANIFEST = REPOSITORY / "examples" / "bring-your-own" / "systemverilog" / "manifest.json"
TOP = "PopulationCount"
CLOCK = 1_000_000_000

needs_synthesis = pytest.mark.skipif(
    not DEFAULT_LIBERTY.exists(), reason="the packages of synthesis are not installed"
)


def count_ones(manifest: Path, file: Path, counts: int) -> None:
    """Records a unit that counts the ones of so many buffers."""
    unit = Unit(manifest, waves=file)
    for _ in range(counts):
        buffer = unit.load(random.Random(3).randbytes(512))
        unit.command("count", buffer.address, buffer.length)
        unit.query("result")


def power(manifest: Path, activity: Activity) -> Power:
    """The power of a unit at 1 GHz, by the rules of the product."""
    rules = load_process(), load_power_rules()
    return power_of(read_design(manifest), activity, CLOCK, load_library(), *rules)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[Path, Activity, Power]]:
    """Runs of the counter, by the number of its operations."""
    folder = tmp_path_factory.mktemp("activity")
    found = {}
    for counts in (0, 4, 8):
        file = folder / f"{counts}.saif"
        count_ones(MANIFEST, file, counts)
        activity = read_activity(file, TOP)
        found[counts] = file, activity, power(MANIFEST, activity)
    return found


Runs = dict[int, tuple[Path, Activity, Power]]


@needs_synthesis
def test_parts_and_modules_sum_up(runs: Runs) -> None:
    for _, _, found in runs.values():
        parts = found.milliwatts
        kinds = ("switching", "internal", "leakage", "memories")
        assert parts["total"] == pytest.approx(sum(parts[kind] for kind in kinds))
        for kind in kinds[:3]:
            assert parts[kind] == pytest.approx(sum(getattr(row, kind) for row in found.modules))


@needs_synthesis
def test_twice_the_work_takes_twice_the_energy(runs: Runs) -> None:
    assert [answers(activity, read_manifest(MANIFEST)) for _, activity, _ in runs.values()] == [0, 4, 8]
    assert runs[8][2].energy_picojoules == pytest.approx(2 * runs[4][2].energy_picojoules, rel=0.04)
    assert runs[4][2].milliwatts["total"] > 1.01 * runs[4][2].milliwatts["idle"]


@needs_synthesis
def test_an_idle_unit_has_leakage_and_clock_alone(runs: Runs) -> None:
    _, activity, idle = runs[0]
    assert activity.cycles == 0
    assert idle.milliwatts["total"] == pytest.approx(idle.milliwatts["idle"])
    assert [row.module for row in idle.modules if row.switching > 0] == ["clock"]
    assert idle.milliwatts["idle"] == pytest.approx(runs[8][2].milliwatts["idle"])


@needs_synthesis
def test_gates_of_a_busy_unit_switch(runs: Runs) -> None:
    switching = sum(row.switching for row in runs[8][2].modules if row.module != "clock")
    assert switching > 0


@needs_synthesis
@pytest.mark.parametrize(("changes", "held"), [(0.9, 0.32), (0.1, 0.1)])
def test_a_flop_that_was_not_counted_changes_no_more_than_random_bits(changes: float, held: float) -> None:
    """With a share of 0.2 ones, successive independent bits differ in 2 * 0.2 * 0.8 of all cases."""
    wires = Wires(gates=[Gate("DFFPOSX1", "flop", "top", {"CLK": 3, "D": 2, "Q": 4})])
    wires.names[2].append("data")
    activity = Activity(1, {"data": Signal(changes, 0.2)})
    found = propagate(wires, activity, load_library().liberty).signals[4]
    assert (found.changes, found.ones) == pytest.approx((held, 0.2))


@needs_synthesis
def test_a_flop_takes_in_a_cycle_what_the_library_says(runs: Runs) -> None:
    # A rising and a falling edge at DFFPOSX1, at the least slew of the table: 0.007 and 0.110 pJ.
    library, idle = load_library(), runs[0][2]
    netlist = gates_of(read_design(MANIFEST), library, load_process()).netlist
    picojoules = idle.milliwatts["internal"] / (rules_factor(library, idle.rules) * CLOCK * 1e-9)
    assert picojoules / netlist.copies["DFFPOSX1"] == pytest.approx(0.117, rel=0.1)


@needs_synthesis
def test_the_command_line_shows_a_recorded_run(runs: Runs, tmp_path: Path) -> None:
    document = tmp_path / "run.json"
    record = {"accelerators": ["population-count"], "unit_clocks_hz": [CLOCK], "harts": 1}
    document.write_text(json.dumps(record | {"waves": str(runs[8][0])}))
    shown = rw("synth", MANIFEST, "--power", document, "--json").json()
    assert shown["milliwatts"] == pytest.approx(runs[8][2].milliwatts)
    assert shown["operations"] == 8
    assert shown["energy_picojoules_per_operation"] == pytest.approx(runs[8][2].energy_picojoules / 8)
    halved = rw("synth", MANIFEST, "--power", document, "--operations", "4")
    assert "for each of 4 operations" in halved.stdout


def test_what_leaves_a_gate_is_what_random_inputs_make_of_it() -> None:
    library = load_library().liberty if DEFAULT_LIBERTY.exists() else None
    if library is None:
        pytest.skip("the packages of synthesis are not installed")
    inputs = {"a": Signal(0.5, 0.5), "b": Signal(0.2, 0.7), "c": Signal(0.1, 0.2)}
    wires = Wires(gates=[Gate("AOI21X1", "gate", "top", {"A": 2, "B": 3, "C": 4, "Y": 5})])
    for wire, name in enumerate(inputs, 2):
        wires.names[wire].append(name)
    found = propagate(wires, Activity(1, inputs), library).signals[5]
    assert (found.ones, found.changes) == pytest.approx(_sampled(list(inputs.values())), abs=0.01)


def _sampled(signals: list[Signal]) -> tuple[float, float]:
    """The ones and the changes of !(A B + C) for inputs that go on at random as their signals say."""
    chosen = random.Random(7)
    values = [int(chosen.random() < signal.ones) for signal in signals]
    before, ones, changes, cycles = -1, 0, 0, 60_000
    for _ in range(cycles):
        for place, signal in enumerate(signals):
            leaves = signal.changes / 2 / (signal.ones if values[place] else 1 - signal.ones)
            values[place] ^= int(chosen.random() < leaves)
        output = 1 - (values[0] & values[1] | values[2])
        ones, changes, before = ones + output, changes + (before not in (-1, output)), output
    return ones / cycles, changes / cycles


@pytest.mark.parametrize(
    ("function", "ones"),
    [("(!(A B))", 6), ("A*B+C'", 5), ("(A^B)", 4), ("!((A+B) (C))", 5), ("(A & !B) | C", 5), ("1", 8)],
)
def test_functions_of_liberty_are_read(function: str, ones: int) -> None:
    rows = ({"A": row & 1, "B": row >> 1 & 1, "C": row >> 2 & 1} for row in range(8))
    found = sum(evaluate(function, row) for row in rows)
    assert found == ones


def test_a_function_with_other_signs_is_refused() -> None:
    with pytest.raises(RackwrightError, match=r"A \? B of a cell has signs"):
        evaluate("A ? B", {"A": 1, "B": 0})


SAIF = """(SAIFILE
(DURATION 9)
 (INSTANCE TOP
  (NET
   (clock (T0 5) (T1 4) (TZ 0) (TX 0) (TB 0) (TC 9))
  )
  (INSTANCE Top
   (INSTANCE q
    (NET
     (Memory[1]\\[3\\] (T0 3) (T1 6) (TZ 0) (TX 0) (TB 0) (TC 2))
    )
   )
   (NET
    (valid (T0 9) (T1 0) (TZ 0) (TX 0) (TB 0) (TC 0))
   )
  )
 )
)
"""


def test_the_names_of_a_saif_file_are_those_below_the_top(tmp_path: Path) -> None:
    file = tmp_path / "unit.saif"
    file.write_text(SAIF)
    found = read_activity(file, "Top")
    assert found.cycles == 5
    assert found.signals == {"q.Memory[1][3]": Signal(2 / 5, 6 / 9), "valid": Signal(0.0, 0.0)}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [(SAIF, "no signals of Other"), ("", "no \\(DURATION"), ("(SAIFILE", "not a SAIF file")],
)
def test_a_file_of_another_kind_is_refused_in_a_line(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "unit.saif"
    file.write_text(text)
    with pytest.raises(RackwrightError, match=complaint):
        read_activity(file, "Other")


def changed(**keys: object) -> str:
    """The document of a run with these keys in place of others."""
    whole = {"accelerators": ["copy"], "unit_clocks_hz": [1], "harts": 1, "waves": "unit.saif"}
    return json.dumps(whole | keys)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not the JSON of"),
        (changed(accelerators=["nic"]), "a run with nic, not with copy"),
        (changed(harts=2), "several units copy"),
        (changed(waves=None), "without activity"),
        (changed(waves="unit.fst"), "without activity"),
    ],
)
def test_a_run_without_the_activity_of_the_unit_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    document = tmp_path / "run.json"
    document.write_text(text)
    with pytest.raises(RackwrightError, match=complaint):
        read_run(document, "copy")


def test_several_units_have_a_file_each(tmp_path: Path) -> None:
    document = tmp_path / "run.json"
    document.write_text(changed(accelerators=["nic", "copy"], unit_clocks_hz=[1, 2]))
    found = read_run(document, "copy")
    assert (found.file, found.clock_hz) == (Path("unit-copy.saif"), 2)


@needs_synthesis
@pytest.mark.long("a minute: the copy unit is mapped")
def test_a_copy_of_twice_the_bytes_takes_twice_the_energy(tmp_path: Path) -> None:
    def copied(length: int) -> float:
        file = tmp_path / f"{length}.saif"
        unit = Unit("stream-copy", waves=file)
        source = unit.load(random.Random(5).randbytes(length))
        operate(unit, source, unit.reserve(length, "rw"), max_cycles=1_000_000)
        del unit
        manifest = elaborate("stream-copy")
        return power(manifest, read_activity(file, "StreamCopy")).energy_picojoules

    once, twice = copied(1 << 15), copied(1 << 16)
    assert twice == pytest.approx(2 * once, rel=0.05)


MINUTES = 10


@needs_synthesis
@pytest.mark.long("ten minutes of a processor: a unit of 260,000 gates is compiled and mapped")
def test_a_mebibyte_through_a_large_unit_has_its_power_in_minutes(tmp_path: Path) -> None:
    plain = (REPOSITORY / "CHANGELOG.md").read_bytes()
    plain = (plain * ((1 << 20) // len(plain) + 1))[: 1 << 20]
    file = tmp_path / "decompress.saif"
    unit = Unit("snappy-decompress", waves=file)
    source, target = unit.load(compress(plain)), unit.reserve(len(plain), "rw")
    assert operate(unit, source, target, max_cycles=2_000_000).status == "ok"
    assert unit.read(target) == plain
    del unit
    before = os.times()
    manifest = elaborate("snappy-decompress")
    found = power(manifest, read_activity(file, read_manifest(manifest)["top"]))
    after = os.times()
    seconds = after.user - before.user + after.children_user - before.children_user
    cells = found.milliwatts["switching"] + found.milliwatts["internal"]
    energy = found.energy_picojoules / len(plain)
    print(f"{seconds:.0f} s of a processor; {energy:.2f} pJ a byte, {cells:.1f} mW without memories")
    assert cells > found.milliwatts["leakage"] > 0
    assert seconds <= 60 * MINUTES


def count_four(manifest: Path, file: Path) -> None:
    """Four operations of the counter."""
    count_ones(manifest, file, 4)


def copy_twice(manifest: Path, file: Path) -> None:
    """A copy of 4 KiB of noise, and one of 4 KiB of text, at odd addresses."""
    unit = Unit(manifest, waves=file)
    for misalignment, data in enumerate((random.Random(5).randbytes(4096), (b"some text. " * 400)[:4096])):
        source = unit.load(data, misalignment=misalignment)
        target = unit.reserve(len(data), "rw", 5 * misalignment)
        assert operate(unit, source, target, max_cycles=1_000_000).status == "ok"


def echo_frames(manifest: Path, file: Path) -> None:
    """Frames of all lengths, received and sent back."""
    echo(NicUnit(design=manifest, waves=file))


@needs_synthesis
@pytest.mark.parametrize(
    ("unit", "run"),
    [
        long(None, count_four, why="two minutes of a processor: a unit is compiled in gates", name="own"),
        long("stream-copy", copy_twice, why="minutes of a processor: the same", name="stream-copy"),
        long("nic", echo_frames, why="minutes of a processor: the same", name="nic"),
    ],
)
def test_propagation_is_close_to_every_pin_counted(
    unit: str | None, run: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    manifest = MANIFEST if unit is None else elaborate(unit)
    estimated, counted = powers(manifest, tmp_path, run)
    assert counted.counted_share == 1
    for kind in ("switching", "internal", "total"):
        found = estimated.milliwatts[kind], counted.milliwatts[kind]
        print(f"{kind}: {found[0]:.4f} mW, {found[1]:.4f} counted, {found[0] / found[1] - 1:+.1%}")
        assert found[0] == pytest.approx(found[1], rel=0.2)
