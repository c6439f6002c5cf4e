"""Writes the manifest of a design that somebody brings, as far as its pins say what it is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from json import dumps
from pathlib import Path
from typing import Any

from pyslang import ast

from rackwright.errors import RackwrightError
from rackwright.hardware.manifests import FORMAT
from rackwright.hardware.registers import has_registers, register_bytes
from rackwright.verilog.buses import Pin, buses
from rackwright.verilog.clocks import edge_inputs, event_names, is_low, is_reset, reset_of
from rackwright.verilog.cores import DEFAULT_TARGET, CoreTarget, read_core
from rackwright.verilog.interfaces import interface_ports, with_parameters
from rackwright.verilog.kernels import encodes_state, kernel_registers
from rackwright.verilog.known import Known
from rackwright.verilog.packed import (
    SUFFIX,
    missing_check_bits,
    module_with_pins,
    of_buses,
    packed_ports,
    unpacked,
)
from rackwright.verilog.parameters import parameters_of, written_of
from rackwright.verilog.reader import VerilogDesign, VerilogSources
from rackwright.verilog.register_maps import read_register_map

ASSUMED_HERTZ = 1_000_000_000
"""The clock that a manifest begins with; RTL does not say which one it reaches."""

_OF_C = (".c", ".cc", ".cpp", ".cxx")
"""Endings of the names of sources of imported functions."""

_CLOCK = re.compile(r"(\w+_)?[aph]?(clk|clock)(_?i|_in)?", re.IGNORECASE)
_RESET = re.compile(r"(\w+_)?[aph]?(rst|reset)(_?(?P<low>n|ni|b|l))?(_?i|_in)?", re.IGNORECASE)
_NEGATED = re.compile(r"n_?(rst|reset)(_?i)?", re.IGNORECASE)


@dataclass(frozen=True)
class Scan:
    """What a design was found to be: its manifest, and what remains to be said or cannot be attached.

    `files` are texts of sources that are to be beside the manifest, by name: a module around a design whose
    buses are packed structures or interfaces.
    """

    manifest: dict[str, Any]
    remarks: list[str]
    files: dict[str, str]

    def write(self, manifest: Path) -> None:
        """Writes the manifest, and the files beside it; raises `RackwrightError` that names a file."""
        texts = {manifest.name: dumps(self.manifest, indent=2) + "\n", **self.files}
        for name, text in texts.items():
            path = manifest.parent / name
            try:
                path.write_text(text, encoding="utf-8")
            except OSError as error:
                raise RackwrightError(f"{path}: {error.strerror}") from error


def scan(files: Iterable[Path], folder: Path, known: Known | None = None) -> Scan:
    """Reads a design and describes it in a manifest that is to be in `folder`.

    `files` are in SystemVerilog, or lists of such files (`.f`), or one core file of FuseSoC (`.core`); beside
    them, sources of imported functions in C or C++. Raises `RackwrightError` for a design that cannot be
    read, or has not one top module and a clock.
    """
    known = known or Known()
    files = tuple(files)
    in_c = [file for file in files if file.suffix in _OF_C]
    in_verilog = tuple(file for file in files if file not in in_c)
    if not in_verilog:
        raise RackwrightError(f"{', '.join(map(str, files))}: in C; give the files in SystemVerilog, too")
    described = _sources(in_verilog, known)
    sources = described.sources
    design = VerilogDesign(sources)
    own = {name: value for name, value in known.parameters.items() if "." not in name}
    if own:
        design, described = _configured(design, described, own)
    of_interfaces = _of_interfaces(known.parameters)
    complaints = design.complaints
    top = None
    if of_interfaces:
        first = _only_top(design, sources)
        written = written_of(replace(sources, top=first.name), own)
        # With other parameters of its interfaces, a design may have no fault any more.
        top, around = with_parameters(first, sources, written, of_interfaces)
        complaints = around.complaints
    errors = [complaint for complaint in complaints if complaint.is_error]
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise RackwrightError(f"{errors[0].place}: {errors[0].text}{more}")
    top = top or _only_top(design, sources)
    found = _describe(top, design.modules, sources, folder, known)
    found.manifest["parameters"] |= described.parameters
    _give_functions(found, design.imported_functions, in_c, folder)
    if known.registers is not None:
        _give_registers(found.manifest["ports"], known.registers)
        return found
    for port in found.manifest["ports"]:
        if port["contract"] == "axi4-lite":
            registers = kernel_registers(port["name"], 1 << port["address_bits"], design.files)
            port |= {"registers": registers} if registers else {}
    return found


def _give_functions(found: Scan, imported: Sequence[str], in_c: Sequence[Path], folder: Path) -> None:
    """Gives a manifest the sources in C of imported functions, or says which ones are missing."""
    for file in in_c:
        if not file.is_file():
            raise RackwrightError(f"{file}: no such file")
    if in_c:
        found.manifest["dpi"] = [os.path.relpath(file, folder) for file in in_c]
    elif imported:
        found.remarks.append(f"imported functions, whose sources in C belong in `dpi`: {', '.join(imported)}")


def _of_interfaces(parameters: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Those parameters that are of interfaces, `PORT.NAME`, by port."""
    found: dict[str, dict[str, str]] = {}
    for name, value in parameters.items():
        port, dot, parameter = name.partition(".")
        if dot:
            found.setdefault(port, {})[parameter] = value
    return found


