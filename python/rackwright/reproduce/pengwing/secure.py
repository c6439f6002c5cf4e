"""Figure 4.4: packets through a cipher, the network and another cipher, by units and by programs."""

from __future__ import annotations

from dataclasses import dataclass

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.machine.programs import compile_program
from rackwright.machine.server import Server
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare
from rackwright.tiles.layout import read_layout
from rackwright.tiles.machine import tile_server

TILES = REPOSITORY / "examples" / "tiles" / "secure.yaml"
_FOLDER = REPOSITORY / "software" / "tiles"
SOURCES = [_FOLDER / "secure.c", _FOLDER / "services" / "aes.c", _FOLDER / "services" / "datagram.c"]
PAYLOAD_BYTES = 32
WINDOW = 32
PUBLISHED_HZ = 2_500_000_000
"""The clock of the text's simulation."""

UNITS, PROGRAMS = "uuu", "ppp"
"""The implementation of encryption, network and decryption."""

_PACKETS = {UNITS: 400, PROGRAMS: 100}


@dataclass(frozen=True)
class SecureRun:
    """The result of the figure's program, for `packets` that all returned unchanged."""

    packets: int
    payload_bytes: int
    cycles: int
    instructions: int
    p50_cycles: int
    p99_cycles: int
    clock_hz: int
    digest: str

    @property
    def cycles_per_packet(self) -> float:
        """From the first push to the last pop, for each packet."""
        return self.cycles / self.packets

    def per_second(self, hertz: int) -> float:
        """Packets a second at that clock."""
        return hertz / self.cycles_per_packet

    def megabits_per_second(self, hertz: int) -> float:
        """Their data."""
        return self.per_second(hertz) * self.payload_bytes * 8 / 1e6


def server() -> Server:
    """Three harts, and the units of the figure on tiles."""
    return tile_server(read_layout(TILES))


def run_packets(
    by: str,
    packets: int,
    *,
    payload_bytes: int = PAYLOAD_BYTES,
    window: int = WINDOW,
    on: Server | None = None,
) -> SecureRun:
    """Runs the program; raises `RackwrightError` if a packet is changed."""
    program = compile_program(SOURCES, options=["-pthread"])
    result = (on or server()).run(program, [by, str(payload_bytes), str(packets), str(window)])
    numbers = [int(word) for word in result.stdout.split()]
    if result.exit_code != 0 or len(numbers) != 5 or numbers[0] != packets:
        raise RackwrightError(f"{SOURCES[0].name} ended with {result.exit_code} and said {result.stdout!r}")
    _, cycles, instructions, p50, p99 = numbers
    return SecureRun(packets, payload_bytes, cycles, instructions, p50, p99, result.clock_hz, result.digest)


def measure(settings: Settings) -> Outcome:
    """The figure by units, and by programs on the same harts; a quick run has a quarter of the packets."""
    on = server()
    runs = {}
    for by, packets in _PACKETS.items():
        settings.detail(f"pengwing-4.4: {packets} packets by {'units' if by == UNITS else 'programs'}")
        runs[by] = run_packets(by, packets // (4 if settings.quick else 1), on=on)
    units, programs = runs[UNITS], runs[PROGRAMS]
    rows = compare(
        "pengwing/figure_4_4.csv",
        {
            "by units: packets a second, at 2.5 GHz": units.per_second(PUBLISHED_HZ),
            "by units: data, at 2.5 GHz": units.megabits_per_second(PUBLISHED_HZ),
            "by units: packets a second": units.per_second(units.clock_hz),
            "by units: data": units.megabits_per_second(units.clock_hz),
            "by units: cycles of a packet": units.cycles_per_packet,
            "by units: cycles of a packet, under the bar of 3000": 3000 / units.cycles_per_packet,
            "by units: instructions of the caller for a packet": units.instructions / units.packets,
            "by programs: packets a second": programs.per_second(programs.clock_hz),
            "by programs: cycles of a packet": programs.cycles_per_packet,
            "units over programs": programs.cycles_per_packet / units.cycles_per_packet,
        },
        partial=settings.quick,
    )
    return Outcome(rows, [], [run.digest for run in runs.values()])


EXPERIMENT = Experiment(
    "pengwing-4.4",
    "Packets that are encrypted, sent, received and decrypted",
    "Pengwing, figures 4.1 and 4.4",
    "Two ciphers and `network`, whose frames come back, on 3 x 2 tiles; the same by programs on the harts.",
    measure,
)
