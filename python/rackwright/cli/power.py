"""`rw synth --power`: watts and energy of a recorded run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.output import messages, print_json, print_table, results, working
from rackwright.hardware.manifests import read_manifest

if TYPE_CHECKING:
    from rackwright.power.energy import Power


def show_power(
    unit: str,
    manifest: Path,
    run: Path,
    *,
    operations: int | None,
    parameters: dict[str, int | str] | None,
    liberty: list[Path],
    rules_file: Path | None,
    json: bool,
) -> None:
    """Prints the power of the unit of a manifest in the run of the document `run`.

    `operations` is what the run did; by default, the commands that the unit answered. Raises
    `RackwrightError` for what is no such run, or one of another unit.
    """
    from rackwright.power.energy import power_of
    from rackwright.power.run import answers, read_run
    from rackwright.power.saif import read_activity
    from rackwright.synthesis.flow import read_design
    from rackwright.synthesis.library import load_library
    from rackwright.synthesis.process import load_power_rules, load_process

    recorded = read_run(run, unit)
    library, process = load_library(liberty), load_process(rules_file)
    rules = load_power_rules(rules_file)
    record = read_manifest(manifest)
    with working(f"power of {unit}") as activity:
        found = read_activity(recorded.file, record["top"])
        design = read_design(manifest, parameters)
        power = power_of(design, found, recorded.clock_hz, library, process, rules, report=activity.detail)
    done = operations if operations is not None else answers(found, record)
    row = power.record(str(recorded.file), done)
    if json:
        print_json(row)
        return
    _print(power, done)
    messages.print(f"activity: {recorded.file}", highlight=False, soft_wrap=True)


def _print(power: Power, operations: int | None) -> None:
    parts = power.milliwatts
    rows = [(name, f"{milliwatts:.3f}") for name, milliwatts in parts.items()]
    print_table([("part", "left"), ("mW", "right")], rows)
    results.print()
    print_table(
        [("module", "left"), ("switching", "right"), ("internal", "right"), ("leakage", "right")],
        [
            (row.module, f"{row.switching:.3f}", f"{row.internal:.3f}", f"{row.leakage:.3f}")
            for row in power.modules
        ],
    )
    for memory in power.memories:
        results.print(
            f"SRAM {memory.memory}: {memory.accesses:.3f} accesses per cycle, {memory.milliwatts:.3f} mW",
            highlight=False,
        )
    energy = f"{power.energy_picojoules / 1000:,.1f} nJ in {power.cycles:,} cycles"
    if operations:
        each = power.energy_picojoules / operations
        energy += f", {each:,.1f} pJ for each of {operations:,} operations"
    results.print(
        f"{energy} at {power.clock_hz / 1e9:g} GHz; {power.counted_share:.0%} of the flops counted",
        highlight=False,
    )
