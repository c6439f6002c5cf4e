"""Servers from Python: programs, results, units beside cores."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from bootstrap.paths import SOFTWARE_RISCV
from rackwright import CPUS, EngineError, RackwrightError, RunResult, Server, compile_program, run
from rackwright.compression import libsnappy
from rackwright.compression.snappy import is_verified
from rackwright.demo.archive import default_archive
from rackwright.hardware.clocks import clock_of
from rackwright.hardware.designs import manifest_of
from rackwright.unit.config import UnitConfig

PLAIN = default_archive(30_000)
BENCHMARK = SOFTWARE_RISCV / "snappy-benchmark"

every_cpu = pytest.mark.parametrize("cpu", CPUS)


def program(folder: Path, body: str) -> Path:
    """A program whose `main` has this body."""
    source = folder / "program.c"
    headers = ("stdio", "stdlib", "string", "stdint", "unistd", "fcntl", "errno")
    includes = "".join(f"#include <{name}.h>\n" for name in headers)
    source.write_text(f"{includes}int main(int count, char **words) {{\n{body}\n}}\n")
    return compile_program([source], folder / "program.elf")


def benchmark(server: Server, operation: str, engine: str, data: bytes, folder: Path) -> RunResult:
    """Runs the benchmark on `data`; its output goes to `folder`."""
    arguments = [operation, engine, "-", "--output", "result"]
    with contextlib.chdir(folder):
        return server.run(BENCHMARK, arguments, stdin=data, write_folder=folder)


@every_cpu
def test_a_program_reads_and_writes(cpu: str, tmp_path: Path) -> None:
    echo = program(
        tmp_path,
        """
        char line[100];
        while (fgets(line, sizeof line, stdin)) printf("%s: %s", words[1], line);
        fprintf(stderr, "%d words\\n", count);
        return 7;
        """,
    )
    result = Server(cpu).run(echo, ["echo"], stdin=b"one\ntwo\n")
    assert result.stdout == b"echo: one\necho: two\n"
    assert result.stderr == b"2 words\n"
    assert result.exit_code == 7
    assert result.cycles > 0
    assert result.frame().loc[0, "instructions"] == result.instructions


def test_output_stays_when_the_program_closes_it(tmp_path: Path) -> None:
    result = run(program(tmp_path, 'write(1, "kept", 4); close(1); return 0;'))
    assert result.stdout == b"kept"


def test_sleeping_takes_its_time(tmp_path: Path) -> None:
    body = 'usleep(5000); puts("awake"); return 0;'
    result = run(program(tmp_path, body))
    assert result.stdout == b"awake\n"
    assert 5e-3 < result.seconds < 5.2e-3


def test_nothing_random_or_of_the_host_reaches_a_program(tmp_path: Path) -> None:
    body = """
        unsigned char bytes[16];
        int random = open("/dev/urandom", O_RDONLY);
        if (read(random, bytes, 16) != 16) return 1;
        for (int i = 0; i < 16; i++) printf("%02x", bytes[i]);
        return open("/proc/version", O_RDONLY) < 0 ? 0 : 2;
        """
    read = program(tmp_path, body)
    first, again = run(read), run(read)
    assert (first.exit_code, len(first.stdout)) == (0, 32)
    assert first.digest == again.digest


def test_what_a_server_does_not_connect_is_refused() -> None:
    with pytest.raises(
        EngineError, match="unit `nic` has a stream port, which a server's core does not reach"
    ):
        Server("functional", ["nic"]).run(BENCHMARK)


def test_programs_of_sources_named_alike_are_kept_apart(tmp_path: Path) -> None:
    programs = []
    for number in (1, 2):
        source = tmp_path / str(number) / "main.c"
        source.parent.mkdir()
        source.write_text(f"int main(void) {{ return {number}; }}\n")
        programs.append(compile_program([source]))
    assert [run(path, cpu="functional").exit_code for path in programs] == [1, 2]


@every_cpu
def test_equal_runs_have_equal_digests(cpu: str, tmp_path: Path) -> None:
    count = program(tmp_path, 'for (int i = 0; i < atoi(words[1]); i++) printf("%d\\n", i); return 0;')
    first, again, other = (run(count, [n], cpu=cpu) for n in ("100", "100", "101"))
    assert (first.digest, first.cycles, first.instructions) == (
        again.digest,
        again.cycles,
        again.instructions,
    )
    assert first.digest != other.digest


@every_cpu
def test_the_digest_tells_what_memory_holds(cpu: str, tmp_path: Path) -> None:
    ignore = program(tmp_path, "return 0;")
    first, other = (run(ignore, [word], cpu=cpu) for word in ("one", "two"))
    assert (first.cycles, first.instructions) == (other.cycles, other.instructions)
    assert first.digest != other.digest


def test_the_digest_does_not_depend_on_where_the_program_lies(tmp_path: Path) -> None:
    here = program(tmp_path, "puts(words[0]); return 0;")
    there = tmp_path / "a" / "longer" / "way" / here.name
    there.parent.mkdir(parents=True)
    there.write_bytes(here.read_bytes())
    assert run(here).stdout == b"program.elf\n"
    assert run(here).digest == run(there).digest


def test_one_cycle_per_instruction_is_what_functional_means(tmp_path: Path) -> None:
    result = run(program(tmp_path, "return 0;"), cpu="functional")
    assert result.cycles == result.instructions


@every_cpu
@pytest.mark.parametrize("operation", ["compress", "decompress"])
def test_software_and_unit_agree(cpu: str, operation: str, tmp_path: Path) -> None:
    data = PLAIN if operation == "compress" else libsnappy.compress(PLAIN)
    cycles = {}
    for engine, accelerators in (("library", []), ("unit", ["snappy"])):
        result = benchmark(Server(cpu, accelerators), operation, engine, data, tmp_path)
        assert result.exit_code == 0, result.stderr
        report = json.loads(result.stdout)
        assert report["verified"] is True
        assert is_verified(operation, data, (tmp_path / "result").read_bytes(), report["status"])
        cycles[engine] = report["cycles"]
    assert cpu == "functional" or cycles["unit"] < cycles["library"]


def test_an_idle_unit_costs_nothing_and_changes_nothing(tmp_path: Path) -> None:
    results = [
        benchmark(Server("rocket", ["snappy"], skip_idle=skip), "compress", "unit", PLAIN, tmp_path)
        for skip in (True, False)
    ]
    assert results[0].digest == results[1].digest
    assert results[0].cycles == results[1].cycles
    assert results[0].unit_cycles < results[1].unit_cycles


def test_a_malformed_input_ends_the_benchmark_with_the_unit_s_status(tmp_path: Path) -> None:
    bad = libsnappy.compress(PLAIN)[:-1]
    result = benchmark(Server("functional", ["snappy"]), "decompress", "unit", bad, tmp_path)
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert report["status"] == "malformed"
    assert report["verified"] is True


def test_placement_changes_time_and_nothing_else(tmp_path: Path) -> None:
    cycles = []
    outputs = set()
    for placement in ("near-core", "chiplet", "pcie-cached", "pcie"):
        server = Server("rocket", [UnitConfig("snappy", placement=placement)])
        result = benchmark(server, "compress", "unit", PLAIN, tmp_path)
        cycles.append(json.loads(result.stdout)["cycles"])
        outputs.add((tmp_path / "result").read_bytes())
    assert cycles == sorted(cycles)
    assert len(outputs) == 1


def test_a_unit_runs_at_the_clock_that_it_is_given(tmp_path: Path) -> None:
    packed = libsnappy.compress(PLAIN)

    def cycles(clock: str) -> int:
        server = Server("rocket", [UnitConfig("snappy-decompress", clock=clock)])
        result = benchmark(server, "decompress", "unit", packed, tmp_path)
        assert result.unit_clocks_hz == (int(float(clock)),)
        report = json.loads(result.stdout)
        assert report["verified"]
        return int(report["cycles"])

    whole, third, odd = cycles("2e9"), cycles("666666667"), cycles("1.7e9")
    assert whole < odd < third
    # What the unit does itself takes three times as long, memory and the core as long as before.
    assert 2.5 * whole < third < 3 * whole


def test_without_a_clock_it_is_what_synthesis_supports(tmp_path: Path) -> None:
    server = Server("functional", ["snappy-compress"])
    result = benchmark(server, "compress", "unit", PLAIN[:1000], tmp_path)
    assert result.unit_clock_hz("snappy-compress") == clock_of(manifest_of("snappy-compress")).hertz
    assert result.unit_clock_hz("snappy-decompress") is None


def test_a_unit_has_the_parameters_that_it_is_given(tmp_path: Path) -> None:
    server = Server("functional", [UnitConfig("snappy-decompress", {"history-kib": 2})])
    assert benchmark(server, "decompress", "unit", libsnappy.compress(PLAIN), tmp_path).exit_code == 0
    with pytest.raises(RackwrightError, match="history-kib"):
        Server("functional", [UnitConfig("snappy-decompress", {"history-kib": 3000})])
    with pytest.raises(RackwrightError, match="history_kib is set by commands"):
        Server("functional", [UnitConfig("snappy-decompress", settings={"history_kib": 2})])


def test_a_program_writes_only_where_it_may(tmp_path: Path) -> None:
    writer = program(
        tmp_path,
        'int f = open(words[1], O_CREAT | O_WRONLY, 0644); printf("%d\\n", f < 0); return 0;',
    )
    inside = tmp_path / "inside"
    inside.mkdir()
    assert Server("functional").run(writer, [str(inside / "file")], write_folder=inside).stdout == b"0\n"
    assert (inside / "file").exists()
    assert (
        Server("functional").run(writer, [str(inside / "../outside")], write_folder=inside).stdout == b"1\n"
    )
    assert not (tmp_path / "outside").exists()
    assert Server("functional").run(writer, [str(tmp_path / "nowhere")]).stdout == b"1\n"


def test_a_program_that_never_ends_meets_its_limit(tmp_path: Path) -> None:
    endless = program(tmp_path, 'for (;;) __asm__ volatile("");')
    with pytest.raises(EngineError, match="cycle"):
        Server("functional").run(endless, max_cycles=1_000_000)


def test_a_command_for_no_unit_is_an_illegal_instruction(tmp_path: Path) -> None:
    lost = program(tmp_path, '__asm__ volatile(".insn r 0x0b, 3, 1, x0, x0, x0"); return 0;')
    with pytest.raises(EngineError, match=r"custom-0|illegal"):
        Server("functional").run(lost)


def test_a_null_pointer_is_reported_with_where_it_happened(tmp_path: Path) -> None:
    broken = program(tmp_path, "*(volatile int *)8 = 1; return 0;")
    with pytest.raises(EngineError, match="0x"):
        Server("functional").run(broken)


def test_what_is_no_program_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("not a program")
    with pytest.raises(EngineError, match="text"):
        Server("functional").run(text)
    with pytest.raises(EngineError, match="missing"):
        Server("functional").run(tmp_path / "missing")


def test_names_that_do_not_exist_are_refused() -> None:
    with pytest.raises(RackwrightError, match="abacus"):
        Server("abacus")
    with pytest.raises(RackwrightError, match=r"no-such-unit.*and the sets snappy, zstd"):
        Server("functional", ["no-such-unit"])


def test_a_program_that_is_compiled_again_is_whole_for_who_reads_the_old_one(tmp_path: Path) -> None:
    made = program(tmp_path, "return 3;")
    with open(made, "rb") as old:
        assert program(tmp_path, "return 4;") == made
        again = tmp_path / "old.elf"
        again.write_bytes(old.read())
    assert [Server("functional").run(path).exit_code for path in (again, made)] == [3, 4]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.elf", "program.c", "program.elf"]