def _give_registers(ports: Sequence[dict[str, Any]], path: Path) -> None:
    """Gives the only port with registers those that a file in SystemRDL describes."""
    holders = [port for port in ports if has_registers(port)]
    if len(holders) != 1:
        names = ", ".join(port["name"] for port in holders) or "none"
        raise RackwrightError(
            f"{path}: --registers needs a design with exactly one register port; there are {names}"
        )
    (port,) = holders
    port["registers"] = read_register_map(path, register_bytes(port))


def _only_top(design: VerilogDesign, sources: VerilogSources) -> ast.InstanceSymbol:
    tops = design.tops
    if len(tops) != 1:
        names = ", ".join(each.name for each in tops) or "none"
        raise RackwrightError(f"{sources.files[0]}: several top modules; choose one with --top from {names}")
    return tops[0]


def _configured(
    design: VerilogDesign, described: CoreTarget, values: Mapping[str, str]
) -> tuple[VerilogDesign, CoreTarget]:
    """The design with parameters as its user sets them, on which the widths of its buses may depend."""
    top = _only_top(design, described.sources).name
    sources = replace(described.sources, top=top)
    parameters = parameters_of(sources, values, top, str(sources.files[0]))
    return (
        VerilogDesign(sources, written_of(sources, values)),
        replace(described, parameters={**described.parameters, **parameters}),
    )


def _sources(files: tuple[Path, ...], known: Known) -> CoreTarget:
    cores = [file for file in files if file.suffix == ".core"]
    if not cores:
        if known.target is not None:
            raise RackwrightError("--target is for core files of FuseSoC (.core)")
        return CoreTarget(VerilogSources(files, known.include, top=known.top), {})
    if len(files) != 1:
        raise RackwrightError(f"{cores[0]}: a core file lists all its sources; give no other files")
    core = read_core(cores[0], known.target or DEFAULT_TARGET, known.top)
    sources = replace(core.sources, include=(*core.sources.include, *known.include))
    return replace(core, sources=sources)


