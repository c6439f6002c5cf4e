"""The verbs and how their errors end."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable

import typer

from bootstrap.console import EXIT_INTERRUPTED, EXIT_NOT_READY
from rackwright.cli.output import EXIT_FAILED
from rackwright.errors import MissingBuildError, RackwrightError

VERBS = {
    "demo": "demo:demo",
    "accelerate": "accelerate:accelerate",
    "run": "run:run",
    "image": "image:image",
    "boot": "boot:boot",
    "profile": "profile:profile",
    "trace": "trace:trace",
    "reproduce": "reproduce:reproduce",
    "dispatch": "dispatch:dispatch",
    "loadtest": "loadtest:loadtest",
    "explore": "explore:explore",
    "units": "units:units",
    "synth": "synth:synth",
    "doctor": "doctor:doctor",
    "test": "test:run_tests",
    "bench": "bench:bench",
    "protobuf": "protobuf:protobuf",
    "generate": "generate:generate",
}
"""The verbs: in which module of this package each is, and how it is called there."""


def command_line(verbs: Iterable[str] = tuple(VERBS)) -> typer.Typer:
    """The command line with these verbs: only their modules are loaded, which takes half as long as all."""
    app = typer.Typer(
        name="rw",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(_about)
    for name in verbs:
        module, attribute = VERBS[name].split(":")
        verb = getattr(importlib.import_module(f"rackwright.cli.{module}"), attribute)
        if isinstance(verb, typer.Typer):
            app.add_typer(verb, name=name)
        else:
            app.command(name)(verb)
    return app


def _about() -> None:
    """Put RTL units into a server, run real software on it cycle by cycle, and see what they gain.

    Start with `./rw demo`. Every verb has its own --help with examples.
    """


def _expected_errors() -> tuple[type[Exception], ...]:
    """What the user can cause; the engine's own only when there is an engine."""
    try:
        from rackwright._engine import EngineError
    except ImportError:
        return (RackwrightError,)
    return RackwrightError, EngineError


def main() -> int:
    """Runs the command line; an error that is the user's to fix is one line and no traceback."""
    verbs = [word for word in sys.argv[1:2] if word in VERBS]
    try:
        command_line(verbs or VERBS)(prog_name="./rw")
    except MissingBuildError as error:
        print(f"rw: {error}", file=sys.stderr)
        return EXIT_NOT_READY
    except _expected_errors() as error:
        print(f"rw: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return 0
