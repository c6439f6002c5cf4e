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
    return any("$" in text for text in _texts(file))


def list_words(file: Path, above: tuple[Path, ...] = ()) -> list[str]:
    """The words of a list as slang's command line has them; `above` are the lists that lead to it.

    Raises `RackwrightError` for a variable that is not set, and a list that cannot be read or names itself.
    """
    words: list[str] = []
    given = iter(_split(file, _with_values(file, _text(file, above))))
    for word in given:
        if word in _LISTS + _FOLDERS + _FILES:
            named = next(given, None)
            if named is None:
                raise RackwrightError(f"{file}: {word} has nothing after it")
            path = _located(named, file)
            words += list_words(path, (*above, file)) if word in _LISTS else [word, str(path)]
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


def _texts(file: Path, above: tuple[Path, ...] = ()) -> Iterator[str]:
    text = _text(file, above)
    yield text
    for option, name in pairwise(_split(file, text)):
        if option in _LISTS and "$" not in name:
            yield from _texts(_located(name, file), (*above, file))


def _text(file: Path, above: tuple[Path, ...]) -> str:
    if any(file.resolve() == each.resolve() for each in above):
        raise RackwrightError(f"{above[-1]}: names {file}, which leads to it")
    try:
        return _COMMENT.sub(" ", file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RackwrightError(f"{file}: no such file") from None
    except OSError as error:
        raise RackwrightError(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise RackwrightError(f"{file}: not a list of files: its text is not UTF-8") from None


def _with_values(file: Path, text: str) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2] or match[3]
        if name not in os.environ:
            raise RackwrightError(f"{file}: ${name} is not set in the environment")
        return os.environ[name]

    return _VARIABLE.sub(value, text)


def _split(file: Path, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise RackwrightError(f"{file}: {error}") from None


def _located(name: str, file: Path) -> Path:
    """Where a path of a list leads: it is relative to the list."""
    return file.absolute().parent / name
