"""What tests read, as `strace` sees it, and whether `./rw test --changed` selects them for it."""

from __future__ import annotations

import shutil

import pytest
from tiers import long

from rackwright.testing.imports import files_of_tests
from rackwright.testing.reads import opened, read_by, unknown

QUICK = "tests/test_whole.py"
"""It takes a second."""


def test_a_trace_has_what_was_read() -> None:
    trace = [
        '12 openat(AT_FDCWD, "/a/b.py", O_RDONLY|O_CLOEXEC) = 3',
        '12 openat(AT_FDCWD, "/a/none.py", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)',
        '13 openat(AT_FDCWD, "/a/written", O_WRONLY|O_CREAT, 0666) = 4',
        '13 openat(AT_FDCWD, "/a", O_RDONLY|O_DIRECTORY) = 4',
        '13 open("/a/__pycache__/module.cpython-311.pyc", O_RDONLY) = 5',
        "12 +++ exited with 0 +++",
    ]
    assert list(opened(trace)) == ["/a/b.py", "/a/module.py"]


def test_what_would_not_select_it_is_listed() -> None:
    read = ["python/tests/test_codecs.py", "docs/json.md", QUICK.replace("tests", "python/tests")]
    assert unknown(QUICK, read) == ["docs/json.md", "python/tests/test_codecs.py"]
    assert unknown(QUICK, ["rw", "python/rackwright/files/whole.py", "hardware/pom.xml"]) == []


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize(
    "test",
    [
        QUICK,
        *(long(each.name, why="all tests once more, under strace") for each in files_of_tests()),
    ],
)
def test_whatever_a_test_reads_selects_it(test: str) -> None:
    """No change, such as a mutant, is noticed by a test that --changed leaves out."""
    read, passed = read_by(test)
    assert passed
    assert QUICK.replace("tests", "python/tests") in read or test != QUICK
    assert unknown(test, read) == []
