"""Installs missing tools with the system's package manager, where possible."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from bootstrap import tools
from bootstrap.console import NotReadyError, say
from bootstrap.paths import LOGS, STAMPS
from bootstrap.tools import Tool

KNOWN = STAMPS / "tools"
"""The paths of tools found in an earlier run, whose versions are not queried again."""


def ensure_tools(verb: str) -> None:
    """Installs the missing tools of a verb.

    Raises `NotReadyError` with one line that names the packages when that cannot be done here.
    """
    if missing := to_install(verb):
        install(missing, tools.needed(verb))


def to_install(verb: str, extras: Collection[str] = ()) -> tuple[Tool, ...]:
    """The tools of a verb with these extra steps that are missing and can be installed here.

    Raises `NotReadyError` with one line that names the packages when a required one cannot be.
    """
    wanted = tools.needed(verb, extras)
    if _are_known(wanted):
        return ()
    tools.find_all(wanted)
    missing = tuple(tool for tool in wanted if tools.find(tool) is None)
    if not all(tool.optional for tool in missing) or _may_try_optional(missing):
        if _privilege() is not None:
            return missing
        _explain(missing)
    _remember(wanted)
    return ()


def install(missing: Sequence[Tool], wanted: tuple[Tool, ...]) -> None:
    """Installs missing tools, after which all of `wanted` have to be there.

    Raises `NotReadyError` with one line that names the packages when a required one is not.
    """
    _install(missing, _privilege() or [])
    tools.forget()
    _explain([tool for tool in wanted if tools.find(tool) is None])
    _remember(wanted)


def _search() -> str:
    """The key that determines which programs are found and whether they are suitable."""
    parts = (Path(tools.__file__).read_bytes(), os.environ.get("PATH", "").encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _are_known(wanted: tuple[Tool, ...]) -> bool:
    """Whether an earlier run with the same search paths found these tools, and they still exist."""
    if not KNOWN.exists():
        return False
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    places = known["places"]
    if known["search"] != _search() or not {tool.name for tool in wanted} <= places.keys():
        return False
    if any(places[tool.name] is None for tool in wanted if not tool.optional):
        return False
    return all(os.access(path, os.R_OK) for path in places.values() if path is not None)


def _remember(wanted: tuple[Tool, ...]) -> None:
    found = {tool.name: tools.find(tool) for tool in wanted}
    places = {name: tool.path if tool else None for name, tool in found.items()}
    KNOWN.parent.mkdir(parents=True, exist_ok=True)
    fresh = KNOWN.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps({"search": _search(), "places": places}), encoding="utf-8")
    fresh.replace(KNOWN)


def _may_try_optional(missing: Sequence[Tool]) -> bool:
    """Optional tools are requested once; a mark records that the archive did not have them."""
    return bool(missing) and not (LOGS / "packages.log").exists()


def _privilege() -> list[str] | None:
    """The command prefix of `apt-get`, or None if packages cannot be installed."""
    if shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    asks = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n"] if asks.returncode == 0 else None


def _explain(missing: Sequence[Tool]) -> None:
    """Raises `NotReadyError` with one line that installs all packages, if a requirement is missing."""
    names = ", ".join(tool.name for tool in missing if not tool.optional)
    if not names:
        return
    install = "apt-get update && apt-get install -y --no-install-recommends"
    packages = " ".join(name for tool in missing for name in packages_of(tool) or _unseen(tool))
    raise NotReadyError(f"missing: {names}; install with: sudo sh -c '{install} {packages}'")


def _unseen(tool: Tool) -> list[str]:
    """The packages to request from an archive whose index is not loaded yet: only those that it must have."""
    return [] if tool.optional else _with_companions(tool, tool.packages[0])


def packages_of(tool: Tool) -> list[str]:
    """The packages of this machine's archive that bring `tool`; empty when it has none.

    That is the best of the tool's names, and beside it the companions in the same version.
    """
    for pattern in tool.packages:
        candidates = _available(pattern)
        if candidates:
            return _with_companions(tool, max(candidates, key=_version_key))
    return []


def _with_companions(tool: Tool, package: str) -> list[str]:
    suffix = re.sub(r"^rustc", "", package)
    return [package, *(name.replace("*", suffix) for name in tool.companions)]


def _version_key(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]


def _available(pattern: str) -> list[str]:
    """Names in the archive that match `pattern`, in which `*` stands for digits."""
    if shutil.which("apt-cache") is None:
        return []
    expression = "^" + re.escape(pattern).replace(r"\*", "[0-9]+") + "$"
    result = subprocess.run(
        ["apt-cache", "search", "--names-only", expression],
        capture_output=True,
        text=True,
        check=False,
    )
    return [line.split(" ", 1)[0] for line in result.stdout.splitlines()]


@cache
def _read_index(*prefix: str) -> None:
    """Once for all that is installed."""
    say("packages: reading the archive's index (apt-get update)")
    _apt([*prefix, "apt-get", "update", "-q"])


def _install(missing: Sequence[Tool], prefix: list[str]) -> None:
    _read_index(*prefix)
    names = [name for tool in missing for name in packages_of(tool)]
    if not names:
        return
    say(f"packages: installing {' '.join(names)}")
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    options = ["install", "-y", "-q", "--no-install-recommends"]
    _apt([*prefix, *environment, "apt-get", *options, *names])


def _apt(command: list[str]) -> None:
    """Runs apt; its output goes to a log, and the reason of a failure also to the user.

    Missing tools are then reported later.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    result = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    with open(LOGS / "packages.log", "a", encoding="utf-8") as log:
        log.write(result.stdout)
    reasons = [line for line in result.stdout.splitlines() if line.startswith("E: ")]
    if result.returncode != 0 and reasons:
        say(f"packages: {reasons[0]}")
