"""Recognises buses by the names of their pins.

Names are those of our contracts, and for AXI and APB those that AMBA gives signals, after a prefix, in lower
or upper case: `m_axi_araddr`, `s_axi_control_AWADDR`, as cocotbext-axi and the tools of Xilinx write them.
Those of TileLink are `tl_a_opcode`, or `tl_a_bits_opcode`, as Chisel writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_MOST_ADDRESS_BITS = 64


@dataclass(frozen=True)
class Pin:
    """A pin of a top module: whether it is an input, and its bits."""

    name: str
    is_input: bool
    bits: int


@dataclass(frozen=True)
class Bus:
    """A bus of a top module: its entry in a manifest, or none for one that can't be attached, and why."""

    pins: frozenset[str]
    entry: dict[str, Any] | None
    remark: str | None = None


def buses(pins: Mapping[str, Pin]) -> list[Bus]:
    """The buses among pins, in the order in which they begin."""
    found = [*_own(pins), *_axi(pins), *_axi_streams(pins), *_apb(pins), *_tilelink(pins), *_interrupts(pins)]
    order = {name: place for place, name in enumerate(pins)}
    return sorted(found, key=lambda bus: min(order[name] for name in bus.pins))


def _named(pins: Mapping[str, Pin], prefix: str) -> frozenset[str]:
    return frozenset(name for name in pins if name.startswith(prefix))


def _own(pins: Mapping[str, Pin]) -> Iterator[Bus]:
    """Ports of our contracts (`docs/bring-your-own-rtl.md`)."""
    for name, pin in pins.items():
        if prefix := _before(name, "_request_bits_funct"):
            entry: dict[str, Any] = {"contract": "command", "name": prefix, "opcodes": [0], "commands": []}
            if f"{prefix}_request_bits_context_satp" in pins:
                entry["translated"] = True
            remark = f"{prefix}: say which opcodes it answers to, and its commands"
            own = _named(pins, f"{prefix}_request_") | _named(pins, f"{prefix}_response_")
            yield Bus(own | ({f"{prefix}_fence"} & pins.keys()), entry, remark)
        elif prefix := _before(name, "_request_bits_tag"):
            entry = {
                "contract": "memory",
                "name": prefix,
                "bytes": _bits(pins, f"{prefix}_request_bits_data") // 8,
                "tag_bits": pin.bits,
                "address_bits": _bits(pins, f"{prefix}_request_bits_address"),
            }
            yield Bus(_named(pins, f"{prefix}_request_") | _named(pins, f"{prefix}_response_"), entry)
        elif (prefix := _before(name, "_request_bits_address")) and f"{prefix}_request_bits_tag" not in pins:
            entry = {"contract": "mmio", "name": prefix}
            yield Bus(_named(pins, f"{prefix}_request_") | _named(pins, f"{prefix}_response_"), entry)
        elif prefix := _before(name, "_bits_keep"):
            way = "in" if pin.is_input else "out"
            data = _bits(pins, f"{prefix}_bits_data") // 8
            entry = {"contract": "stream", "name": prefix, "direction": way, "bytes": data}
            own = frozenset({f"{prefix}_ready", f"{prefix}_valid"} & pins.keys())
            yield Bus(own | _named(pins, f"{prefix}_bits_"), entry)
        elif prefix := _before(name, "_ar_bits_addr"):
            entry = {
                "contract": "axi4",
                "name": prefix,
                "bytes": _bits(pins, f"{prefix}_r_bits_data") // 8,
                "id_bits": _bits(pins, f"{prefix}_ar_bits_id"),
                "address_bits": pin.bits,
            }
            yield Bus(frozenset(pin for pin in pins if re.match(rf"{prefix}_(ar|aw|w|r|b)_", pin)), entry)
        elif name.startswith("event_") and not pin.is_input:
            yield Bus(frozenset({name}), {"contract": "event", "name": name[6:], "width": pin.bits})


_AXI_PIN = re.compile(r"(?P<prefix>\w+)_(?P<channel>aw|ar|w|r|b)(?P<signal>valid)", re.IGNORECASE)


def _axi(pins: Mapping[str, Pin]) -> Iterator[Bus]:
    """Ports of AMBA AXI4 and AXI4-Lite."""
    prefixes = dict.fromkeys(
        (match["prefix"], match["signal"].isupper())
        for match in map(_AXI_PIN.fullmatch, pins)
        if match is not None
    )
    for prefix, upper in prefixes:

        def named(signal: str, prefix: str = prefix, upper: bool = upper) -> str:
            return f"{prefix}_{signal.upper() if upper else signal}"

        own = frozenset(
            name for name in pins if re.fullmatch(rf"{prefix}_(aw|ar|w|r|b)[a-z]+", name, re.IGNORECASE)
        )
        yield _axi_bus(pins, prefix, "upper" if upper else "lower", own, named)


