"""Protocol Buffers: the micro-benchmarks and the service-representative suite."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from rackwright.protobuf import Row, Summary, geometric_mean, measure, summarize
from rackwright.protobuf.suites import chosen_suite
from rackwright.reports.plots import Bar, bar_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

_TARGETS = ("host", "boom", "boom+unit")
_UNIT = "boom+unit"
_OVER = {"boom": "over an out-of-order core", "host": "over a server's core"}
"""The paper's references: a BOOM core, and one core of a Xeon; ours is the host's core."""

_CLASSES = {
    "proto-6.11a": ("deserialize", "inline", "Deserialization, fields without allocation", "11a"),
    "proto-6.11b": ("serialize", "inline", "Serialization, inline fields", "11b"),
    "proto-6.11c": ("deserialize", "allocated", "Deserialization, fields with allocation", "11c"),
    "proto-6.11d": ("serialize", "allocated", "Serialization, other fields", "11d"),
}
_SERVICES = {
    "proto-6.12": ("deserialize", "Deserialization of service-representative messages", "12"),
    "proto-6.13": ("serialize", "Serialization of service-representative messages", "13"),
}
_STYLES = {"host": "host", "boom": "core", _UNIT: "unit"}


@cache
def _rows(suite: str, operation: str) -> tuple[Row, ...]:
    """The measurements of a suite, which several experiments share."""
    return tuple(measure(chosen_suite(suite), [operation], _TARGETS))


def _speedups(summaries: Sequence[Summary]) -> dict[str, float]:
    return {_OVER[summary.over]: summary.speedup for summary in summaries}


def _chart(title: str, rows: Sequence[Row]) -> str:
    """A bar for each benchmark and target."""
    ordered = sorted(rows, key=lambda row: [each.benchmark for each in rows].index(row.benchmark))
    return bar_chart(
        f"{title}, Gbit/s",
        [
            Bar(
                f"{row.benchmark} {row.target}",
                row.gigabits_per_second,
                f"{row.gigabits_per_second:.2f}",
                _STYLES[row.target],
            )
            for row in ordered
        ],
    )


def _measure_class(name: str, settings: Settings) -> Outcome:
    operation, group, title, figure = _CLASSES[name]
    settings.detail(f"{name}: {operation}")
    rows = [row for row in _rows("fields", operation) if row.group == group]
    return Outcome(
        compare(f"protobuf/figure_{figure}.csv", _speedups(summarize(rows))), [_chart(title, rows)]
    )


def _measure_all(settings: Settings) -> Outcome:
    """The geometric mean of the four classes."""
    speedups: dict[str, list[float]] = {}
    for operation in ("deserialize", "serialize"):
        settings.detail(f"proto-6.11: {operation}")
        for summary in summarize(_rows("fields", operation)):
            speedups.setdefault(_OVER[summary.over], []).append(summary.speedup)
    means = {over: geometric_mean(values) for over, values in speedups.items()}
    return Outcome(compare("protobuf/figure_11.csv", means))


def _measure_services(name: str, settings: Settings) -> Outcome:
    operation, title, figure = _SERVICES[name]
    settings.detail(f"{name}: {operation}")
    rows = _rows("services", operation)
    return Outcome(
        compare(f"protobuf/figure_{figure}.csv", _speedups(summarize(rows))), [_chart(title, rows)]
    )


_SOURCE = "Karandikar 2021 (MICRO), section"
_RUNS = "one core of the host, `boom`, and `boom` with the unit; official library 3.21.12"


def _class_experiment(name: str) -> Experiment:
    _, _, title, figure = _CLASSES[name]
    return Experiment(
        name, title, f"{_SOURCE} 5.1, figure {figure}", _RUNS, lambda settings: _measure_class(name, settings)
    )


def _services_experiment(name: str) -> Experiment:
    _, title, figure = _SERVICES[name]
    source = f"{_SOURCE} 5.2, figure {figure}"
    return Experiment(name, title, source, _RUNS, lambda settings: _measure_services(name, settings))


EXPERIMENTS = (
    *(_class_experiment(name) for name in _CLASSES),
    Experiment(
        "proto-6.11", "Geometric mean of the four classes of fields", f"{_SOURCE} 5.1.3", _RUNS, _measure_all
    ),
    *(_services_experiment(name) for name in _SERVICES),
)
