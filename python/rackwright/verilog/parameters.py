"""Parameters of the top module of a design: whether it has them, and whether it can take their values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pyslang import LiteralBase, SVInt, ast

from rackwright.errors import RackwrightError
from rackwright.hardware.manifests import read_manifest
from rackwright.verilog.reader import VerilogDesign, VerilogSources

ParameterValue = int | str
_MOST = 2**63


def check_parameters(manifest: Path, given: Mapping[str, object]) -> dict[str, ParameterValue]:
    """The values that the top module of a manifest gets for parameters, as Verilator takes them.

    A word is that of an enumeration, a text, or a number or expression as SystemVerilog writes it. Raises
    `RackwrightError` for a name that the module does not have and for a value that its parameter cannot have.
    """
    sources = VerilogSources.of_manifest(manifest)
    return parameters_of(sources, given, f"{manifest}: {read_manifest(manifest)['unit']}", str(manifest))


def parameters_of(
    sources: VerilogSources, given: Mapping[str, object], unit: str, place: str
) -> dict[str, ParameterValue]:
    """The values of the parameters of the top module of `sources`; raises as `check_parameters`.

    Errors begin with `unit` where a value is refused, and with `place` where there is no such parameter.
    """
    plain = VerilogDesign(sources)
    top = next((each for each in plain.tops if each.name == sources.top), None)
    if top is None:
        # Whoever compiles it says what is wrong.
        return {name: value for name, value in given.items() if isinstance(value, int | str)}
    known = _settable(top)
    for name in given:
        if name not in known:
            there = ", ".join(known) or "none"
            raise RackwrightError(f"{place}: module {top.name} has no parameter {name}; there are {there}")
    written = {name: _written(known[name], value) for name, value in given.items()}
    design = VerilogDesign(sources, written)
    if any(complaint.is_of_parameters for complaint in design.complaints):
        for name, value in written.items():
            for complaint in VerilogDesign(sources, {name: value}).complaints:
                if complaint.is_of_parameters:
                    raise RackwrightError(f"{unit} cannot have {name}={given[name]}: {complaint.text}")
    known_errors = {complaint.text for complaint in plain.complaints if complaint.is_error}
    for complaint in design.complaints:
        if complaint.is_error and complaint.text not in known_errors:
            values = ", ".join(f"{name}={value}" for name, value in given.items())
            raise RackwrightError(f"{unit} cannot have {values}: {complaint.text} ({complaint.place})")
    chosen = _settable(next(each for each in design.tops if each.name == sources.top))
    return {
        name: value.strip('"') if isinstance(value, str) and _is_text(known[name]) else _value(chosen[name])
        for name, value in given.items()
    }


def written_parameters(manifest: Path, given: Mapping[str, object]) -> dict[str, str]:
    """The values as SystemVerilog writes them, for slang; raises as `check_parameters`."""
    check_parameters(manifest, given)
    return written_of(VerilogSources.of_manifest(manifest), given)


def written_of(sources: VerilogSources, given: Mapping[str, object]) -> dict[str, str]:
    """The values of parameters that the top module of `sources` has, as SystemVerilog writes them."""
    top = next((each for each in VerilogDesign(sources).tops if each.name == sources.top), None)
    known = {} if top is None else _settable(top)
    return {name: _written(known[name], value) for name, value in given.items() if name in known}


def defaults_of(top: ast.InstanceSymbol) -> dict[str, str]:
    """The values that the parameters of a module have, as SystemVerilog writes them."""
    known = _settable(top)
    values = {name: _value(each) for name, each in known.items()}
    return {
        name: _written(known[name], value.strip('"') if isinstance(value, str) else value)
        for name, value in values.items()
    }


def _settable(top: ast.InstanceSymbol) -> dict[str, ast.ParameterSymbol]:
    """The parameters of a module that its user may set, by name."""
    parameters = [each for each in top.body.parameters if isinstance(each, ast.ParameterSymbol)]
    return {each.name: each for each in parameters if not each.isLocalParam}


def _written(parameter: ast.ParameterSymbol, value: object) -> str:
    """A value as SystemVerilog writes it: between quotation marks, if the parameter is a text."""
    is_text = _is_text(parameter)
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value) and not is_text:
        value = int(value)
    if isinstance(value, int):
        # A number without a size has 32 bits.
        short = -(2**31) <= value < 2**31
        return str(int(value)) if short else f"{'-' if value < 0 else ''}64'sd{abs(value)}"
    if isinstance(value, str) and is_text and not value.startswith('"'):
        return f'"{value}"'
    return str(value)


def _is_text(parameter: ast.ParameterSymbol) -> bool:
    """Whether a parameter is of the type of texts, or has a text as its default."""
    default = parameter.initializer
    while isinstance(default, ast.ConversionExpression):
        default = default.operand
    return parameter.type.isString or isinstance(default, ast.StringLiteral)


def _value(parameter: ast.ParameterSymbol) -> ParameterValue:
    value = parameter.value.value
    if not isinstance(value, SVInt):
        return str(value)
    number = int(value.toString(LiteralBase.Decimal, False)) if not value.hasUnknown else _MOST
    if -_MOST <= number < _MOST:
        return number
    return value.toString(LiteralBase.Hex, True)
