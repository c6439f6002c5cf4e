"""From `rw ARGUMENTS` to the command line with everything it needs in place."""

from __future__ import annotations

import os
import sys

from bootstrap import builds, doctor, packages, tools
from bootstrap.console import EXIT_NOT_READY, NotReadyError, fail
from bootstrap.paths import VENV
from bootstrap.steps import bring_up_to_date


def verb_of(arguments: list[str]) -> str:
    """The verb that decides what must be there: `help` for anything that only prints help."""
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if not words or "--help" in words or words[0].startswith("-"):
        return "help"
    return words[0]


def main(arguments: list[str]) -> int:
    """Prepares, then becomes the command line (does not return unless something is wrong)."""
    verb = verb_of(arguments)
    if verb == "doctor":
        return doctor.main(arguments[1:])
    try:
        packages.ensure_tools(for_tests=verb == "test")
        tools.put_cargo_on_path()
        bring_up_to_date(builds.steps_for(verb))
    except NotReadyError as error:
        fail(str(error))
        return EXIT_NOT_READY
    except KeyboardInterrupt:
        return 130
    python = str(VENV / "bin" / "python")
    os.execve(python, [python, "-m", "rackwright.cli", *arguments], builds.build_environment())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