def _describe(
    top: ast.InstanceSymbol, modules: set[str], sources: VerilogSources, folder: Path, given: Known
) -> Scan:
    remarks: list[str] = []
    ports = _pins(top, remarks)
    structures = packed_ports(top)
    structures = of_buses(structures, buses(unpacked(ports, structures)))
    of_interfaces = _of_interfaces(given.parameters)
    interfaces = interface_ports(top, of_interfaces, lambda name: _joined(ports, name, given))
    pins = unpacked(ports, structures)
    pins |= {pin.name: pin for each in interfaces for pin in each.pins().values()}
    clock = _clock(pins) if given.clock is None else _input(top, pins, given.clock)
    chosen = pins if given.reset is None else {given.reset: pins[_input(top, pins, given.reset)]}
    reset, low = _reset(chosen, remarks, given.reset)
    found = buses(pins)
    idle = "idle" if "idle" in pins and not pins["idle"].is_input else None
    known = {clock, reset, *([idle] if idle else []), *(name for bus in found for name in bus.pins)}
    more = _more_clocks(top, {name: pin for name, pin in pins.items() if name not in known})
    known |= {name for entry in more for name in (entry["pin"], entry["reset"])}
    for name, pin in pins.items():
        if name not in known:
            what = "input stays 0" if pin.is_input else "output leads nowhere"
            remarks.append(
                f"{name}: {pin.bits} bit{'s' if pin.bits != 1 else ''} of no known bus; the {what}"
            )
    remarks += [
        f"{entry['pin']}: one more clock, with {entry['reset'] or 'no reset'}; "
        "how fast it is, and which ports are on it, is to be said"
        for entry in more
    ]
    is_asynchronous = reset is not None and _is_asynchronous(top, reset)
    clocks = [_clock_entry(clock, reset, low, is_asynchronous), *more]
    files: dict[str, str] = {}
    if structures or interfaces:
        packed = {port.name for port in structures}
        others = {name: pin for name, pin in ports.items() if name not in packed}
        files[f"{top.name}{SUFFIX}.sv"] = module_with_pins(top, others, structures, interfaces, modules)
        around = ", ".join(files)
        if structures:
            remarks.append(f"{', '.join(sorted(packed))}: packed structures; {around} gives them pins")
        remarks += [
            f"{each.name}: interface {each.interface} with {_listed(each.parameters)}; {around} gives it pins"
            for each in interfaces
        ]
        remarks += missing_check_bits(structures, modules)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "unit": re.sub(r"[^a-z0-9]+", "-", _spaced(top.name)).strip("-"),
        "top": f"{top.name}{SUFFIX if files else ''}",
        "verilog": [*(os.path.relpath(file, folder) for file in sources.files), *files],
        **_optional(sources, folder),
        "clocks": clocks,
        "attach": ["hart"],
        **({"idle": idle} if idle else {}),
        "ports": [bus.entry for bus in found if bus.entry is not None],
        "parameters": {},
    }
    missing = _missing(top)
    if missing:
        remarks.append(f"modules that are in none of the files: {', '.join(missing)}")
    remarks += [bus.remark for bus in found if bus.remark is not None]
    settable = [
        each.name
        for each in top.body.parameters
        if isinstance(each, ast.ParameterSymbol) and not each.isLocalParam and not encodes_state(each.name)
    ]
    if settable:
        remarks.append(f"parameters that can be set: {', '.join(settable)}")
    return Scan(manifest, remarks, files)


def _listed(parameters: Mapping[str, str]) -> str:
    """Values of parameters of an interface, in words."""
    if not parameters:
        return "its default parameters"
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


def _optional(sources: VerilogSources, folder: Path) -> dict[str, Any]:
    """Folders of included files and macros, where a design has some."""
    include = [os.path.relpath(each, folder) for each in sources.include]
    return {
        **({"include": include} if include else {}),
        **({"define": dict(sources.define)} if sources.define else {}),
    }


