"""The files that tests read, and whether `./rw test --changed` knows that they do.

`python -m rackwright.testing.reads [TEST…]` runs files of tests under `strace`, which sees what pytest and
all processes that it starts open, of any language. A test can notice a change, such as a mutant, only in a
file that it reads. Each file of the repository that is read must therefore be one whose change selects the
test: what `--changed` leaves out then fails on no mutant of any file. Files whose change would not are
listed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from bootstrap.paths import PYTHON, REPOSITORY
from rackwright.reports.history import git
from rackwright.testing.imports import files_of_tests
from rackwright.testing.selection import affected

_OPENED = re.compile(r'open(?:at)?\((?:AT_FDCWD, |\d+, )?"([^"]+)".*\) = \d+')
_COMPILED = re.compile(r"__pycache__/(\w+)\.[\w.-]+\.pyc$")


def opened(trace: Iterable[str]) -> Iterator[str]:
    """The paths that were opened for reading, by the lines of `strace`; of a compiled module, its source."""
    for line in trace:
        found = _OPENED.search(line)
        if found and "O_WRONLY" not in line and "O_DIRECTORY" not in line:
            yield _COMPILED.sub(r"\1.py", found[1])


def read_by(test: str) -> tuple[set[str], bool]:
    """The files of the repository that the tests of a file read, and whether they passed."""
    known = set(git("ls-files").split("\n"))
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        watched = ("strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=open,openat", "-o", str(trace))
        tested = (sys.executable, "-m", "pytest", "-q", "-m", "not long", "-p", "no:cacheprovider", test)
        ended = subprocess.run([*watched, *tested], cwd=PYTHON, stdout=subprocess.DEVNULL, check=False)
        with open(trace, encoding="utf-8", errors="replace") as lines:
            # Paths are as seen from where a process is: most are absolute, or from pytest's folder.
            paths = {os.path.relpath(PYTHON / path, REPOSITORY) for path in opened(lines)}
    return paths & known, ended.returncode == 0


def unknown(test: str, read: Iterable[str]) -> list[str]:
    """Those of the files that were read whose change would not select the test."""
    selected = ((path, affected([REPOSITORY / path]).tests) for path in sorted(read))
    return [path for path, tests in selected if tests is not None and test not in tests]


def main() -> int:
    """Prints for each file of tests what it reads without being selected."""
    parser = argparse.ArgumentParser(prog="python -m rackwright.testing.reads", description=__doc__)
    parser.add_argument("tests", nargs="*", help="files of tests, as tests/test_x.py; without them, all")
    missed = 0
    for test in parser.parse_args().tests or [each.name for each in files_of_tests()]:
        read, passed = read_by(test)
        missing = unknown(test, read)
        missed += len(missing)
        said = f"not selected by {', '.join(missing)}" if missing else "selected by all"
        print(f"{test}: {len(read)} files, {said}{'' if passed else ' (has FAILED)'}", flush=True)
    print(f"{missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
