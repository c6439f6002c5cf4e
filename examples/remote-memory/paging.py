"""A Linux program with little local memory, and the rest of its pages on memory blades across the network.

./rw run examples/remote-memory/paging.py -- --workload genome --local 16MiB --paging software
"""

import argparse
from pathlib import Path

from rackwright import RackwrightError
from rackwright.remote_memory import WORKLOADS, fault_parts, run_paged, workload

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def size(text: str) -> int:
    """Bytes from a number with a unit: 16MiB."""
    for unit, factor in UNITS.items():
        if text.endswith(unit):
            return int(float(text.removesuffix(unit)) * factor)
    raise argparse.ArgumentTypeError(f"{text}: a size is written like 16MiB")


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument(
    "--workload", default="genome", help=f"{', '.join(WORKLOADS)}, or the path of a static RV64 Linux program"
)
parser.add_argument("--local", type=size, default=size("16MiB"), help="local memory, at least 32KiB")
parser.add_argument("--paging", choices=("software", "unit"), default="software", help="who brings pages")
parser.add_argument("--harts", type=int, default=1, help="harts for the program's threads, 1 to 8")
parser.add_argument("--batch", type=int, default=0, help="pages that leave at once; 0: by the local memory")
parser.add_argument("--blades", type=int, default=1, help="memory blades, 1 to 4")
parser.add_argument("--blade-cpu", choices=("functional", "rocket", "boom"), help="blades are servers")
parser.add_argument("--link-latency-us", type=float, default=2.0, help="latency of every link")
parser.add_argument("--file", type=Path, action="append", default=[], help="a file that the program finds")
parser.add_argument("--loss", type=float, default=0.0, help="probability with which a frame is lost")
parser.add_argument("--parts", action="store_true", help="instead: where the time of a remote fault goes")
parser.add_argument("arguments", nargs="*", help="arguments of the program")
asked = parser.parse_args()

if asked.parts:
    if (asked.harts, asked.blades, asked.loss, asked.blade_cpu) != (1, 1, 0.0, None):
        raise RackwrightError("parts are told of one hart and one blade that is a model, without loss")
    told = fault_parts(
        workload(asked.workload),
        asked.arguments,
        local_bytes=asked.local,
        paging=asked.paging,
        batch=asked.batch,
        files=asked.file,
        link_latency_us=asked.link_latency_us,
    )
    print(f"{told.undisturbed:,} of {told.faults:,} remote faults had the link for themselves\n")
    print(f"{'median, ns':>12} {'mean, ns':>12}")
    for name, part in told.parts.items():
        print(f"{part:>12,.4f} {told.means[name]:>12,.4f}  {name}")
    print(f"{told.ns:>12,.4f} {sum(told.means.values()):>12,.4f}  sum")
    raise SystemExit

result = run_paged(
    workload(asked.workload),
    asked.arguments,
    local_bytes=asked.local,
    paging=asked.paging,
    batch=asked.batch,
    harts=asked.harts,
    files=asked.file,
    blades=asked.blades,
    blade_cpu=asked.blade_cpu,
    link_latency_us=asked.link_latency_us,
    loss=asked.loss,
)
print(result.output, end="")
print(f"exit status {result.exit_code}, {result.seconds * 1e3:.3f} ms")
print(f"{'network bytes':>16} {result.network_bytes:>14,}")
for name, count in result.counts.items():
    print(f"{name:>16} {count:>14,}")
raise SystemExit(result.exit_code)
