"""`--fabric` and `--capture` of the verbs that run a machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bootstrap.paths import REPOSITORY
from rackwright.cli.output import messages, working
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.fabric import AttachedFabric

FabricOption = Annotated[
    Path | None,
    typer.Option(metavar="SYSTEM.py", help="A file with a RootComplex: the PCIe fabric that software finds."),
]
CaptureOption = Annotated[
    list[str] | None,
    typer.Option(metavar="PORT", help="Keep the packets that leave a port, like root->switch0; repeatable."),
]


def attached_fabric(script: Path | None, capture: list[str] | None) -> AttachedFabric | None:
    """The fabric of a script, if one is given. Raises `RackwrightError` for one that cannot be."""
    if script is None:
        if capture:
            raise RackwrightError("--capture goes with --fabric, whose ports it names")
        return None
    from rackwright.fabric import AttachedFabric, load_system

    with working(f"{script.name}: cards"):
        return AttachedFabric(load_system(script), capture=capture or ())


def observed_fabric(script: Path | None) -> AttachedFabric | None:
    """The same for a profile, which shows all packets."""
    if script is None:
        return None
    from rackwright.fabric import AttachedFabric, load_system

    system = load_system(script)
    with working(f"{script.name}: cards"):
        return AttachedFabric(system, capture=system.ports)


def write_capture(fabric: AttachedFabric | None, name: str, capture: list[str] | None) -> None:
    """Writes what was captured to `out/fabric/NAME.jsonl`, and says so."""
    if fabric is None or not capture:
        return
    file = REPOSITORY / "out" / "fabric" / f"{name}.jsonl"
    fabric.write_capture(file)
    messages.print(f"packets in {file}", highlight=False, soft_wrap=True)
