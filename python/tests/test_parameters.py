"""The numbers of caches, DRAM and harts: set from Python, from files and from the command line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from command_line import rw
from tiers import long

from rackwright import EngineError, compile_program
from rackwright.compression.snappy import SnappyUnit
from rackwright.errors import RackwrightError
from rackwright.machine.parameters import Parameter, ServerParameters, core_parameters, memory_parameters
from rackwright.machine.server import Server
from rackwright.profiling import profile

REPOSITORY = Path(__file__).parents[2]
PROGRAMS = REPOSITORY / "validation" / "rocket" / "programs"
TEXT = (REPOSITORY / "README.md").read_bytes()


def cycles(cpu: str, program: str, timing: ServerParameters) -> int:
    """How long a kernel takes, which must work."""
    result = Server(cpu, timing=timing).run(PROGRAMS / f"{program}.elf")
    assert result.exit_code == 0
    return result.cycles


FAST = ServerParameters({"l2-latency": 4, "llc-latency": 10, "dram-channels": 1})
SLOW = ServerParameters({"l2-latency": 30, "llc-latency": 200})


QUICK = ServerParameters({"clock-hz": 3_200_000_000})


BETWEEN = "3 s of the core in RTL; slower memory and another clock differ more from the default"


@pytest.mark.parametrize(
    "timing", [long(FAST, why=BETWEEN), SLOW, QUICK, long(ServerParameters.preset("firesim"), why=BETWEEN)]
)
def test_the_model_is_as_the_rtl_with_another_memory_too(timing: ServerParameters) -> None:
    for program in ("load-llc", "stream-write", "vector-add"):
        file = PROGRAMS / f"{program}.elf"
        measured = [
            int(run.stdout.split()[0])
            for run in (Server(cpu, timing=timing).run(file) for cpu in ("rocket-rtl", "rocket"))
        ]
        rtl, model = measured
        # As with the default: validation/rocket.
        assert abs(model - rtl) < 0.04 * rtl, (program, measured)


def test_harts_have_the_clock_that_is_asked_for() -> None:
    for cpu in ("rocket", "boom"):
        integer = cycles(cpu, "integer", ServerParameters())
        assert cycles(cpu, "integer", QUICK) == pytest.approx(integer, rel=0.01)
        memory = cycles(cpu, "load-dram", ServerParameters())
        # Of the way to DRAM and back, what is not in cycles stays as long.
        assert 1.2 * memory < cycles(cpu, "load-dram", QUICK) < 1.6 * memory
    assert Server("rocket-rtl", timing=QUICK).run(PROGRAMS / "sort.elf").clock_hz == 3_200_000_000


@pytest.mark.parametrize("hertz", [100_000_000, 1_234_567_890, 10_000_000_000])
def test_a_unit_works_beside_a_hart_of_any_clock(hertz: int) -> None:
    given = ("bench", "compression", REPOSITORY / "README.md", "--format", "snappy", "--json")
    rows = rw(*given, "--target", "boom+unit", "--memory", f"clock-hz={hertz}").json()["rows"]
    assert [row["verified"] for row in rows] == [True, True]
    assert [row["seconds"] for row in rows] == [row["cycles"] / hertz for row in rows]


def test_a_program_has_its_time_from_the_clock_of_its_hart(tmp_path: Path) -> None:
    source = """
    #include <stdio.h>
    #include <time.h>
    int main(void) {
      struct timespec began, ended;
      unsigned long cycles, later;
      clock_gettime(CLOCK_MONOTONIC, &began);
      __asm__ volatile("rdcycle %0" : "=r"(cycles));
      do __asm__ volatile("rdcycle %0" : "=r"(later)); while (later - cycles < 3200000);
      clock_gettime(CLOCK_MONOTONIC, &ended);
      printf("%ld\\n", (ended.tv_sec - began.tv_sec) * 1000000 + (ended.tv_nsec - began.tv_nsec) / 1000);
    }"""
    (tmp_path / "waits.c").write_text(source)
    program = compile_program([tmp_path / "waits.c"], tmp_path / "waits.elf", ["-O2"])
    usual, quick = (Server("rocket", timing=timing).run(program) for timing in (None, QUICK))
    assert int(usual.stdout) == pytest.approx(1600, rel=0.01)
    assert int(quick.stdout) == pytest.approx(1000, rel=0.01)
    assert (usual.clock_hz, quick.clock_hz) == (2_000_000_000, 3_200_000_000)
    seen = profile(Server("rocket", timing=QUICK), program)
    assert (seen.clock_hz, seen.digest) == (quick.clock_hz, quick.digest)


def test_the_rtl_has_no_numbers_of_its_own() -> None:
    with pytest.raises(RackwrightError, match="rocket-rtl is as its RTL is: flush can't be set"):
        Server("rocket-rtl", timing=ServerParameters(core={"flush": 3}))


def test_slower_memory_makes_a_program_and_a_unit_slower() -> None:
    slow = {"llc-latency": 400, "dram-channels": 1}
    for cpu in ("rocket", "boom"):
        usual = cycles(cpu, "load-llc", ServerParameters())
        assert cycles(cpu, "load-llc", ServerParameters(slow)) > 2 * usual
    alone, slower = SnappyUnit("compress").run(TEXT), SnappyUnit("compress", memory=slow).run(TEXT)
    assert slower.cycles > alone.cycles
    assert slower.output == alone.output
    assert slower.parameters["llc-latency"] == 400


@pytest.mark.parametrize(
    ("cpu", "program", "core"),
    [
        ("rocket", "divide", {"divide-most": 130, "divide-least": 66}),
        ("rocket", "branch-random", {"front-end-depth": 12}),
        ("boom", "branch-random", {"redirect": 40}),
        ("boom", "load-dram", {"reorder-buffer": 8, "load-queue": 2}),
    ],
)
def test_a_slower_core_is_slower(cpu: str, program: str, core: dict[str, int]) -> None:
    assert cycles(cpu, program, ServerParameters(core=core)) > cycles(cpu, program, ServerParameters())


@pytest.mark.parametrize("cpu", ["rocket", "boom"])
def test_what_is_set_to_its_default_changes_nothing(cpu: str) -> None:
    everything = ServerParameters(
        {each.name: each.default for each in memory_parameters()},
        {each.name: each.default for each in core_parameters(cpu)},
    )
    program = PROGRAMS / "sort.elf"
    usual = Server(cpu).run(program)
    assert Server(cpu, timing=everything).run(program).digest == usual.digest


def _chosen(source: random.Random, names: list[Parameter], most: int) -> dict[str, int]:
    """Some of them at an end of what they may be, or near their default."""
    picked = source.sample(names, source.randint(0, most))
    return {
        each.name: source.choice((each.least, each.most, source.randint(each.least, 3 * each.default + 3)))
        for each in picked
    }


@pytest.mark.parametrize("cpu", ["rocket", "boom"])
def test_whatever_is_not_refused_works(cpu: str) -> None:
    source = random.Random(5)
    ran = 0
    for _ in range(40):
        memory = _chosen(source, memory_parameters(), 3)
        try:
            timing = ServerParameters(memory, _chosen(source, core_parameters(cpu), 4))
            timing.check(cpu)
        except EngineError:
            continue
        assert cycles(cpu, "copy-l2", timing) > 0
        ran += 1
    assert ran > 10


@pytest.mark.parametrize(
    ("timing", "says"),
    [
        (ServerParameters({"l2-latency": 0}), "l2-latency is 1 to 10000, not 0"),
        (ServerParameters({"clock-hz": 0}), "clock-hz is 100000000 to 10000000000, not 0"),
        (ServerParameters({"l2-ways": 7}), "l2: 1048576 bytes in 7 ways"),
        (ServerParameters({"llc-bytes": 1 << 16}), "smaller than the l2"),
        (ServerParameters({"l4-bytes": 1}), "no parameter l4-bytes; there are l2-bytes"),
        (ServerParameters(core={"redirect": 1}), "no parameter redirect; there are load-wide"),
        (ServerParameters(core={"divide-least": 90}), "divide-least of 90 is more than divide-most of 67"),
    ],
)
def test_what_cannot_be_is_refused_by_name(timing: ServerParameters, says: str) -> None:
    with pytest.raises(EngineError, match=says):
        Server("rocket", timing=timing)


def test_the_page_on_memory_names_all_of_them() -> None:
    page = (REPOSITORY / "docs" / "memory-model.md").read_text(encoding="utf-8")
    named = [*memory_parameters(), *core_parameters("rocket"), *core_parameters("boom")]
    assert [each.name for each in named if f"`{each.name}`" not in page] == []


def test_a_model_without_numbers_says_so() -> None:
    assert core_parameters("functional") == []
    with pytest.raises(EngineError, match="the model functional has no parameters"):
        Server("functional", timing=ServerParameters(core={"flush": 1}))


def test_they_are_a_value(tmp_path: Path) -> None:
    one = ServerParameters({"l2-latency": 20, "l2-banks": 4}, {"flush": 9})
    other = ServerParameters({"l2-banks": 4, "l2-latency": 20}, {"flush": 9})
    assert len({one, other, ServerParameters()}) == 2
    path = tmp_path / "server.yaml"
    path.write_text("memory: {l2-latency: 20, l2-banks: 4}\ncore: {flush: 9}\n")
    assert ServerParameters.load(path) == one
    assert one.describe() == {"memory": {"l2-banks": 4, "l2-latency": 20}, "core": {"flush": 9}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("disk: {}", "it has 'disk'; there are memory, core"),
        ("memory: 3", "memory is not a mapping"),
        ("memory: {l2-latency: fast}", "memory: l2-latency is a number, not 'fast'"),
        ("memory: {l2-latency: -1}", "memory: l2-latency is a number, not -1"),
        ("{", "not YAML"),
    ],
)
def test_a_file_that_is_none_is_refused_by_name(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "server.yaml"
    path.write_text(text)
    with pytest.raises(RackwrightError, match=says) as caught:
        ServerParameters.load(path)
    assert str(path) in str(caught.value)


def test_the_command_line_sets_them(tmp_path: Path) -> None:
    program = PROGRAMS / "load-llc.elf"
    usual, slow = (
        rw("run", program, "--json", *more)
        for more in ((), ("--memory", "llc-latency=400", "--core", "miss-data-response=40"))
    )
    assert (usual.status, slow.status) == (0, 0)
    assert slow.json()["cycles"] > 2 * usual.json()["cycles"]
    assert slow.json()["timing"] == {"memory": {"llc-latency": 400}, "core": {"miss-data-response": 40}}
    refused = rw("accelerate", "snappy", "compress", REPOSITORY / "README.md", "--memory", "l2-latency=0")
    assert refused.status == 1
    assert refused.stderr.splitlines()[-1] == "rw: l2-latency is 1 to 10000, not 0"
    assert refused.stderr.count("\n") == 1
    says = rw("run", program, "--memory", "fast").stderr.splitlines()[-1]
    assert "--memory: fast is neither NAME=NUMBER nor FILE.yaml nor one of fireperf, " in says


def test_benchmarks_take_them_beside_the_state_of_caches() -> None:
    given = ("bench", "compression", REPOSITORY / "README.md", "--format", "snappy", "--json")
    chosen = ("--operation", "decompress", "--target", "rocket", "--memory", "cold")
    usual, slow = (rw(*given, *chosen, *more) for more in ((), ("--memory", "llc-latency=400")))
    [row], [slower] = usual.json()["rows"], slow.json()["rows"]
    assert slower["cycles"] > row["cycles"]
    refused = rw(*given, "--memory", "hot")
    assert refused.stderr == "rw: --memory: caches are warm or cold, not hot\n"


def test_parameters_and_clocks_of_units_are_set_by_benchmarks_too() -> None:
    given = ("bench", "compression", REPOSITORY / "README.md", "--format", "snappy", "--json")
    chosen = ("--operation", "compress", "--target", "rocket+unit")
    own = ("--set", "hash-log2=9", "--clock", "1e9")
    usual, other = (rw(*given, *chosen, *more).json()["rows"][0] for more in ((), own))
    assert other["compressed_bytes"] > usual["compressed_bytes"]
    assert (other["unit_clock_hz"], other["unit_clock_source"]) == (1_000_000_000, "asked")
    assert other["seconds"] > usual["seconds"]


def test_recorded_messages_are_measured_by_numbers_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "m.proto").write_text('syntax = "proto3"; message M { string s = 1; }')
    (tmp_path / "m.bin").write_bytes(b"\x0a\x04text")
    given = ("protobuf", "deserialize", "--proto", tmp_path / "m.proto", "--message", "M", tmp_path / "m.bin")
    chosen = ("--target", "boom+unit", "--json")
    own = ("--clock", "1e9", "--memory", "llc-latency=400", "--core", "reorder-buffer=32")
    usual, other = (rw(*given, *chosen, *more).json()["rows"][0] for more in ((), own))
    assert other["unit_clock_hz"] == 1_000_000_000
    assert other["cycles"] > usual["cycles"]
    refused = rw(*given, "--target", "rocket", "--core", "reorder-buffer=32")
    assert "no parameter reorder-buffer" in refused.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (
            ["bench", "protobuf", "--set", "nic.lanes=1"],
            "no unit nic; there are protobuf-deserialize",
        ),
        (["boot", "--run", "true", "--set", "lanes=1"], "--set: lanes=1 is not UNIT.PARAMETER=VALUE"),
        (
            ["boot", "--run", "true", "--memory", "1GiB", "--memory", "2GiB"],
            "not 1GiB and 2GiB",
        ),
        (["profile", "--", "run", PROGRAMS / "sort.elf", "--core", "redirect=3"], "no parameter redirect"),
    ],
)
def test_what_a_verb_cannot_take_is_refused_in_a_line(
    command: list[object], says: str, tmp_path: Path
) -> None:
    ended = rw(*command)
    assert ended.status == 1
    assert says in ended.stderr.splitlines()[-1]


def test_a_file_sets_what_options_would(tmp_path: Path) -> None:
    path = tmp_path / "server.yaml"
    path.write_text("memory: {llc-latency: 400, dram-channels: 4}\ncore: {redirect: 20}\n")
    program = PROGRAMS / "load-llc.elf"
    ended = rw("run", program, "--cpu", "boom", "--memory", path, "--memory", "dram-channels=1", "--json")
    assert ended.status == 0, ended.stderr
    timing = ended.json()["timing"]
    assert timing == {"memory": {"dram-channels": 1, "llc-latency": 400}, "core": {"redirect": 20}}


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (["none.yaml"], "none.yaml: No such file"),
        (["one.yaml", "two.yaml"], "--memory: one file or server, not one.yaml and two.yaml"),
        (["one.yaml", "firesim"], "--memory: one file or server, not one.yaml and firesim"),
    ],
)
def test_files_that_cannot_be_taken_are_refused_in_a_line(files: list[str], says: str) -> None:
    options = [part for file in files for part in ("--memory", file)]
    for command in (["run", PROGRAMS / "sort.elf"], ["boot", "--run", "true"]):
        ended = rw(*command, *options)
        assert ended.status == 1
        assert says in ended.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", ServerParameters.presets())
def test_servers_that_have_a_name_can_be(name: str) -> None:
    server = ServerParameters.preset(name)
    server.check("functional")
    assert not server.core, "a hart's numbers would hold for one model only"
    assert name in (REPOSITORY / "docs" / "memory-model.md").read_text()


def test_a_server_that_has_a_name_is_what_a_program_runs_on(tmp_path: Path) -> None:
    given = ("run", PROGRAMS / "load-llc.elf", "--json")
    usual, same, blade, other = (
        rw(*given, *(part for word in memory for part in ("--memory", word))).json()
        for memory in ([], ["graviton2"], ["firesim"], ["firesim", "llc-latency=400"])
    )
    assert (same["cycles"], same["digest"]) == (usual["cycles"], usual["digest"])
    assert usual["cycles"] < blade["cycles"] < other["cycles"]
    assert other["timing"]["memory"] == {**ServerParameters.preset("firesim").memory, "llc-latency": 400}


def test_a_server_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(RackwrightError, match=r"^no server xeon; there are .*firesim"):
        ServerParameters.preset("xeon")
