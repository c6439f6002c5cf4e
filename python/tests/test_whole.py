"""Files that others read while they are written anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.files.whole import make_whole, write_whole


def test_what_was_there_is_replaced_at_once(tmp_path: Path) -> None:
    """While it is made, readers find what was there before; the name ends as the file's does."""
    file = tmp_path / "kept.json"
    write_whole(file, "before")

    def make(unfinished: Path) -> None:
        assert unfinished.parent == tmp_path
        assert unfinished.suffix == ".json"
        unfinished.write_text("after", encoding="utf-8")
        assert file.read_text(encoding="utf-8") == "before"

    make_whole(file, make)
    assert file.read_text(encoding="utf-8") == "after"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("begun", [False, True])
def test_what_fails_or_is_ended_leaves_what_was_there(
    tmp_path: Path, error: type[BaseException], begun: bool
) -> None:
    file = tmp_path / "kept"
    write_whole(file, "before")

    def make(unfinished: Path) -> None:
        if begun:
            unfinished.write_text("half", encoding="utf-8")
        raise error

    with pytest.raises(error):
        make_whole(file, make)
    assert file.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [file]
