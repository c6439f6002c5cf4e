"""The page of the first hour, followed to the letter: its commands as one script, beside the checkout."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from command_line import REPOSITORY

PAGE = REPOSITORY / "docs" / "getting-started.md"

COMMANDS = re.compile(r"(?:^    \S.*\n)+", re.MULTILINE)
"""A block of commands, which Markdown indents by four."""

ELSEWHERE = ("./rw demo", "./rw test")
"""The longest of them: what they do has its own tests, and this is one."""


def commands() -> list[str]:
    """The commands of the page, in its order; code of files that it quotes is between fences."""
    text = re.sub(r"^```.*?^```$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    lines = [line.strip() for block in COMMANDS.findall(text) for line in block.splitlines()]
    assert lines[: len(ELSEWHERE)] == list(ELSEWHERE)
    return lines[len(ELSEWHERE) :]


def test_the_commands_of_the_page_do_what_it_says(tmp_path: Path) -> None:
    for entry in REPOSITORY.iterdir():
        (tmp_path / entry.name).symlink_to(entry)
    script = tmp_path / "first-hour.sh"
    script.write_text("".join(f"{command}\n" for command in commands()), encoding="utf-8")
    ended = subprocess.run(
        ["sh", "-eux", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=900
    )
    assert ended.returncode == 0, ended.stderr
    # Two models from Python, and one from the command line.
    assert ended.stdout.count("hello, rack\nhello, wright\n") == 3
    packed = (tmp_path / "README.md.sz").stat().st_size
    assert 0 < packed < (REPOSITORY / "README.md").stat().st_size