def _axi_bus(pins: Mapping[str, Pin], prefix: str, naming: str, own: frozenset[str], named: Any) -> Bus:
    reads, writes = (named(f"{channel}valid") in pins for channel in ("ar", "aw"))
    request = pins[named("arvalid" if reads else "awvalid")] if reads or writes else None
    if request is None:
        return Bus(own, None, f"{prefix}: an AXI port without addresses")
    manages = not request.is_input
    address = _bits(pins, named("araddr" if reads else "awaddr"))
    data = _bits(pins, named("rdata" if reads else "wdata"))
    bursts = named("arlen" if reads else "awlen") in pins
    kind = f"AXI4{'' if bursts else '-Lite'} {'manager' if manages else 'subordinate'}"
    entry: dict[str, Any] = {"contract": "axi4" if bursts else "axi4-lite", "name": prefix, "naming": naming}
    entry |= {"bytes": data // 8, "address_bits": address}
    if bursts:
        entry["id_bits"] = _bits(pins, named("arid" if reads else "awid"))
    if reads != writes:
        entry["direction"] = "read" if reads else "write"
    if manages != bursts:
        return Bus(
            own,
            None,
            f"{prefix}: an {kind}, which cannot be attached: memory is AXI4 that the unit "
            "manages, registers are AXI4-Lite that it does not",
        )
    widths = (4, 8, 16, 32) if bursts else (4, 8)
    if data // 8 not in widths or address > _MOST_ADDRESS_BITS:
        return Bus(own, None, f"{prefix}: an {kind} of {data} bits, which cannot be attached")
    return Bus(own, entry, f"{prefix}: {kind}, {data} bits")


def _axi_streams(pins: Mapping[str, Pin]) -> Iterator[Bus]:
    """Ports of AMBA AXI4-Stream."""
    for name, pin in pins.items():
        if match := re.fullmatch(r"(?P<prefix>\w+)_(tvalid|TVALID)", name):
            yield _axi_stream(pins, match["prefix"], name.endswith("TVALID"), pin.is_input)


_STREAM_WIDTHS = (1, 2, 4, 8, 16, 32)
"""Bytes of a transfer."""

_SIDE_BAND = ("tid", "tdest", "tuser", "twakeup")


def _axi_stream(pins: Mapping[str, Pin], prefix: str, upper: bool, is_input: bool) -> Bus:
    def named(signal: str) -> str:
        return f"{prefix}_{signal.upper() if upper else signal}"

    signals = ("tvalid", "tready", "tdata", "tkeep", "tstrb", "tlast", *_SIDE_BAND)
    own = frozenset(named(signal) for signal in signals) & pins.keys()
    kind = f"{prefix}: an AXI4-Stream that it {'takes' if is_input else 'gives'}"
    bits = _bits(pins, named("tdata"))
    if bits % 8 or bits // 8 not in _STREAM_WIDTHS:
        return Bus(own, None, f"{kind}, of {bits} bits, which cannot be attached")
    way = "in" if is_input else "out"
    entry: dict[str, Any] = {"contract": "axi4-stream", "name": prefix, "direction": way, "bytes": bits // 8}
    entry["naming"] = "upper" if upper else "lower"
    flags = {"keep": "tkeep", "last": "tlast", "strobes": "tstrb"}
    entry |= {flag: True for flag, signal in flags.items() if named(signal) in pins}
    others = [named(signal) for signal in _SIDE_BAND if named(signal) in pins]
    remark = f"{kind}, {bits} bits"
    if named("tready") not in pins:
        entry["ready"] = False
        remark += "; without tready: " + ("it always takes a transfer" if is_input else "it does not wait")
    if others:
        remark += f"; not connected: {', '.join(others)}"
    return Bus(own, entry, remark)


_INTERRUPT = re.compile(
    r"interrupt|interrupt_\w+|(\w+_)?(irq|intr|interrupt|introut)(_o)?|o_int|int_o", re.IGNORECASE
)


def _interrupts(pins: Mapping[str, Pin]) -> Iterator[Bus]:
    """Interrupt lines, of which a unit has one."""
    lines = [name for name, pin in pins.items() if not pin.is_input and _INTERRUPT.fullmatch(name)]
    for place, name in enumerate(lines):
        if pins[name].bits != 1:
            yield Bus(frozenset({name}), None, f"{name}: interrupts of {pins[name].bits} bits lead nowhere")
        elif place:
            yield Bus(
                frozenset({name}), None, f"{name}: another interrupt than {lines[0]}, which leads nowhere"
            )
        elif name.startswith("interrupt_"):
            yield Bus(frozenset({name}), {"contract": "interrupt", "name": name[10:]})
        else:
            entry = {"contract": "interrupt", "name": name.lower(), "pin": name}
            yield Bus(frozenset({name}), entry, f"{name}: an interrupt line, for which programs can wait")


_APB_NEEDS = ("psel", "penable", "pwrite", "paddr", "pwdata", "prdata", "pready", "pslverr")
_APB_SIGNALS = (*_APB_NEEDS, "pstrb", "pprot")


def _apb(pins: Mapping[str, Pin]) -> Iterator[Bus]:
    """Ports of AMBA APB, whose pins may have no prefix."""
    for name in pins:
        if not (match := re.fullmatch(r"(?P<prefix>(\w+_)?)(psel|PSEL)", name)):
            continue
        prefix, upper = match["prefix"], name.endswith("PSEL")
        signals = {signal: prefix + (signal.upper() if upper else signal) for signal in _APB_SIGNALS}
        own = frozenset(signals.values()) & pins.keys()
        called = prefix.removesuffix("_") or "apb"
        missing = [signals[signal] for signal in _APB_NEEDS if signals[signal] not in pins]
        if not pins[name].is_input:
            yield Bus(own, None, f"{called}: an APB requester, which cannot be attached")
        elif missing:
            yield Bus(
                own, None, f"{called}: an APB completer without {', '.join(missing)}; connect it in a wrapper"
            )
        elif _bits(pins, signals["pwdata"]) != 32:
            yield Bus(
                own, None, f"{called}: an APB completer of other than 32 bits, which cannot be attached"
            )
        else:
            entry: dict[str, Any] = {
                "contract": "apb",
                "name": called,
                "naming": "upper" if upper else "lower",
            }
            entry |= {"address_bits": _bits(pins, signals["paddr"])}
            entry |= {} if prefix == f"{called}_" else {"prefix": prefix}
            entry |= {} if signals["pstrb"] in pins else {"strobes": False}
            yield Bus(own, entry, f"{called}: APB completer, 32 bits")


_TILELINK_PIN = re.compile(r"(?P<prefix>\w+)_a(?P<bits>(_bits)?)_opcode")
_TILELINK_CHANNELS = {
    "a": ("ready", "valid", "opcode", "param", "size", "source", "address", "mask", "data", "corrupt"),
    "d": ("ready", "valid", "opcode", "param", "size", "source", "sink", "denied", "data", "corrupt"),
}
_TILELINK_OPTIONAL = {"param", "source", "sink", "denied", "corrupt"}


def _tilelink(pins: Mapping[str, Pin]) -> Iterator[Bus]:
    """Ports of TileLink, of which a unit can have those without caches."""
    for name, pin in pins.items():
        if match := _TILELINK_PIN.fullmatch(name):
            yield _tilelink_bus(pins, match["prefix"], match["bits"], pin.is_input)


def _tilelink_bus(pins: Mapping[str, Pin], prefix: str, bits: str, is_input: bool) -> Bus:
    def named(channel: str, signal: str) -> str:
        return f"{prefix}_{channel}{'' if signal in ('ready', 'valid') else bits}_{signal}"

    signals = [(channel, signal) for channel, all_of in _TILELINK_CHANNELS.items() for signal in all_of]
    own = frozenset(named(channel, signal) for channel, signal in signals) & pins.keys()
    kind = f"{prefix}: a TileLink {'manager' if is_input else 'client'}"
    cached = [name for channel in "bce" if (name := named(channel, "valid")) in pins]
    if cached:
        own |= frozenset(name for name in pins if re.match(rf"{prefix}_[bce]_", name))
        return Bus(own, None, f"{kind} with a cache ({cached[0]}), which cannot be attached")
    missing = [
        name
        for channel, signal in signals
        if signal not in _TILELINK_OPTIONAL and (name := named(channel, signal)) not in pins
    ]
    if missing:
        return Bus(own, None, f"{kind} without {', '.join(missing)}; connect it in a wrapper")
    data, address = _bits(pins, named("a", "data")), _bits(pins, named("a", "address"))
    widths, most = ((4, 8), 32) if is_input else ((4, 8, 16, 32), _MOST_ADDRESS_BITS)
    if data // 8 not in widths or address > most:
        return Bus(own, None, f"{kind} of {data} bits and addresses of {address}, which cannot be attached")
    entry: dict[str, Any] = {
        "contract": "tilelink",
        "name": prefix,
        "direction": "in" if is_input else "out",
        "naming": "elaborated" if bits else "lower",
        "bytes": data // 8,
        "address_bits": address,
        "size_bits": _bits(pins, named("a", "size")),
        "source_bits": _bits(pins, named("a", "source")),
    }
    entry |= {flag: True for flag in ("denied", "corrupt") if named("d", flag) in pins}
    return Bus(own, entry, f"{kind}, {data} bits: {'registers' if is_input else 'memory'}")


def _before(name: str, ending: str) -> str | None:
    return name.removesuffix(ending) if name.endswith(ending) else None


def _bits(pins: Mapping[str, Pin], name: str) -> int:
    return pins[name].bits if name in pins else 0
