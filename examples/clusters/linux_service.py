"""A service on a Linux server with four harts, by its libraries and by units for Snappy and Protocol Buffers.

    ./rw run examples/clusters/linux_service.py

Requests come over TCP from another Linux server, which compares each answer with its own. Both servers boot
once, to a checkpoint in a folder of its own, from which each of the two runs goes on.
"""

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rackwright import Cluster, Ethernet, Linux, Server, Switch
from rackwright.cluster import ClusterResult
from rackwright.linux.boot import boot
from rackwright.linux.image import default_image, load_image
from rackwright.protobuf import compile_service

SERVICE = Path(__file__).parent / "linux_service"
UNITS = ("snappy", "protobuf")
HARTS, PORT = 4, 7000
PROGRAM = "cd /root; ./telemetry.elf"


def booted(folder: Path) -> Path:
    """The checkpoint of a server that has booted, with the program."""
    program = compile_service([SERVICE / "telemetry.cpp"], SERVICE / "telemetry.proto")
    checkpoint = folder / "booted.checkpoint"
    image = load_image(default_image())
    boot(
        image,
        harts=HARTS,
        memory_bytes=256 << 20,
        files=[program],
        checkpoint=checkpoint,
    )
    return checkpoint


def service(checkpoint: Path, units: tuple[str, ...], requests: int, cpu: str = "rocket") -> ClusterResult:
    """The service with these units beside each hart, or with none, after so many requests to each hart."""
    way = "units" if units else "library"
    serves = Server(
        cpu,
        units,
        workload=Linux(run=f"{PROGRAM} serve {PORT} {HARTS} {way}", checkpoint=checkpoint),
        name="serves",
    )
    # The other one has its address by then.
    asked = [
        "sleep 0.05; ",
        f"{PROGRAM} ask ",
        serves,
        f" {PORT} {HARTS} {requests} 1000",
    ]
    asks = Server(
        "functional",
        workload=Linux(run=asked, checkpoint=checkpoint, static_arp=True),
        name="asks",
    )
    switch = Switch("tor0")
    switch.add_downlinks([serves, asks])
    return Cluster(switch, link=Ethernet(gbps=200, latency_us=2)).run(
        until_ms=5_000, ends_with=[serves, asks]
    )


def microseconds(result: ClusterResult) -> int:
    """How long all requests took, by the clock of who asks; raises `ValueError` where one went wrong."""
    said = result.servers.set_index("name")["stdout"]
    found = re.fullmatch(r"\d+ requests of \d+ bytes right in (\d+) us\n", said["asks"])
    if found is None:
        raise ValueError(said.to_dict())
    return int(found[1])


if __name__ == "__main__":
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    with TemporaryDirectory() as folder:
        checkpoint = booted(Path(folder))
        library, by_units = (microseconds(service(checkpoint, units, requests)) for units in ((), UNITS))
    print(f"{HARTS * requests} requests: {library} us by libraries, {by_units} us by units")
    print(f"{library / by_units:.2f} times as fast")
