"""The verbs and how their errors end."""

from __future__ import annotations

import sys

import typer

from bootstrap.console import EXIT_INTERRUPTED, EXIT_NOT_READY
from rackwright.cli.accelerate import accelerate
from rackwright.cli.bench import bench
from rackwright.cli.boot import boot
from rackwright.cli.demo import demo
from rackwright.cli.dispatch import dispatch
from rackwright.cli.doctor import doctor
from rackwright.cli.explore import explore
from rackwright.cli.generate import generate
from rackwright.cli.image import image
from rackwright.cli.loadtest import loadtest
from rackwright.cli.output import EXIT_FAILED
from rackwright.cli.profile import profile
from rackwright.cli.protobuf import bench_protobuf, protobuf
from rackwright.cli.reproduce import reproduce
from rackwright.cli.run import run
from rackwright.cli.synth import synth
from rackwright.cli.test import run_tests
from rackwright.cli.trace import trace
from rackwright.cli.units import units
from rackwright.errors import MissingBuildError, RackwrightError

app = typer.Typer(
    name="rw",
    help=(
        "Put RTL units into a server, run real software on it cycle by cycle, and see what they gain.\n\n"
        "Start with `./rw demo`. Every verb has its own --help with examples."
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)

for verb in (
    demo,
    accelerate,
    run,
    image,
    boot,
    profile,
    trace,
    reproduce,
    dispatch,
    loadtest,
    explore,
    units,
    synth,
    doctor,
):
    app.command()(verb)
app.command("test")(run_tests)
bench.command("protobuf")(bench_protobuf)
app.add_typer(bench, name="bench")
app.add_typer(protobuf, name="protobuf")
app.add_typer(generate, name="generate")


def _expected_errors() -> tuple[type[Exception], ...]:
    """What the user can cause; the engine's own only when there is an engine."""
    try:
        from rackwright._engine import EngineError
    except ImportError:
        return (RackwrightError,)
    return RackwrightError, EngineError


def main() -> int:
    """Runs the command line; an error that is the user's to fix is one line and no traceback."""
    try:
        app(prog_name="./rw")
    except MissingBuildError as error:
        print(f"rw: {error}", file=sys.stderr)
        return EXIT_NOT_READY
    except _expected_errors() as error:
        print(f"rw: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return 0
