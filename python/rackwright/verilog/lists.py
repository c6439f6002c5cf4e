"""Reads lists of files (`.f`): their words, with absolute paths and the values of variables.

The tools do that themselves; one in WebAssembly has no environment.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from rackwright.errors import RackwrightError

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|#[^\n]*", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")

_LISTS = ("-f", "-F")
_FOLDERS = ("-I", "-y", "--include-directory", "--libdir")
_FILES = ("-v", "--libfile")


def has_variables(file: Path) -> bool:
    """Whether a list, or one that it names, has variables of the environment."""
    return any("$" in text for _, text in _texts(file))


def list_words(file: Path) -> list[str]:
    """The words of a list as slang's command line has them.

    Raises `RackwrightError` for a variable that is not set, or a list that is not there.
    """
    words: list[str] = []
    given = iter(_given(file, _text(file)))
    for word in given:
        if word in _LISTS:
            words += list_words(_located(next(given, ""), file))
        elif word in _FOLDERS + _FILES:
            words += [word, str(_located(next(given, ""), file))]
        elif attached := re.fullmatch(r"(-I|-y)(.+)", word):
            words += [attached[1], str(_located(attached[2], file))]
        elif word.startswith("+incdir+"):
            folders = word.removeprefix("+incdir+").split("+")
            words += [each for folder in folders if folder for each in ("-I", str(_located(folder, file)))]
        elif word.startswith(("-", "+")):
            words.append(word)
        else:
            words.append(str(_located(word, file)))
    return words


def _texts(file: Path) -> Iterator[tuple[Path, str]]:
    text = _text(file)
    yield file, text
    words = shlex.split(text)
    for option, name in pairwise(words):
        if option in _LISTS and "$" not in name:
            yield from _texts(_located(name, file))


def _text(file: Path) -> str:
    try:
        return _COMMENT.sub(" ", file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RackwrightError(f"{file}: no such file") from None


def _given(file: Path, text: str) -> list[str]:
    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2] or match[3]
        if name not in os.environ:
            raise RackwrightError(f"{file}: ${name} is not set in the environment")
        return os.environ[name]

    return shlex.split(_VARIABLE.sub(value, text))


def _located(name: str, file: Path) -> Path:
    """Where a path of a list leads: it is relative to the list."""
    return file.absolute().parent / name
