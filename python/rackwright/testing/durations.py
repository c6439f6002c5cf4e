"""A plug-in of pytest that lists the files of tests that took longest: `-p rackwright.testing.durations`."""

from __future__ import annotations

from collections import defaultdict

import pytest

LONGEST = 20
"""The number of listed files."""


class Durations:
    """Sums up the times of each file: set-up, tests and tear-down."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One of the three phases of a test."""
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the list, which says which files `LONGEST_FIRST` of conftest.py should have."""
        times = sorted(((seconds, file) for file, seconds in self._seconds.items()), reverse=True)
        longest = [(seconds, file) for seconds, file in times[:LONGEST] if seconds >= 1]
        if longest:
            terminalreporter.section(f"slowest {LONGEST} files")
        for seconds, file in longest:
            terminalreporter.write_line(f"{seconds:.2f}s {file}")


def pytest_configure(config: pytest.Config) -> None:
    """Listens in the process that hears of all tests, not in those that run them for it."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations())
