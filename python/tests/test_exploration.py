"""Exploring spaces: the same points whoever measures, nothing twice, clear errors, honest samples."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import fmean

import pytest
from command_line import REPOSITORY, rw
from hypothesis import given
from hypothesis import strategies as st
from tiers import long

from rackwright.errors import RackwrightError
from rackwright.exploration import Exploration, explore, load_space
from rackwright.exploration.front import front
from rackwright.exploration.sample import PORTION_CALLS, Estimate, Pilot, Regression, Sample, portions_needed
from rackwright.generation import generate, load_profile

SMALL_COMPRESSOR = {"block-kib": 32, "hash-log2": 10, "hash-ways": 1, "hash-banks": 16, "history-kib": 8}
"""That of test_zstd_compress.py, so that it is compiled once."""

SMALL_DEFLATE_COMPRESSOR = {
    "block-kib": 8,
    "hash-log2": 10,
    "hash-ways": 1,
    "hash-banks": 8,
    "history-kib": 8,
}
"""That of test_deflate_compress.py."""

ALIKE = "7 s of a processor; a short run explores the other operation of each of these formats"

PROFILE = """
operations:
  compress:
    format: snappy
    sizes: [[6, 40, 2000], [11, 30, 45000], [14, 8, 96000]]
    ratios: {any: [1.0, 1.6, 2.0, 3.0]}
"""
SPACE = """
unit: snappy-compress
standard_error: 0.15
vary:
  settings:
    hash_entries: [512, 16384]
  placement: [near-core, pcie]
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of small calls."""
    folder = tmp_path_factory.mktemp("suite")
    profile = folder / "profile.yaml"
    profile.write_text(PROFILE, encoding="utf-8")
    return generate(load_profile(profile), folder / "suite", files=60).folder


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four points of the compressor that share one compiled design."""
    path = tmp_path_factory.mktemp("space") / "space.yaml"
    path.write_text(SPACE, encoding="utf-8")
    return path


def explored(space: Path, suite: Path, folder: Path) -> Exploration:
    with ThreadPoolExecutor(1) as executor:
        return explore(load_space(space), suite=suite, folder=folder, executor=executor)


