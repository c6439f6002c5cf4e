"""From `rw ARGUMENTS` to the command line with everything it needs in place."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from bootstrap import builds, doctor, packages, tools
from bootstrap.console import EXIT_INTERRUPTED, EXIT_NOT_READY, NotReadyError, fail
from bootstrap.paths import VENV
from bootstrap.steps import bring_up_to_date

VERBS = ("demo", "accelerate", "run", "reproduce", "bench", "protobuf", "units", "doctor", "test")
"""The verbs that need more than the command line's own packages."""


def verb_of(arguments: list[str]) -> str:
    """The verb that decides what must be there: `help` for what only prints help or a complaint."""
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    asks_for_help = not words or "--help" in words or "-h" in words
    return "help" if asks_for_help or words[0] not in VERBS else words[0]


def uses_protobuf(arguments: list[str]) -> bool:
    """Whether the official protobuf library is needed, which takes minutes to make."""
    words = [word for word in arguments if not word.startswith("-")]
    verb, rest = (words or ["help"])[0], words[1:]
    if verb == "reproduce":
        return not rest or any(word.startswith("proto-") for word in rest)
    return verb in ("protobuf", "test") or (verb == "bench" and rest[:1] == ["protobuf"])


def prepare(verb: str, with_protobuf: bool) -> None:
    """Installs and builds what `verb` needs; raises `NotReadyError` when that is not possible."""
    packages.ensure_tools(for_tests=verb == "test")
    tools.put_cargo_on_path()
    bring_up_to_date(builds.steps_for(verb, with_protobuf))


def become_command_line(arguments: list[str]) -> NoReturn:
    """Replaces this process by the command line, which runs in the virtual environment."""
    python = str(VENV / "bin" / "python")
    os.execve(python, [python, "-m", "rackwright.cli", *arguments], builds.build_environment())


def main(arguments: list[str]) -> int:
    """Prepares, then becomes the command line; gives an exit status when it cannot."""
    verb = verb_of(arguments)
    if verb == "doctor":
        return doctor.main(arguments[1:])
    try:
        prepare(verb, uses_protobuf(arguments))
    except NotReadyError as error:
        fail(str(error))
        return EXIT_NOT_READY
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    become_command_line(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
