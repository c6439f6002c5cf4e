"""Traces for the Perfetto viewer: https://perfetto.dev/docs/reference/synthetic-track-event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rackwright.profiling.lanes import Lane, lanes
from rackwright.profiling.wire import message, number

if TYPE_CHECKING:
    from rackwright.profiling.observed import Hart, Profile, Slice

_BEGIN, _END, _COUNTER = 1, 2, 4
_SEQUENCE = number(10, 1)
_COUNTERS = 1 << 32
"""Tracks of counters are numbered from here on, those of threads from 1 on."""
_LANES = 1 << 40
"""Tracks of a hart's events besides calls."""
_FABRIC = 1 << 48
"""Tracks of a fabric's ports and cards."""


def perfetto(profile: Profile) -> bytes:
    """The time line: calls of each thread, and the counters of each hart."""
    packets = [_thread(profile, index) for index in range(len(profile.threads))]
    events: list[tuple[int, int, bytes]] = []
    for hart in profile.harts:
        packets += [_counter(hart, index, name) for index, name in enumerate(_names(profile))]
        events += _calls(profile, hart.slices)
        for index, lane in enumerate(lanes(profile, hart)):
            track = _LANES + (hart.hart << 16) + index
            packets.append(_lane(f"hart {hart.hart} {lane.title}", track))
            events += _happenings(lane, track)
        events += _samples(hart)
    for index, lane in enumerate(profile.fabric):
        track = _FABRIC + index
        packets.append(_lane(lane.title, track))
        events += _happenings(lane, track)
    # A stable order: simultaneous events keep their nesting.
    events.sort(key=lambda event: event[:2])
    packets += [
        number(8, cycle * 1_000_000_000 // profile.clock_hz) + _SEQUENCE + message(11, event)
        for cycle, _, event in events
    ]
    return b"".join(message(1, packet) for packet in packets)


def _names(profile: Profile) -> tuple[str, ...]:
    return ("instructions", *profile.counters)


def _thread(profile: Profile, index: int) -> bytes:
    thread = profile.threads[index]
    described = number(1, thread.process_number) + number(2, thread.number) + message(5, thread.title)
    return _SEQUENCE + message(60, number(1, index + 1) + message(4, described))


def _lane(title: str, track: int) -> bytes:
    return _SEQUENCE + message(60, number(1, track) + message(2, title))


def _happenings(lane: Lane, track: int) -> Iterator[tuple[int, int, bytes]]:
    """Begin and end of each event; of nested ones, the outer one begins first and ends last."""
    ends: list[int] = []
    for title, begin, end in lane.events:
        while ends and ends[-1] <= begin:
            ends.pop()
        ends.append(end)
        yield begin, len(ends), number(9, _BEGIN) + number(11, track) + message(23, title)
        yield end, -len(ends), number(9, _END) + number(11, track)


def _counter_track(hart: Hart, index: int) -> int:
    return _COUNTERS + (hart.hart << 16) + index


def _counter(hart: Hart, index: int, name: str) -> bytes:
    track = number(1, _counter_track(hart, index)) + message(2, f"hart {hart.hart} {name}") + message(8, b"")
    return _SEQUENCE + message(60, track)


def _calls(profile: Profile, slices: list[Slice]) -> Iterator[tuple[int, int, bytes]]:
    """Begin and end of calls with the order among those of one cycle: ends, innermost first, then begins."""
    for call in slices:
        track = number(11, call.thread + 1)
        name = message(23, profile.functions[call.function].title)
        yield call.begin, call.depth + 1, number(9, _BEGIN) + track + name
        yield call.end, -call.depth, number(9, _END) + track


def _samples(hart: Hart) -> Iterator[tuple[int, int, bytes]]:
    for cycle, *values in hart.samples.tolist():
        for index, value in enumerate(values):
            track = number(11, _counter_track(hart, index))
            yield cycle, 0, number(9, _COUNTER) + track + number(30, value)