@pytest.fixture(scope="module")
def whole(space: Path, suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Exploration:
    """The exploration, done at once by one thread."""
    return explored(space, suite, tmp_path_factory.mktemp("whole"))


def test_every_point_is_as_exact_as_asked_and_verified(whole: Exploration) -> None:
    assert len(whole.results) == 4
    for result in whole.results:
        assert result.standard_error <= 0.15
        assert result.verified
    near, far = (result for result in whole.results if result.point.config.settings["hash_entries"] == 16384)
    assert near.gigabytes_per_second > far.gigabytes_per_second
    assert set(whole.varied()) == {"settings.hash_entries", "placement"}
    assert len(whole.frame()) == 4


def test_memory_is_an_axis_like_others(suite: Path, tmp_path: Path) -> None:
    space = tmp_path / "space.yaml"
    vary = {"settings": {"hash_entries": [16384]}, "memory": {"l2-latency": [14, 200], "l2-banks": [4]}}
    text = f"unit: snappy-compress\nstandard_error: 0.15\nvary: {json.dumps(vary)}"
    space.write_text(text, encoding="utf-8")
    done = explored(space, suite, tmp_path)
    near, far = done.results
    assert done.varied() == ["memory.l2-latency"]
    assert near.gigabytes_per_second > far.gigabytes_per_second
    assert set(done.frame()["memory.l2-latency"]) == {14, 200}
    assert {"host", "verilator", "engine", "hardware"} <= set(done.record()["provenance"])


def test_who_measures_changes_nothing(space: Path, suite: Path, whole: Exploration, tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        other = explore(load_space(space), suite=suite, folder=tmp_path, executor=executor)
    assert other.digest == whole.digest


def test_nothing_is_measured_twice(space: Path, suite: Path, whole: Exploration, tmp_path: Path) -> None:
    explored(space, suite, tmp_path)
    again = explored(space, suite, tmp_path)
    assert (again.measured, again.reused) == (0, whole.measured)
    assert again.digest == whole.digest


@pytest.mark.parametrize(
    ("name", "parameters", "histories"),
    [
        ("zstd-decompress", {}, [2, 32]),
        long("zstd-compress", SMALL_COMPRESSOR, [2, 8], why=ALIKE),
        ("deflate-compress", SMALL_DEFLATE_COMPRESSOR, [2, 8]),
        long("deflate-decompress", {}, [2, 32], why=ALIKE),
    ],
)
def test_other_units_are_explored_alike(
    tmp_path: Path, name: str, parameters: dict[str, int], histories: list[int]
) -> None:
    format_name, _, operation = name.partition("-")
    profile = tmp_path / "profile.yaml"
    text = PROFILE.replace("snappy", format_name).replace("compress:", f"{operation}:")
    profile.write_text(text, encoding="utf-8")
    suite = generate(load_profile(profile), tmp_path / "suite", files=20).folder
    space = tmp_path / "space.yaml"
    lists = {parameter: [value] for parameter, value in parameters.items()}
    vary = {"parameters": lists, "settings": {"history_kib": histories}}
    space.write_text(f"unit: {name}\nstandard_error: 0.9\nvary: {json.dumps(vary)}", encoding="utf-8")
    done = explored(space, suite, tmp_path / "out")
    assert [result.verified for result in done.results] == [True, True]
    small, large = done.results
    assert small.ratio is not None
    assert large.ratio is not None
    assert small.ratio <= large.ratio
    if operation == "decompress":
        assert large.ratio == pytest.approx(large.library_ratio)


def test_a_killed_exploration_goes_on_to_the_same_table(
    space: Path, suite: Path, whole: Exploration, tmp_path: Path
) -> None:
    store = tmp_path / "points.sqlite-wal"
    words = (REPOSITORY / "rw", "explore", space, "--suite", suite, "-o", tmp_path, "--workers", 1)
    command = [str(word) for word in words]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 300
    while process.poll() is None and not (store.exists() and store.stat().st_size > 20_000):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    ended = rw("explore", space, "--suite", suite, "-o", tmp_path, "--json")
    assert ended.status == 0, ended.stderr
    assert ended.json()["digest"] == whole.digest
    assert ended.json()["reused_portions"] > 0
    assert (tmp_path / "report.html").read_text(encoding="utf-8").count("<svg") == 2


def test_ranks_of_mpi_measure_the_same(space: Path, suite: Path, whole: Exploration, tmp_path: Path) -> None:
    program = [sys.executable, "-m", "mpi4py.futures", "-m", "rackwright.cli", "explore", str(space)]
    options = ["--suite", str(suite), "-o", str(tmp_path), "--executor", "mpi", "--json"]
    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
    result = subprocess.run(
        [*launcher, *program, *options], capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stderr
    assert whole.digest in result.stdout


@pytest.mark.long("9 s of a processor to start a scheduler; processes and MPI do the same in a short run")
def test_workers_of_dask_measure_the_same(
    space: Path, suite: Path, whole: Exploration, tmp_path: Path
) -> None:
    # Its workers may complain while they end, which is not ours to forbid: only the result counts.
    program = [sys.executable, "-m", "rackwright.cli", "explore", str(space), "--suite", str(suite)]
    options = ["-o", str(tmp_path), "--executor", "dask", "--workers", "2", "--json"]
    result = subprocess.run([*program, *options], capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["digest"] == whole.digest


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("unit: toaster", "unit is 'toaster'; there are snappy-compress, snappy-decompress"),
        (
            "unit: snappy-compress\nvary: {placement: [moon]}",
            "vary.placement has 'moon'; there are near-core",
        ),
        (
            "unit: snappy-decompress\nvary: {settings: {hash_entries: [512]}}",
            "vary.settings has 'hash_entries'",
        ),
        (
            "unit: deflate-decompress\nvary: {settings: {history_kib: [64]}}",
            "history_kib has 64; there are 2",
        ),
        ("unit: snappy-compress\nvary: {settings: {hash_entries: [3]}}", "hash_entries has 3; there are 512"),
        ("unit: snappy-compress\nvary: {parameters: {colour: [1]}}", "vary.parameters has 'colour'"),
        ("unit: snappy-compress\nvary: {placement: near-core}", "not a list of values"),
        ("unit: snappy-compress\nvary: {placement: [pcie, pcie]}", "has a value twice"),
        ("unit: snappy-compress\nstandard_error: 2", "standard_error is 2, not a number between 0 and 1"),
        ("unit: snappy-compress\nseed: x", "seed is 'x', not an integer"),
        (
            "unit: snappy-compress\nvary: {memory: {l4-bytes: [1]}}",
            "vary.memory has 'l4-bytes'; there are l2-",
        ),
        (
            "unit: snappy-compress\nvary: {memory: {l2-latency: [fast]}}",
            "l2-latency is 'fast', not an integer",
        ),
        (
            "unit: snappy-compress\nvary: {memory: {l2-ways: [8, 7]}}",
            "vary.memory l2: 1048576 bytes in 7 ways",
        ),
        ("- 1", "the file is not a mapping"),
        ("{", "not YAML"),
    ],
)
def test_a_space_that_makes_no_sense_is_refused_by_field(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "space.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RackwrightError) as raised:
        load_space(path)
    assert complaint in str(raised.value)


def test_the_examples_are_spaces() -> None:
    for path in (REPOSITORY / "examples" / "explore").glob("*.yaml"):
        assert len(list(load_space(path).points())) >= 4


WORKLOAD = """
from rackwright.exploration import UnitWorkload

class Counts(UnitWorkload):
    settings = {"bits": [1, 255]}

    def sizes(self):
        return [3, 100, 700]

    def run(self, unit, call, settings):
        data = bytes([settings["bits"]]) * self.sizes()[call]
        buffer = unit.load(data)
        unit.command("count", buffer.address, buffer.length)
        return unit.query("result") == WRONG + int.from_bytes(data).bit_count()

class Nothing:
    pass
"""


def own_space(folder: Path, wrong: int = 0) -> Path:
    """Of the guide's unit: two parameters, two settings."""
    (folder / "counts.py").write_text(WORKLOAD.replace("WRONG", str(wrong)), encoding="utf-8")
    path = folder / "own.yaml"
    path.write_text(
        f"""
unit: {REPOSITORY}/examples/bring-your-own/systemverilog/manifest.json
workload: counts.py:Counts
vary:
  parameters: {{OUTSTANDING: [2, 16]}}
  settings: {{bits: [1, 255]}}
""",
        encoding="utf-8",
    )
    return path


def test_a_unit_of_ones_own_is_explored(tmp_path: Path) -> None:
    space = own_space(tmp_path)
    with ThreadPoolExecutor(1) as executor:
        done = explore(load_space(space), folder=tmp_path, executor=executor)
        again = explore(load_space(space), folder=tmp_path, executor=executor)
    assert all(each.verified for each in done.results)
    assert done.varied() == ["parameters.OUTSTANDING", "settings.bits"]
    few, _, many, _ = (each.gigabytes_per_second for each in done.results)
    assert few < many
    assert done.record()["unit"] == "population-count"
    assert {each.ratio for each in done.results} == {None}
    assert (again.measured, again.reused, again.digest) == (0, done.measured, done.digest)
    # The calls are part of what was measured.
    with ThreadPoolExecutor(1) as executor:
        wrong = explore(load_space(own_space(tmp_path, wrong=1)), folder=tmp_path, executor=executor)
    assert wrong.measured == done.measured
    assert not any(each.verified for each in wrong.results)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "OUTSTANDING: [2, 16]",
            "OUTSTANDING: [3]",
            r"vary\.parameters\.OUTSTANDING .*must be 2, 4, 8 or 16",
        ),
        ("OUTSTANDING: [2, 16]", "COLOUR: [3]", "module PopulationCount has no parameter COLOUR"),
        ("bits: [1, 255]", "bits: [2]", "vary.settings.bits has 2; there are 1, 255"),
        ("counts.py:Counts", "counts.py:Nothing", "has no class Nothing that derives from UnitWorkload"),
        ("counts.py:Counts", "counts.py", "workload is 'counts.py', not FILE.py:CLASS"),
        ("counts.py:Counts", "absent.py:Counts", r"absent\.py: FileNotFoundError"),
        ("vary:", "suite: here\nvary:", "suite is for units that compress"),
    ],
)
def test_a_space_of_ones_own_that_makes_no_sense_is_refused(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    path = own_space(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(RackwrightError, match=complaint):
        load_space(path)


def test_what_is_missing_or_foreign_is_said(space: Path, suite: Path, tmp_path: Path) -> None:
    assert "no suite is named" in rw("explore", space, "-o", tmp_path).stderr
    assert "is it a whole suite" in rw("explore", space, "--suite", tmp_path, "-o", tmp_path).stderr
    (tmp_path / "points.sqlite").write_bytes(b"not a database, but long enough to look like one" * 100)
    ended = rw("explore", space, "--suite", suite, "-o", tmp_path)
    assert ended.status == 1
    assert "points.sqlite" in ended.stderr
    other = tmp_path / "other.yaml"
    other.write_text("unit: snappy-decompress", encoding="utf-8")
    assert (
        "has no calls of snappy decompress"
        in rw("explore", other, "--suite", suite, "-o", tmp_path / "x").stderr
    )


def calls_of_a_fleet(random: Random) -> tuple[list[tuple[int, int]], list[float]]:
    """Sizes and compressed sizes of calls, and times that depend on both, and on what is not known."""
    sizes = [int(2 ** (6 + 14 * random.random())) for _ in range(3000)]
    known = [(size, int(size / (1 + 5 * random.random())) + 8) for size in sizes]
    return known, [
        1e-7 + (size * 1e-10 + packed * 3e-10) * (0.8 + 0.4 * random.random()) for size, packed in known
    ]


def drawn(sample: Sample, portions: int, seconds: list[float]) -> dict[int, float]:
    """What the first portions of a sample tell."""
    return {call: seconds[call] for number in range(portions) for call in sample.portion(number)}


def assert_honest(estimates: list[Estimate], truth: float) -> None:
    """Of honest standard errors, about 95 % of estimates are within two, and they miss to both sides."""
    misses = [(found.total / truth - 1) / found.standard_error for found in estimates]
    assert sum(abs(miss) < 2 for miss in misses) >= 0.9 * len(misses)
    assert abs(fmean(misses)) < 0.25


@pytest.mark.parametrize("portions", [3, 12])
def test_a_sample_gives_the_time_of_all_calls_within_its_error(portions: int) -> None:
    known, seconds = calls_of_a_fleet(Random(5))
    estimates = []
    for seed in range(200):
        sample = Sample([size for size, _ in known], seed)
        chances = sample.chances(portions)
        estimates.append(Regression(known).total(drawn(sample, portions, seconds), chances))
    assert_honest(estimates, sum(seconds))
    assert fmean(found.standard_error for found in estimates) < 0.025


def test_a_pilot_tells_most_of_what_another_point_takes() -> None:
    known, seconds = calls_of_a_fleet(Random(7))
    random = Random(8)
    slower = [1e-7 + 1.5 * time * (0.98 + 0.04 * random.random()) for time in seconds]
    estimates, alone = [], []
    for seed in range(200):
        sample = Sample([size for size, _ in known], seed)
        measured = drawn(sample, 12, seconds)
        pilot = Pilot(measured, Regression(known).total(measured, sample.chances(12)))
        few = drawn(sample, 2, slower)
        estimates.append(Regression(known).total(few, sample.chances(2), pilot))
        alone.append(Regression(known).total(few, sample.chances(2)))
    assert_honest(estimates, sum(slower))
    assert fmean(found.standard_error for found in estimates) < 0.6 * fmean(
        found.standard_error for found in alone
    )


def test_what_a_pilot_can_t_tell_is_measured_by_the_point() -> None:
    # Of 5 %, 3 % are the pilot's: 12 portions bring the other 4 % to 2 %.
    assert Estimate(1.0, 0.05, 0.03).portions_needed(3, (0.03**2 + 0.02**2) ** 0.5) == 12
    assert Estimate(1.0, 0.05, 0.03).portions_needed(3, 0.05) == 3


def test_what_is_known_of_every_call_is_exact() -> None:
    known, _ = calls_of_a_fleet(Random(6))
    sample = Sample([size for size, _ in known], 1)
    seconds = [3e-9 * size + 2e-9 * packed + 1e-7 for size, packed in known]
    found = Regression(known).total(drawn(sample, 1, seconds), sample.chances(1))
    assert found.total == pytest.approx(sum(seconds))
    assert found.standard_error < 1e-9


def test_all_calls_of_a_suite_are_no_estimate() -> None:
    known, seconds = calls_of_a_fleet(Random(9))
    sample = Sample([size for size, _ in known], 1)
    found = Regression(known).total(drawn(sample, sample.portions, seconds), sample.chances(sample.portions))
    assert found.total == pytest.approx(sum(seconds))
    assert found.standard_error == 0


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    sizes = list(range(1, 500))
    later = Sample(sizes, 3).portion(7)
    assert Sample(sizes, 3).portion(7) == later
    assert len(later) == PORTION_CALLS
    assert Sample(sizes, 4).portion(7) != later


def test_no_call_is_drawn_twice_and_large_ones_come_first() -> None:
    sizes = [*[100] * 500, 1 << 25]
    sample = Sample(sizes, 3)
    order = [call for number in range(sample.portions) for call in sample.portion(number)]
    assert sorted(order) == list(range(501))
    assert order.index(500) < PORTION_CALLS
    assert sample.chances(1)[500] == 1


def test_portions_grow_until_the_error_is_small_enough() -> None:
    assert portions_needed(3, 0.01, 0.02) == 3
    assert portions_needed(3, 0.03, 0.02) == 7
    assert portions_needed(3, 0.9, 0.02) == 12
    assert portions_needed(3, 0.0201, 0.02) == 4


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_a_front_is_what_nothing_else_beats(pairs: list[tuple[int, int]]) -> None:
    def beaten(pair: tuple[int, int]) -> bool:
        return any(other[0] <= pair[0] and other[1] >= pair[1] and other != pair for other in pairs)

    assert front(pairs) == [not beaten(pair) for pair in pairs]


def test_kernels_of_drx_are_explored_in_its_model() -> None:
    space = load_space(REPOSITORY / "examples" / "explore" / "drx_lanes.yaml")
    points = list(space.points())
    assert [point.config.parameters["lanes"] for point in points] == [32, 32, 64, 64, 128, 128]
    calls = space.calls().open()
    built = [calls.design(point.config, synthesise=False) for point in points[:2]]
    assert built[0].key != built[1].key
    few, many = (calls.session(points[place]).call(0) for place in (0, 1))
    assert few.verified
    assert many.verified
    assert few.uncompressed_bytes == 2 * 256 * 1024
    assert many.cycles < few.cycles
    placed = replace(points[0].config, placement="pcie")
    with pytest.raises(RackwrightError, match="placement pcie: the unit has a memory of its own"):
        calls.session(replace(points[0], config=placed))
