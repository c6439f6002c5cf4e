"""Round trips of a process of Debian to a server whose `network` returns its datagrams, or whose Debian does.

    ./rw run examples/pengwing/round_trip.py -- 3000

The word is the number of round trips of 64 bytes each; the first 500 are not counted. The client runs
software/linux/programs/datagrams.c on a `rocket` hart. The server returns each datagram by the tile `network`
of store.yaml, without a hart (software/network/programs/returns.c), or by the same program as the client's on
Debian.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rackwright import BareMetal, Cluster, Ethernet, Linux, Server, Switch
from rackwright.linux.boot import boot
from rackwright.linux.image import default_image, load_image
from rackwright.machine.programs import linux_program

TILES = Path(__file__).parent / "store.yaml"
PORT, BYTES, WARM_UP, SERVER, CLIENT = 7, 64, 500, "172.16.1.1", "172.16.1.2"


def booted(folder: Path) -> Path:
    """The checkpoint of a Debian that has booted and has the program."""
    checkpoint = folder / "booted.checkpoint"
    image = load_image(default_image())
    boot(image, memory_bytes=256 << 20, files=[linux_program("datagrams")], checkpoint=checkpoint)
    return checkpoint


def round_trips(checkpoint: Path, by: str, count: int, cpu: str = "rocket") -> tuple[list[int], str]:
    """Their times in nanoseconds, of those behind the warm-up, in order of size; and the digest.

    The server is that `by` the "unit" or by the "program". Raises `ValueError` if a datagram was lost or
    changed.
    """
    if by == "unit":
        server = Server(name="server", tiles=TILES, workload=BareMetal("returns.elf"), ip=SERVER)
    else:
        workload = Linux(run=f"./datagrams.elf {PORT}", checkpoint=checkpoint)
        server = Server(cpu, workload=workload, name="server", ip=SERVER)
    asks = Linux(run=f"sleep 0.02; ./datagrams.elf {SERVER} {PORT} {count} {BYTES}", checkpoint=checkpoint)
    client = Server(cpu, workload=asks, name="client", ip=CLIENT)
    switch = Switch("tor0")
    switch.add_downlinks([server, client])
    cluster = Cluster(switch, link=Ethernet(gbps=100, latency_us=0.5))
    result = cluster.run(until_ms=10_000, ends_with=client)
    row = result.servers.set_index("name").loc["client"]
    if row["exit_code"] != 0:
        raise ValueError(f"the client ended with {row['exit_code']}: {row['stderr']}")
    return sorted(map(int, row["stdout"].split()[WARM_UP:])), result.digest


def percentile(times: list[int], percent: int) -> int:
    """The smallest of them that this percentage does not exceed."""
    return times[-(-len(times) * percent // 100) - 1]


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    with TemporaryDirectory() as folder:
        checkpoint = booted(Path(folder))
        found = {by: round_trips(checkpoint, by, count)[0] for by in ("unit", "program")}
    for percent in (50, 99):
        unit, program = (percentile(found[by], percent) for by in ("unit", "program"))
        times = f"{unit / 1e3:.1f} us by network, {program / 1e3:.1f} us by Debian"
        print(f"p{percent}: {times}, {unit / program:.2f}")
