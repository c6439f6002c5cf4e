"""From a .proto file to C++ classes with descriptor tables: protoc, with our plug-in."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bootstrap.paths import PROTOBUF
from bootstrap.protobuf_source import VERSION
from rackwright.errors import MissingBuildError, RackwrightError
from rackwright.protobuf.wire import fields

_PROTOC = PROTOBUF / "tools" / "protoc"
_PLUGIN = PROTOBUF / "tools" / "protoc-gen-rackwright"
_INCLUDE = PROTOBUF / "include"

_OF_THE_LIBRARY = ("google/protobuf/descriptor.proto", "google/protobuf/compiler/plugin.proto")

# Keywords of C++11 but for types of characters, and NULL, as protoc has them.
_KEYWORDS = """
NULL alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export
extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
operator or or_eq private protected public register reinterpret_cast return short signed sizeof static
static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename
union unsigned using virtual void volatile wchar_t while xor xor_eq
"""

_COMPLAINT = re.compile(r"^(.+?\.proto):\d+:\d+:", re.MULTILINE)
_EDITION = re.compile(r"""^\s*edition\s*=\s*["'](\w+)["']\s*;""", re.MULTILINE)

# Numbers of fields in descriptor.proto.
_FILE, _FILE_NAME, _FILE_PACKAGE, _FILE_MESSAGE, _FILE_OPTIONS = 1, 1, 2, 4, 8
_OPTIMIZED_FOR_LITE_RUNTIME = (9, 3)
_MESSAGE_NAME, _MESSAGE_NESTED, _MESSAGE_OPTIONS, _OPTIONS_MAP_ENTRY = 1, 3, 7, 7


@dataclass(frozen=True)
class Schema:
    """A .proto file that protoc has read.

    `files` are the file and its imports, including well-known types, except the descriptions of descriptors.
    `classes` are the C++ classes by the full names of their messages, and `lite` the names of those without
    reflection. `descriptors` are all of them in protobuf's own form.
    """

    proto: Path
    include: tuple[Path, ...]
    files: tuple[str, ...]
    classes: dict[str, str]
    lite: frozenset[str]
    descriptors: bytes

    def class_of(self, message: str) -> str:
        """The class of a message, identified by its full name.

        Raises `RackwrightError` when there is none, and when there is no reflection to compare objects by.
        """
        if message not in self.classes:
            known = ", ".join(sorted(self.classes)) or "none"
            raise RackwrightError(f"{self.proto}: no message {message}; there are {known}")
        if message in self.lite:
            raise RackwrightError(
                f"{self.proto}: {message} has no reflection to compare objects by, since the file says "
                "optimize_for = LITE_RUNTIME; measure it without that option"
            )
        return self.classes[message]

    def generate(self, folder: Path) -> list[Path]:
        """Writes the classes into `folder`; returns the C++ sources."""
        plugin = f"--plugin=protoc-gen-rackwright={_PLUGIN}"
        outputs = [f"--cpp_out={folder}", f"--rackwright_out={folder}"]
        _protoc([plugin, *outputs, *self.files], self.include)
        return [folder / f"{name.removesuffix('.proto')}.pb.cc" for name in self.files]


def read_schema(proto: Path, include: Sequence[Path] = ()) -> Schema:
    """Reads a .proto file; imports are searched beside it and in `include`.

    Raises `RackwrightError` with protoc's output.
    """
    if not proto.is_file():
        raise RackwrightError(f"{proto}: no such file")
    folders = (*include, proto.parent)
    descriptors = _protoc(
        ["--include_imports", "--descriptor_set_out=/dev/stdout", _name_in(proto, folders)], folders
    )
    files: list[str] = []
    classes: dict[str, str] = {}
    lite: set[str] = set()
    for number, file in fields(descriptors):
        if number == _FILE and isinstance(file, bytes):
            read = _read_file(file)
            if _is_generated(read.name, folders):
                _check_names(read)
                files.append(read.name)
                classes |= read.classes
                lite |= set(read.classes if read.is_lite else ())
    return Schema(proto, folders, tuple(files), classes, frozenset(lite), descriptors)


def _check_names(file: _File) -> None:
    """Raises `RackwrightError` for a name that hides the namespace std from the generated classes."""
    scopes = [f"package {file.package}"] if "std" in file.scope[1:] else []
    scopes += [f"message {name}" for name in file.classes if "std" in name.split(".")[len(file.scope) :]]
    if scopes:
        raise RackwrightError(
            f"{file.name}: {scopes[0]}: what the official generator makes of the name std does not compile"
        )


def _is_generated(name: str, folders: Sequence[Path]) -> bool:
    """Whether the classes of a file get tables for the units: all but those that protobuf itself needs.

    Well-known types are also generated again: those of the library have no tables. The first linked
    definition is used, and nothing else in the library refers to them.
    """
    return name not in _OF_THE_LIBRARY or any((folder / name).exists() for folder in folders)


def _name_in(proto: Path, folders: Sequence[Path]) -> str:
    """The file's name for protoc: its path below the first folder that contains it."""
    for folder in folders:
        if proto.resolve().is_relative_to(folder.resolve()):
            return str(proto.resolve().relative_to(folder.resolve()))
    return proto.name


def _protoc(arguments: Sequence[str], include: Sequence[Path]) -> bytes:
    if not _PROTOC.exists():
        raise MissingBuildError("the official protobuf library", "./rw protobuf")
    folders = [f"-I{folder.resolve()}" for folder in (*include, _INCLUDE)]
    result = subprocess.run([str(_PROTOC), *folders, *arguments], capture_output=True, check=False)
    if result.returncode != 0:
        said = result.stderr.decode(errors="replace").strip()
        raise RackwrightError(_edition_among(said, include) or said or "protoc failed")
    return result.stdout


def _edition_among(said: str, include: Sequence[Path]) -> str | None:
    """The explanation if one of the files in protoc's errors uses an edition.

    This version of the library is older than editions; its own message is that for a typing error.
    """
    for name in dict.fromkeys(_COMPLAINT.findall(said)):
        for path in (folder / name for folder in include):
            found = _EDITION.search(path.read_text(errors="replace")) if path.is_file() else None
            if found:
                return (
                    f"{name}: edition {found[1]} is newer than protobuf {VERSION}, which the units are for: "
                    "it reads proto2 and proto3"
                )
    return None


@dataclass(frozen=True)
class _File:
    """A .proto file: its name, its package, the classes of its messages, whether these are lite ones."""

    name: str
    package: str
    classes: dict[str, str]
    is_lite: bool

    @property
    def scope(self) -> list[str]:
        """The parts of the package's name."""
        return [part for part in self.package.split(".") if part]


def _read_file(descriptor: bytes) -> _File:
    name = package = ""
    is_lite = False
    messages: list[bytes] = []
    for number, value in fields(descriptor):
        if not isinstance(value, bytes):
            continue
        if number == _FILE_NAME:
            name = value.decode()
        elif number == _FILE_PACKAGE:
            package = value.decode()
        elif number == _FILE_OPTIONS:
            is_lite = _OPTIMIZED_FOR_LITE_RUNTIME in fields(value)
        elif number == _FILE_MESSAGE:
            messages.append(value)
    file = _File(name, package, {}, is_lite)
    scope = "".join(f"::{_legal(part)}" for part in file.scope)
    for message in messages:
        for path in _paths(message):
            file.classes[".".join([*file.scope, *path])] = f"{scope}::{_class_name(path)}"
    return file


def _legal(name: str) -> str:
    return f"{name}_" if name in _KEYWORDS.split() else name


def _class_name(path: Sequence[str]) -> str:
    """The C++ class of a message: its enclosing scopes, and its own name, which must not be a keyword."""
    name = ""
    for part in path:
        name = _legal(f"{name}_{part}" if name else part)
    return name


def _paths(message: bytes) -> Iterator[tuple[str, ...]]:
    """The names of a message and of its nested messages, each from the outermost on.

    Entries of maps are none: they have no class of their own.
    """
    parts: dict[int, list[bytes]] = {}
    for number, value in fields(message):
        if isinstance(value, bytes):
            parts.setdefault(number, []).append(value)
    if any((_OPTIONS_MAP_ENTRY, 1) in fields(options) for options in parts.get(_MESSAGE_OPTIONS, ())):
        return
    name = parts[_MESSAGE_NAME][0].decode()
    yield (name,)
    for nested in parts.get(_MESSAGE_NESTED, ()):
        for path in _paths(nested):
            yield (name, *path)
