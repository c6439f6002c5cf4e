"""`rw bench mesh`: latency and throughput of the mesh under random traffic, beside BookSim's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bootstrap.paths import REPOSITORY
from rackwright.reports.records import read_records
from rackwright.tiles.mesh import CLASSES, Mesh

if TYPE_CHECKING:
    from rackwright import _engine

PEER_TABLE = REPOSITORY / "validation" / "noc" / "booksim.csv"
"""BookSim 2 with the same buffers and cycles per hop; the README.md beside the table describes the
settings.
"""

CAMINOS_TABLE = PEER_TABLE.with_name("caminos.csv")
"""Results of caminos, whose router has a queue for each output, as ours."""

COMPARED = Mesh(8, 8, networks=dict.fromkeys(CLASSES, 0), flit_bytes=8, depth=8, stages=2)
"""Each input has four queues of eight flits, like BookSim's four virtual channels of eight flits."""

RATES = (0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.38, 0.4, 0.42, 0.44)
"""Packets that a tile begins in a cycle."""

SEED = 1
WARM_UP, MEASURED, PATIENCE = 3000, 6000, 3000
"""Cycles; after the measured ones, the same number is simulated for packets that are still in flight."""


@dataclass(frozen=True)
class PeerRow:
    """A point of the peer's curve."""

    rate: float
    mean_latency: float
    accepted: float


@dataclass(frozen=True)
class MeshRow:
    """A point of the curve; see docs/json.md. `verified`: RTL and model agree on every arrival."""

    rate: float
    by: str
    packets: int
    arrived: int
    mean_latency: float
    accepted: float
    peer: str | None
    peer_latency: float | None
    verified: bool | None
    digest: str


def traffic_only(mesh: Mesh) -> Mesh:
    """The same mesh as one network with narrow flits: widths do not matter to packets of one flit."""
    return replace(mesh, networks=dict.fromkeys(CLASSES, 0), flit_bytes=8)


SMALL = traffic_only(Mesh(3, 2, "yx", depth=3, stages=1))
"""What tests compile: of random packets, and of harts whose data lies behind it."""


def measure(
    mesh: Mesh = COMPARED, rates: Sequence[float] = RATES, *, rtl: bool = True, flits: int = 1
) -> Iterator[MeshRow]:
    """A row for each rate; with `rtl` it is run in RTL, and the model's digest is compared.

    The first time, the RTL is compiled, which takes some minutes for 8 x 8 tiles.
    """
    design = compiled_mesh(mesh) if rtl else None
    peers = {row.rate: row for row in read_records(PEER_TABLE, PeerRow)} if mesh == COMPARED else {}
    for rate in rates:
        model = run(mesh, rate, flits=flits)
        found = model if design is None else run(mesh, rate, design=design, flits=flits)
        peer = peers.get(rate) if flits == 1 else None
        yield MeshRow(
            rate,
            "model" if design is None else "rtl",
            found["packets"],
            found["arrived"],
            found["mean_latency"],
            found["accepted"],
            "BookSim 2" if peer else None,
            peer.mean_latency if peer else None,
            None if design is None else found == model,
            found["digest"],
        )


def run(
    mesh: Mesh,
    rate: float,
    *,
    design: _engine.Design | None = None,
    flits: int = 1,
    seed: int = SEED,
    warm_up: int = WARM_UP,
    measured: int = MEASURED,
) -> _engine.MeshMeasured:
    """Measures one point of uniform traffic, with packets of the given length, in the RTL or in the model.

    Packets that are sent in the `measured` cycles behind those of `warm_up` count.
    """
    from rackwright import _engine

    return _engine.measure_mesh(
        **mesh.shape(),
        rate=rate,
        flits=flits,
        seed=seed,
        warm_up=warm_up,
        measured=measured,
        patience=PATIENCE,
        design=design,
    )


def compiled_mesh(mesh: Mesh) -> _engine.Design:
    """The RTL of a mesh, which is compiled the first time."""
    from rackwright.hardware.designs import design

    return design("mesh", mesh.parameters())
