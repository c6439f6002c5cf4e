"""What types of Rust's sources have: fields and public methods."""

import re
from collections import Counter

_STRUCT = re.compile(r"^(?:pub(?:\([a-z]+\))? )?struct (\w+)[^;{(]*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^    (?:pub(?:\([a-z]+\))? )?\w+: ", re.MULTILINE)
_IMPLEMENTATION = re.compile(
    r"^impl(?:<[^\n]*?>)? (\w+)(?:<[^\n{]*>)?(?:\s*where[^{]*)? ?\{\n(.*?)^\}", re.MULTILINE | re.DOTALL
)
_METHOD = re.compile(r"^    pub (?:const |unsafe )*fn ", re.MULTILINE)


def code(source: str) -> str:
    """A file as rustfmt leaves it, without its own tests."""
    return source.split("\n#[cfg(test)]\nmod ")[0]


def fields(source: str) -> dict[str, int]:
    """How many named fields each type has."""
    return {name: len(_FIELD.findall(body)) for name, body in _STRUCT.findall(code(source))}


def methods(source: str) -> dict[str, int]:
    """How many public methods each type is given here, those of traits not counted."""
    counts: Counter[str] = Counter()
    for name, body in _IMPLEMENTATION.findall(code(source)):
        counts[name] += len(_METHOD.findall(body))
    return dict(counts)