def _spaced(name: str) -> str:
    """A name in lower case, with words parted."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def _pins(top: ast.InstanceSymbol, remarks: list[str]) -> dict[str, Pin]:
    pins = {}
    for port in top.body.portList:
        if isinstance(port, ast.InterfacePortSymbol):
            continue
        if not isinstance(port, ast.PortSymbol) or not port.type.isIntegral:
            remarks.append(f"{port.name}: is an array; wrap it in pins")
            continue
        if port.direction not in (ast.ArgumentDirection.In, ast.ArgumentDirection.Out):
            remarks.append(f"{port.name}: goes both ways, which no bus here does")
            continue
        is_input = port.direction == ast.ArgumentDirection.In
        pins[port.name] = Pin(port.name, is_input, port.type.bitWidth)
    return pins


def _clock(pins: Mapping[str, Pin]) -> str:
    names = [name for name, pin in pins.items() if pin.is_input and pin.bits == 1 and _CLOCK.fullmatch(name)]
    if not names:
        raise RackwrightError("no input has the name of a clock (clk, clock, aclk, ap_clk); use --clock NAME")
    return min(names, key=len)


def _more_clocks(top: ast.InstanceSymbol, pins: Mapping[str, Pin]) -> list[dict[str, Any]]:
    """The entries of the clocks among `pins`, which are no others: blocks wait for their edges."""
    entries = []
    inputs = [name for name, pin in pins.items() if pin.is_input and pin.bits == 1]
    edges = edge_inputs(top)
    for name in edges:
        if name in inputs and not is_reset(name):
            reset = reset_of(name, inputs)
            low = reset is not None and is_low(reset)
            entries.append(_clock_entry(name, reset, low, reset in edges))
    return entries


def _clock_entry(pin: str, reset: str | None, low: bool, is_asynchronous: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"pin": pin, "reset": reset}
    if low:
        entry["active"] = "low"
    if is_asynchronous:
        entry["asynchronous"] = True
    return {**entry, "hertz": ASSUMED_HERTZ}


def _joined(pins: Mapping[str, Pin], name: str, given: Known) -> str | None:
    """What an input of an interface is connected to: the clock or the reset of the design, if it is one."""
    if _CLOCK.fullmatch(name):
        clocks = [pin.name for pin in pins.values() if pin.is_input and _CLOCK.fullmatch(pin.name)]
        return given.clock or min(clocks, key=len, default=None)
    wanted, low = _reset({name: Pin(name, True, 1)}, [])
    if wanted is None:
        return None
    asked = given.reset if given.reset in pins else None
    reset, is_low = _reset(pins if asked is None else {asked: pins[asked]}, [], asked)
    return f"~{reset}" if reset is not None and low != is_low else reset


def _input(top: ast.InstanceSymbol, pins: Mapping[str, Pin], name: str) -> str:
    """The name of an input of one bit that was asked for."""
    if name not in pins or not pins[name].is_input or pins[name].bits != 1:
        raise RackwrightError(f"module {top.name} has no input {name} of one bit")
    return name


def _reset(pins: Mapping[str, Pin], remarks: list[str], given: str | None = None) -> tuple[str | None, bool]:
    """The reset, `given` or named as one is, and whether it resets when it is 0."""
    for name, pin in pins.items():
        if not pin.is_input or pin.bits != 1:
            continue
        if _NEGATED.fullmatch(name):
            return name, True
        if match := _RESET.fullmatch(name):
            return name, match["low"] is not None
    if given is not None:
        remarks.append(f'{given}: resets while it is 1; if while it is 0, `clock.active` is "low"')
        return given, False
    remarks.append("no input is named as a reset is; if there is one, --reset NAME says it")
    return None, False


def _missing(top: ast.InstanceSymbol) -> list[str]:
    """Names of modules that the design has instances of and no source.

    Instances in a branch of `generate` that is not taken have no definition either; nobody needs theirs.
    """
    found: dict[str, None] = {}

    def look(symbol: Any) -> Any:
        if isinstance(symbol, ast.GenerateBlockSymbol) and symbol.isUninstantiated:
            return ast.VisitAction.Skip
        if isinstance(symbol, ast.UninstantiatedDefSymbol):
            found[symbol.definitionName] = None
        return ast.VisitAction.Advance

    top.visit(look)
    return list(found)


def _is_asynchronous(top: ast.InstanceSymbol, reset: str) -> bool:
    """Whether a block of the top module, or of one below, waits for an edge of what is named as a reset."""
    found = False

    def look(symbol: Any) -> Any:
        nonlocal found
        if isinstance(symbol, ast.ProceduralBlockSymbol) and isinstance(symbol.body, ast.TimedStatement):
            found = found or _waits_for_reset(symbol.body.timing, reset)
        return ast.VisitAction.Advance

    top.visit(look)
    return found


def _waits_for_reset(timing: Any, reset: str) -> bool:
    return any(
        name == reset or _RESET.fullmatch(name) or _NEGATED.fullmatch(name) for name in event_names(timing)
    )
