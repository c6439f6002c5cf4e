"""DRX, the unit that restructures data: its kernels, its compiler and its programs.

`examples/drx/scale.py` is the smallest kernel, and docs/restructuring.md lists the supported kernels.
"""

from rackwright.drx.compiler import Compiled, compile_kernel
from rackwright.drx.configuration import Configuration
from rackwright.drx.element import ArrayType, Element, boolean, f32, i8, i16, i32, i64, u8, u16
from rackwright.drx.kernel import Kernel, kernel, load_kernel
from rackwright.drx.namespace import xp
from rackwright.drx.program import Program

__all__ = [
    "ArrayType",
    "Compiled",
    "Configuration",
    "Element",
    "Kernel",
    "Program",
    "boolean",
    "compile_kernel",
    "f32",
    "i8",
    "i16",
    "i32",
    "i64",
    "kernel",
    "load_kernel",
    "u8",
    "u16",
    "xp",
]
