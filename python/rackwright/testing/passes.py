"""A plug-in of pytest that writes which files of tests have passed: `-p rackwright.testing.passes`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

OUTPUT = "RACKWRIGHT_PASSED"
"""The variable of the environment with the path of the file to write, a list of paths as pytest has them."""


class Passes:
    """Notes what becomes of the tests of each file.

    A file has passed when all its tests did that were to run: one that is skipped may have a reason that is
    gone the next time. Of a run that has failed, only files are listed that had tests; of one that was
    interrupted, none.
    """

    def __init__(self, output: Path) -> None:
        self._output = output
        self._passed: set[str] = set()
        self._others: set[str] = set()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be read."""
        if report.outcome != "passed":
            self._others.add(_file_of(report.nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One of the three phases of a test."""
        noted = self._passed if report.outcome == "passed" else self._others
        noted.add(_file_of(report.nodeid))

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Writes the list; files of which no test was to run are no failure where they were named."""
        named = session.config.args_source is pytest.Config.ArgsSource.ARGS
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and named:
            exitstatus = session.exitstatus = pytest.ExitCode.OK
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        whole = session.config.args if exitstatus == pytest.ExitCode.OK and named else []
        passed = {*self._passed, *whole} - self._others
        self._output.write_text(json.dumps(sorted(passed)), encoding="utf-8")


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def pytest_configure(config: pytest.Config) -> None:
    """Notes in the process that hears of all tests, not in those that run them for it."""
    if not hasattr(config, "workerinput") and (output := os.environ.get(OUTPUT)):
        config.pluginmanager.register(Passes(Path(output)))
