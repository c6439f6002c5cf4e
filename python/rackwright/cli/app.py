"""The verbs and the handling of their errors."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterable

import typer

from bootstrap.console import EXIT_INTERRUPTED, EXIT_NOT_READY
from bootstrap.usage import VERBS, group_of
from rackwright.cli.output import EXIT_FAILED
from rackwright.errors import MissingBuildError, RackwrightError


def command_line(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """The command line with these verbs: only their modules are loaded, which takes half as long as all.

    The module of a verb has its name, and the verb in it too.
    """
    app = typer.Typer(
        name="rw",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    # With a callback, a single verb is still called by its name.
    app.callback()(_about)
    for name in verbs:
        verb = getattr(importlib.import_module(f"rackwright.cli.{name}"), name)
        if isinstance(verb, typer.Typer):
            app.add_typer(verb, name=name, rich_help_panel=group_of(name))
        else:
            app.command(name, rich_help_panel=group_of(name))(verb)
    return app


def _about() -> None:
    """Put RTL units into a server, run real software on it cycle by cycle, and measure the speed-up.

    Start with `./rw demo`. Every verb has its own --help with examples.
    """


def _expected_errors() -> tuple[type[Exception], ...]:
    """Errors that the user can cause; those of the engine only if the engine is built."""
    try:
        from rackwright._engine import EngineError
    except ImportError:
        return (RackwrightError,)
    return RackwrightError, EngineError


def main() -> int:
    """Runs the command line; an error that the user can fix is one line without a traceback."""
    verbs = [word for word in sys.argv[1:2] if word in VERBS]
    warnings.formatwarning = lambda message, *_: f"rw: {message}\n"
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
