"""Figures 4.6 and 4.7: packets of 64 and of 1024 bytes through the network, as streams and as descriptors."""

from __future__ import annotations

from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.pengwing.secure import SecureRun, run_packets, server
from rackwright.reproduce.reference import compare

SMALL, LARGE = 64, 1024
"""Bytes of data in a packet."""

STREAMS, DESCRIPTORS, PROGRAMS = "-u-", "-d-", "-p-"
"""The network without ciphers: by the unit, with data or descriptors in the queues, and by a program."""

_CALLED = {STREAMS: "a unit, streams", DESCRIPTORS: "a unit, descriptors", PROGRAMS: "a program, streams"}

_PACKETS = {
    (STREAMS, SMALL): 200,
    (STREAMS, LARGE): 60,
    (DESCRIPTORS, SMALL): 200,
    (DESCRIPTORS, LARGE): 100,
    (PROGRAMS, SMALL): 60,
    (PROGRAMS, LARGE): 20,
}


def _runs(settings: Settings, figure: str) -> dict[tuple[str, int], SecureRun]:
    """A run for each size and each server; a quick one has a quarter of the packets."""
    on = server()
    runs = {}
    for (by, size), packets in _PACKETS.items():
        settings.detail(f"{figure}: {size} bytes by {_CALLED[by]}")
        count = packets // (4 if settings.quick else 1)
        runs[by, size] = run_packets(by, count, payload_bytes=size, on=on)
    return runs


def measure_data(settings: Settings) -> Outcome:
    """Figure 4.6: bits a second."""
    runs = _runs(settings, "pengwing-4.6")
    data = {key: run.megabits_per_second(run.clock_hz) / 1e3 for key, run in runs.items()}
    rows = compare(
        "pengwing/figure_4_6.csv",
        {
            "streams: data of 1024 bytes over 64": data[STREAMS, LARGE] / data[STREAMS, SMALL],
            "streams: data, 64 bytes": data[STREAMS, SMALL],
            "streams: data, 1024 bytes": data[STREAMS, LARGE],
            "descriptors: data of 1024 bytes over 64": data[DESCRIPTORS, LARGE] / data[DESCRIPTORS, SMALL],
            "descriptors: data, 64 bytes": data[DESCRIPTORS, SMALL],
            "descriptors: data, 1024 bytes": data[DESCRIPTORS, LARGE],
            "streams over descriptors, 64 bytes": data[STREAMS, SMALL] / data[DESCRIPTORS, SMALL],
            "descriptors over streams, 1024 bytes": data[DESCRIPTORS, LARGE] / data[STREAMS, LARGE],
            "by a program: data, 64 bytes": data[PROGRAMS, SMALL],
            "by a program: data, 1024 bytes": data[PROGRAMS, LARGE],
            "the unit over a program, 64 bytes": data[STREAMS, SMALL] / data[PROGRAMS, SMALL],
            "the unit over a program, 1024 bytes": data[STREAMS, LARGE] / data[PROGRAMS, LARGE],
        },
        partial=settings.quick,
    )
    return Outcome(rows, [], [run.digest for run in runs.values()])


def measure_packets(settings: Settings) -> Outcome:
    """Figure 4.7: packets a second."""
    runs = _runs(settings, "pengwing-4.7")
    packets = {key: run.per_second(run.clock_hz) for key, run in runs.items()}
    rows = compare(
        "pengwing/figure_4_7.csv",
        {
            "streams: packets of 64 bytes over 1024": packets[STREAMS, SMALL] / packets[STREAMS, LARGE],
            "streams: packets, 64 bytes": packets[STREAMS, SMALL],
            "streams: packets, 1024 bytes": packets[STREAMS, LARGE],
            "descriptors: packets of 64 bytes over 1024": packets[DESCRIPTORS, SMALL]
            / packets[DESCRIPTORS, LARGE],
            "descriptors: packets, 64 bytes": packets[DESCRIPTORS, SMALL],
            "descriptors: packets, 1024 bytes": packets[DESCRIPTORS, LARGE],
            "by a program: packets, 64 bytes": packets[PROGRAMS, SMALL],
            "by a program: packets, 1024 bytes": packets[PROGRAMS, LARGE],
        },
        partial=settings.quick,
    )
    return Outcome(rows, [], [run.digest for run in runs.values()])


_RUNS = "`network`, whose frames come back, and a program in its place; queues of 1024 elements."

EXPERIMENTS = (
    Experiment(
        "pengwing-4.6",
        "Data through the network, by the size of packets",
        "Pengwing, figure 4.6",
        _RUNS,
        measure_data,
    ),
    Experiment(
        "pengwing-4.7",
        "Packets through the network, by their size",
        "Pengwing, figure 4.7",
        _RUNS,
        measure_packets,
    ),
)
