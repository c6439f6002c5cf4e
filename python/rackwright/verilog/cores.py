"""Reads core files of FuseSoC (CAPI 2): the sources of a target, with those of cores that it depends on."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.errors import MissingBuildError, RackwrightError
from rackwright.verilog.reader import VerilogSources

if TYPE_CHECKING:
    from fusesoc.coremanager import CoreManager

DEFAULT_TARGET = "default"
"""The target of a core when none is named."""

_VERILOG = ("verilogSource", "systemVerilogSource")


@dataclass(frozen=True)
class CoreTarget:
    """A target of a core: its sources, and the values that it has for parameters of its top module."""

    sources: VerilogSources
    parameters: Mapping[str, int | str]


def read_core(path: Path, target: str, top: str | None = None) -> CoreTarget:
    """The sources of a target of the core in `path`, those of cores that it depends on before its own.

    These are looked for in the folder of `path` and below it. `top` is its top module, by default what the
    target says. Raises `RackwrightError` for a file that is not a core, a target that it does not have, and
    sources that only FuseSoC can make or fetch.
    """
    if not path.is_file():
        raise RackwrightError(f"{path}: no such file")
    with _manager(path) as manager:
        core = _core(manager, path)
        flags = {"target": target, "tool": "verilator", "is_toplevel": True}
        if core.get_target(flags) is None:
            known = ", ".join(core.get_data({}).targets) or "none"
            raise RackwrightError(f"{path}: has no target {target}; there are {known}")
        cores = _depends(manager, core, flags, path)
        try:
            return _target(cores, flags, path, top)
        except SyntaxError as error:
            # What FuseSoC raises for a parameter that no core has, or a value that is not of its type.
            raise RackwrightError(f"{path}: {' '.join(str(error.msg).split())}") from None


@contextmanager
def _manager(path: Path) -> Iterator[CoreManager]:
    """FuseSoC, with the cores in the folder of `path` and no settings of this machine."""
    try:
        from fusesoc.config import Config
        from fusesoc.coremanager import CoreManager
        from fusesoc.librarymanager import Library
    except ImportError:
        raise MissingBuildError("FuseSoC, which reads core files", f"./rw units scan {path.name}") from None
    logging.getLogger("fusesoc").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="cores-") as folder:
        settings = Path(folder) / "fusesoc.conf"
        settings.write_text(f"[main]\ncache_root = {folder}/cache\nlibrary_root = {folder}/libraries\n")
        manager = CoreManager(Config(str(settings)))
        folder_of_core = str(path.absolute().parent)
        manager.add_library(Library(folder_of_core, folder_of_core), [])
        yield manager


def _core(manager: CoreManager, path: Path) -> Any:
    for core in manager.get_cores().values():
        if Path(core.core_file).resolve() == path.resolve():
            return core
    reasons = [reason for file, reason in manager.parse_errors if Path(file).resolve() == path.resolve()]
    reason = reasons[0] if reasons else "its first line must be `CAPI=2:`"
    raise RackwrightError(f"{path}: is not a core file: {' '.join(reason.split())}")


def _depends(manager: CoreManager, core: Any, flags: Mapping[str, Any], path: Path) -> list[Any]:
    from fusesoc.coremanager import DependencyError

    try:
        return list(manager.get_depends(core.name, dict(flags)))
    except DependencyError as error:
        reason = " ".join((error.msg or str(error)).split())
        raise RackwrightError(f"{path}: {reason}, in {path.absolute().parent} or below") from None
    except RuntimeError as error:
        raise RackwrightError(f"{path}: {' '.join(str(error).split())}") from None


def _target(cores: list[Any], flags: Mapping[str, Any], path: Path, top: str | None) -> CoreTarget:
    files: list[Path] = []
    include: dict[Path, None] = {}
    values: dict[str, dict[str, Any]] = {}
    for core in cores:
        own = {**flags, "is_toplevel": core is cores[-1]}
        if core.provider is not None or core.get_data(own).generate:
            raise RackwrightError(
                f"{core.core_file}: has sources that FuseSoC fetches or generates; run it first"
            )
        for file in core.get_files(own):
            source = Path(core.files_root) / file["name"]
            if file.get("is_include_file"):
                include[Path(core.files_root) / file.get("include_path", source.parent)] = None
            elif str(file.get("file_type", "")).startswith(_VERILOG):
                files.append(source)
        values |= core.get_parameters(own, values)
    if not files:
        raise RackwrightError(f"{path}: target {flags['target']} has no sources in Verilog")
    defined = _values(values, "vlogdefine")
    sources = VerilogSources(tuple(files), tuple(include), defined, top or _toplevel(cores[-1], flags))
    return CoreTarget(sources, _values(values, "vlogparam"))


def _values(parameters: Mapping[str, Mapping[str, Any]], kind: str) -> dict[str, int | str]:
    """The values of parameters of a kind, by name; those without are left to the source."""
    given = {
        name: value["default"]
        for name, value in parameters.items()
        if value["paramtype"] == kind and "default" in value
    }
    return {name: int(value) if isinstance(value, bool) else value for name, value in given.items()}


def _toplevel(core: Any, flags: Mapping[str, Any]) -> str | None:
    try:
        return str(core.get_toplevel(dict(flags))).split()[0]
    except SyntaxError:
        # The target leaves it open.
        return None
