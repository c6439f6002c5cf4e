"""The report of a profile: one self-contained HTML page."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rackwright.errors import RackwrightError
from rackwright.profiling.compare import Stacks, comparison
from rackwright.profiling.folded import folded
from rackwright.profiling.lanes import Lane, lanes
from rackwright.reports.page import page

if TYPE_CHECKING:
    from rackwright.profiling.observed import Hart, Profile

_SMALLEST = 1 / 20_000
"""Share of a hart's cycles below which a stack is drawn with its neighbours as one."""

_SLICES = 20_000
"""Calls that the time line has, the longest ones."""

_EVENTS = 4_000
"""Events that each lane of the time line has, the longest ones."""

_SAMPLES = 2_000
"""Points that a counter's curve has."""

_STACKS = 24
"""Functions whose cycles per instruction are drawn."""

_DATA = re.compile(r"<script type='application/json' id='data'>(.*?)</script>", re.DOTALL)


def report(profile: Profile, other: Stacks | None = None) -> str:
    """The page; with an `other` profile, it shows the differences."""
    data = report_data(profile)
    if other is not None:
        here = Stacks.of_text(f"{profile.command} on {profile.cpu}", folded(profile))
        data["comparison"] = comparison(here, other)
    return _page(data)


def compared_report(html: str, here: Stacks, there: Stacks) -> str:
    """An existing page, with the difference from another profile.

    Raises `RackwrightError` when it is none.
    """
    found = _DATA.search(html)
    if not found:
        raise RackwrightError("the report has no data; was it made by `rw profile`?")
    return _page({**json.loads(found[1]), "comparison": comparison(here, there)})


def _page(data: dict[str, Any]) -> str:
    resources = files("rackwright.profiling")
    style = (resources / "report.css").read_text()
    script = (resources / "report.js").read_text()
    command = data["record"]["command"]
    # A page must not end in the middle of its data.
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    body = (
        f"<style>{style}</style>"
        f"<h1>Where the cycles went</h1><p class='lead'>{escape(command)}</p>"
        "<div id='report'></div>"
        f"<script type='application/json' id='data'>{text}</script>"
        f"<script>{script}</script>"
    )
    return page(f"Profile of {command}", body)


def report_data(profile: Profile) -> dict[str, Any]:
    """The data of the page, in the format of its script."""
    calls = profile.calls()
    return {
        "record": profile.record(),
        "functions": [each.title for each in profile.functions],
        "modules": [each.module for each in profile.functions],
        "durations": [each.durations for each in profile.functions],
        "slowest": [each.slowest for each in profile.functions],
        "threads": [each.title for each in profile.threads],
        "calls": json.loads(calls.to_json(orient="split", index=False)),
        "counters": ["instructions", *profile.counters],
        "cycle_stacks": json.loads(
            profile.cycle_stacks().head(_STACKS).round(4).to_json(orient="split", index=False)
        ),
        "sources": [f"{each.file}:{each.line}" if each.line else "" for each in profile.functions],
        "harts": [
            _hart(hart) | {"lanes": [_lane(lane) for lane in lanes(profile, hart)]} for hart in profile.harts
        ],
        "fabric": [_lane(lane) for lane in profile.fabric],
    }


def _lane(lane: Lane) -> dict[str, Any]:
    """A lane with its longest events as numbers: which name, begin and end."""
    longest = sorted(lane.events, key=lambda event: event[1] - event[2])[:_EVENTS]
    names = sorted({name for name, _, _ in longest})
    numbers = {name: index for index, name in enumerate(names)}
    events = sorted([numbers[name], begin, end] for name, begin, end in longest)
    return {"title": lane.title, "names": names, "events": sorted(events, key=lambda event: event[1])}


def _hart(hart: Hart) -> dict[str, Any]:
    longest = sorted(hart.slices, key=lambda call: call.begin - call.end)[:_SLICES]
    longest.sort(key=lambda call: (call.begin, call.depth))
    step = len(hart.samples) // _SAMPLES + 1
    return {
        "hart": hart.hart,
        "cycles": hart.cycles,
        "windows": hart.windows,
        "nodes": _nodes(hart),
        "slices": [[call.thread, call.depth, call.function, call.begin, call.end] for call in longest],
        "samples": hart.samples[::step].tolist(),
    }


def _nodes(hart: Hart) -> list[list[int]]:
    """Parent, label and own cycles of each node.

    Small ones are added up, with the label -1, below their parent.
    """
    tree = hart.tree
    least = hart.cycles * _SMALLEST
    places: dict[int, int] = {0: 0}
    nodes = [[0, 0, tree.cycles[0]]]
    smaller: dict[int, int] = {}
    for node in range(1, len(tree.parents)):
        parent = places.get(tree.parents[node])
        if parent is None:
            continue
        if tree.inclusive[node] >= least:
            places[node] = len(nodes)
            nodes.append([parent, tree.labels[node], tree.cycles[node]])
        elif tree.inclusive[node]:
            smaller[parent] = smaller.get(parent, 0) + tree.inclusive[node]
    nodes += [[parent, -1, cycles] for parent, cycles in smaller.items()]
    return nodes
