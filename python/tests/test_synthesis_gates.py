"""The gates that synthesis makes compute what the Verilog says."""

from __future__ import annotations

import random
import re

import pytest

from rackwright.synthesis.flow import Design, synthesise
from rackwright.synthesis.library import DEFAULT_LIBERTY, Library, load_library
from rackwright.synthesis.netlist import Instance
from rackwright.synthesis.process import load_process
from rackwright.synthesis.verilog import modules

needs_tools = pytest.mark.skipif(not DEFAULT_LIBERTY.exists(), reason="the tools of synthesis are missing")

PROBE = """module Probe(
  input         clock,
                reset,
  input  [31:0] x,
  input  [31:0] y,
  output [31:0] z
);

  reg [31:0] a;
  reg [31:0] b;
  reg [31:0] r;
  always @(posedge clock) begin
    a <= x;
    b <= y;
    r <= a < b ? a + b : a - b ^ (b << a[4:0]);
  end // always @(posedge)
  assign z = r;
endmodule
"""


class Gates:
    """A netlist of one piece, evaluated gate by gate."""

    def __init__(self, instances: list[Instance], library: Library) -> None:
        cells = library.liberty.cells
        self.next: dict[str, str] = {}
        self._drivers: dict[str, tuple[Instance, str]] = {}
        for instance in instances:
            cell = cells[instance.cell]
            if cell.is_flop:
                self.next[instance.nets["Q"]] = instance.nets["D"]
            else:
                for pin, function in cell.functions.items():
                    self._drivers[instance.nets[pin]] = (instance, _python(function))

    def value(self, net: str, known: dict[str, int]) -> int:
        """The value of a net, where those in `known` have theirs."""
        if net not in known:
            instance, function = self._drivers[net]
            pins = set(re.findall(r"[A-Za-z]\w*", function))
            values = {pin: self.value(instance.nets[pin], known) for pin in pins}
            known[net] = eval(function, {}, values) & 1
        return known[net]


def _python(function: str) -> str:
    """A function of Liberty, in which a space is an AND, as Python spells it."""
    spelled = re.sub(r"(?<=[\w)])\s+(?=[\w(!])", "&", function.replace(" + ", "+"))
    return spelled.replace("+", "|").replace("!", "~")


def expected(a: int, b: int) -> int:
    return (a + b if a < b else (a - b) ^ (b << (a & 31))) & 0xFFFF_FFFF


@needs_tools
def test_gates_compute_what_the_verilog_says() -> None:
    library = load_library()
    result = synthesise(Design("probe", {}, "", modules(PROBE), "Probe"), library, load_process(), paths=1)
    gates = Gates(result.gates.netlist.instances("Probe"), library)
    source = random.Random(1)
    for _ in range(50):
        a, b = (source.getrandbits(source.choice([4, 32])) for _ in range(2))
        bits = {f"{name}[{i}]": value >> i & 1 for name, value in (("a", a), ("b", b)) for i in range(32)}
        found = sum(gates.value(gates.next[f"z[{i}]"], bits) << i for i in range(32))
        assert found == expected(a, b), (a, b)
