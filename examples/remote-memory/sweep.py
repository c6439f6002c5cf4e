"""Run time of a Linux program over its local memory, paged by software and by the page-fault unit.

./rw run examples/remote-memory/sweep.py -- --workload genome --local 4MiB 1MiB 512KiB -- 1000 300 65536
"""

import argparse
import sys
from pathlib import Path

from rackwright.remote_memory import WORKLOADS, sweep, sweep_page, workload

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20}


def size(text: str) -> int:
    """Bytes from a number with a unit: 512KiB."""
    for unit, factor in UNITS.items():
        if text.endswith(unit):
            return int(float(text.removesuffix(unit)) * factor)
    raise argparse.ArgumentTypeError(f"{text}: a size is written like 512KiB")


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument(
    "--workload", default="genome", help=f"{', '.join(WORKLOADS)}, or the path of a static RV64 Linux program"
)
parser.add_argument("--local", type=size, nargs="+", default=[4 << 20, 1 << 20, 512 << 10], help="amounts")
parser.add_argument("--paging", choices=("software", "unit", "both"), default="both", help="who brings pages")
parser.add_argument("--harts", type=int, default=1, help="harts for threads and processes, 1 to 8")
parser.add_argument("--link-latency-us", type=float, default=2.0, help="latency of the link to the blade")
parser.add_argument("--file", type=Path, action="append", default=[], help="a file that the program finds")
parser.add_argument("--output", type=Path, default=Path("out/remote-memory"), help="folder for the report")
parser.add_argument("arguments", nargs="*", help="arguments of the program, behind --")
asked = parser.parse_args()

table = sweep(
    workload(asked.workload),
    asked.arguments,
    local_bytes=asked.local,
    kinds=("software", "unit") if asked.paging == "both" else (asked.paging,),
    harts=asked.harts,
    files=asked.file,
    link_latency_us=asked.link_latency_us,
    progress=lambda line: print(line, file=sys.stderr),
)
asked.output.mkdir(parents=True, exist_ok=True)
table.to_json(asked.output / "sweep.json", orient="records", indent=1)
(asked.output / "sweep.html").write_text(
    sweep_page(f"Remote memory: {asked.workload}", table), encoding="utf-8"
)
print(table.drop(columns="digest").to_string(index=False))
print(f"{asked.output / 'sweep.html'}: a plot; sweep.json has the same rows")
