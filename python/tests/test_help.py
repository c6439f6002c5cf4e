"""The help of every verb: examples that its parser takes, in a group of verbs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from bootstrap.usage import GROUPS
from rackwright.cli.app import command_line

_EXAMPLE = re.compile(r"^ +\./rw (.*)$", re.MULTILINE)

ROOT: Any = typer.main.get_command(command_line())


def leaves(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every verb that does something, with the words that call it."""
    commands = getattr(command, "commands", None)
    if not commands:
        yield name, command
        return
    for word, inner in commands.items():
        yield from leaves(inner, f"{name} {word}".strip())


VERBS = dict(leaves(ROOT))


def examples(name: str) -> list[str]:
    """The examples in the help of a verb, from the word after `./rw`. `test_offline.py` runs one of each."""
    found: list[str] = _EXAMPLE.findall(VERBS[name].help.partition("Example")[2])
    return found


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_has_an_example_that_it_takes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["rw"])
    assert any(f"{example} ".startswith(f"{name} ") for example in examples(name))
    for example in examples(name):
        # An example may begin with another verb, which makes what this one takes.
        verb = next(verb for verb in VERBS if f"{example} ".startswith(f"{verb} "))
        VERBS[verb].make_context(verb, shlex.split(example)[len(verb.split()) :])


def test_the_help_groups_verbs_as_the_usage_before_installation_does() -> None:
    groups: dict[str, set[str]] = {}
    for name, command in ROOT.commands.items():
        groups.setdefault(command.rich_help_panel, set()).add(name)
    assert groups == {group: set(verbs) for group, verbs in GROUPS.items()}
