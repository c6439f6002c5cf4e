"""`rw bench`: the speed of the units and of the simulation."""

from __future__ import annotations

import typer

from rackwright.cli.bench.aes import aes
from rackwright.cli.bench.allocate import allocate
from rackwright.cli.bench.drx import drx
from rackwright.cli.bench.engine import cpu, linux, rtl
from rackwright.cli.bench.formats import compression, snappy
from rackwright.cli.bench.gather import gather
from rackwright.cli.bench.mesh import mesh
from rackwright.cli.bench.networks import cluster, dispatch
from rackwright.cli.bench.ordered import ordered
from rackwright.cli.bench.queues import queues
from rackwright.cli.bench.ratios import ratios
from rackwright.cli.bench.small import small
from rackwright.cli.bench.store import store
from rackwright.cli.bench.udp import udp
from rackwright.cli.bench.units import units
from rackwright.cli.protobuf import bench_protobuf

bench = typer.Typer(help="Measure the units and the simulation itself.", no_args_is_help=True)
for _measure in (
    units,
    small,
    snappy,
    compression,
    rtl,
    cpu,
    linux,
    cluster,
    dispatch,
    mesh,
    drx,
    udp,
    aes,
    queues,
    allocate,
    gather,
    store,
    ordered,
    ratios,
):
    bench.command()(_measure)
bench.command("protobuf")(bench_protobuf)
