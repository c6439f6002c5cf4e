"""From `rw ARGUMENTS` to the command line with all its requirements in place."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from bootstrap import builds, doctor, packages, tools, usage, venv
from bootstrap.console import EXIT_INTERRUPTED, EXIT_NOT_READY, NotReadyError, fail
from bootstrap.paths import VENV
from bootstrap.steps import bring_up_to_date


def verb_of(arguments: list[str]) -> str:
    """The verb whose requirements are installed: `help` for arguments that only print help or an error."""
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    asks_for_help = not words or "--help" in words or "-h" in words
    return "help" if asks_for_help or words[0] not in usage.VERBS else words[0]


def extras_of(arguments: list[str]) -> set[str]:
    """The builds for these arguments beyond those of most verbs."""
    words = [word for word in arguments if not word.startswith("-")]
    verb, rest = verb_of(arguments), words[1:]
    if verb == "test":
        return set(builds.EXTRAS)
    if verb in ("help", "image", "generate"):
        return set()
    extras = set()
    if verb == "run" and "rocket-rtl" in " ".join(arguments).replace("=", " ").split():
        extras.add(builds.ROCKET_RTL)
    reproduces = verb == "reproduce" and "--list" not in arguments
    if reproduces and (not rest or any(word.startswith("proto-") for word in rest)):
        extras.add(builds.PROTOBUF_LIBRARY)
    if any(word.endswith((".json", ".yaml")) for word in rest):
        extras.add(builds.MANIFESTS)
        if verb == "synth" or "synthesised" in " ".join(arguments).replace("=", " ").split():
            extras.add(builds.FRONT_END)
    if any(word.endswith((".core", ".rdl")) for word in rest):
        extras.add(builds.CORES)
    if verb == "profile":
        extras.add(builds.PARQUET)
    if verb == "docs":
        extras.add(builds.DOCS)
    if verb == "protobuf" or (verb == "bench" and rest[:1] in (["protobuf"], ["small"], ["units"])):
        extras.add(builds.PROTOBUF_LIBRARY)
    if verb == "bench" and rest[:1] == ["compression"]:
        extras.add(builds.COMPRESSION)
    if verb == "bench" and rest[:1] == ["units"] and "--library" in arguments:
        extras.add(builds.COMPRESSION)
    return extras


def prepare(verb: str, extras: set[str]) -> None:
    """Installs and builds what `verb` needs; raises `NotReadyError` if that is not possible."""
    missing = packages.to_install(verb, extras)
    tools.put_cargo_on_path()

    def install(part: tuple[tools.Tool, ...], wanted: tuple[tools.Tool, ...]) -> None:
        packages.install(part, wanted)
        tools.put_cargo_on_path()

    steps = builds.steps_for(verb, extras)
    if missing:
        steps = builds.after_installing(missing, tools.needed(verb, extras), install, steps)
    bring_up_to_date(steps)
    venv.settle()


def become_command_line(arguments: list[str]) -> NoReturn:
    """Replaces this process by the command line, which runs in the virtual environment."""
    python = str(VENV / "bin" / "python")
    os.execve(python, [python, "-m", "rackwright.cli", *arguments], builds.build_environment())


def main(arguments: list[str]) -> int:
    """Prepares, then executes the command line; returns an exit status if it cannot."""
    verb = verb_of(arguments)
    if verb == "doctor":
        return doctor.main(arguments[1:])
    if verb == "help" and not builds.steps_for("help")[0].is_current():
        print(usage.text())
        return 0
    try:
        prepare(verb, extras_of(arguments))
    except NotReadyError as error:
        fail(str(error))
        return EXIT_NOT_READY
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    become_command_line(arguments)


def script() -> int:
    """The console script `rackwright` of an environment that Rackwright was installed into."""
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
