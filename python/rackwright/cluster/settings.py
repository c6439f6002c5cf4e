"""Values of a cluster changed from outside, as `rw run --set` does: `link.latency_us=1`.

A path starts with a name of the cluster (`link`, `seed`, `clock_ghz`, `warmup_us`, `until_ms`) or of its
nodes, where `*` and `?` are wildcards, followed by an attribute of the named object, an attribute of that,
and so on: `server*.service.mean_us=30`. Numbers of a server's caches, DRAM and harts are set by their names,
`server*.timing.memory.l2-bytes=262144`, or all at once: `server*.timing=firesim`.
"""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Mapping
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.machine.parameters import ServerParameters

CLUSTER_NAMES = ("link", "seed", "clock_ghz", "warmup_us", "until_ms")

_PLAIN = (bool, int, float, str, type(None))


@dataclasses.dataclass(frozen=True)
class Setting:
    """One value: its object, the path of attributes, and the text of the value."""

    text: str
    name: str
    path: tuple[str, ...]
    value: str

    @classmethod
    def parse(cls, text: str) -> Setting:
        """From `NAME.ATTRIBUTE=VALUE`. Raises `RackwrightError` for any other form."""
        left, equals, value = text.partition("=")
        name, *path = left.split(".")
        if not (equals and name and value and all(path)):
            raise RackwrightError(f"--set {text}: must be like link.latency_us=1 or tor0.buffer_kib=64")
        return cls(text, name, tuple(path), value)

    def error(self, reason: str) -> RackwrightError:
        """One form of message for all errors."""
        return RackwrightError(f"--set {self.text}: {reason}")


class Settings:
    """Values to set in every cluster that is built, and those of them that were used."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._all = [Setting.parse(text) for text in texts]
        self._used: set[Setting] = set()

    def value(self, name: str, present: Any) -> Any:
        """`present`, named `name` by the cluster, with its settings applied."""
        for setting in self._all:
            if setting.name == name:
                self._used.add(setting)
                present = _assigned(setting, name, present, setting.path)
        return present

    def change(self, nodes: Mapping[str, Any]) -> None:
        """Changes attributes of nodes, identified by their names."""
        for setting in self._all:
            if setting.name in CLUSTER_NAMES:
                continue
            chosen = [name for name in nodes if fnmatch.fnmatchcase(name, setting.name)]
            if not chosen:
                names = ", ".join(CLUSTER_NAMES)
                raise setting.error(f"no node is called `{setting.name}`, and the cluster has {names}")
            self._used.add(setting)
            for name in chosen:
                _change(setting, name, nodes[name])

    def check_used(self) -> None:
        """Raises `RackwrightError` for a value that found no place: a slip must not go unseen."""
        for setting in self._all:
            if setting not in self._used:
                raise setting.error("it is part of no cluster that was built and run")


def _change(setting: Setting, name: str, node: Any) -> None:
    known = {key: value for key, value in vars(node).items() if key != "name" and _can_be_set(value)}
    if not setting.path or setting.path[0] not in known:
        raise setting.error(f"`{name}` has {', '.join(sorted(known))}")
    first, *rest = setting.path
    setattr(node, first, _assigned(setting, f"{name}.{first}", known[first], tuple(rest)))


def _assigned(setting: Setting, name: str, present: Any, path: tuple[str, ...]) -> Any:
    """`present`, named `name`, with the value set at `path`."""
    if not path:
        return _read(setting, name, present)
    if isinstance(present, Mapping):
        inner = _assigned(setting, f"{name}.{path[0]}", present.get(path[0]), path[1:])
        return {**present, path[0]: inner}
    fields = {field.name for field in dataclasses.fields(present)} if _is_record(present) else set()
    if path[0] not in fields:
        what = f"has {', '.join(sorted(fields))}" if fields else "has no parts"
        raise setting.error(f"`{name}` {what}")
    inner = _assigned(setting, f"{name}.{path[0]}", getattr(present, path[0]), path[1:])
    return dataclasses.replace(present, **{path[0]: inner})


def _read(setting: Setting, name: str, present: Any) -> Any:
    """The text converted to the type of `present`; for None, to a number if it looks like one."""
    text = setting.value
    if isinstance(present, ServerParameters):
        try:
            return ServerParameters.preset(text)
        except RackwrightError as error:
            raise setting.error(str(error)) from None
    if isinstance(present, bool):
        if text not in ("true", "false"):
            raise setting.error(f"`{name}` is true or false")
        return text == "true"
    if isinstance(present, str):
        return text
    if not isinstance(present, _PLAIN):
        raise setting.error(f"`{name}` is not a single value")
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    if present is None:
        return text
    raise setting.error(f"`{name}` is a number")


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _can_be_set(value: Any) -> bool:
    return isinstance(value, _PLAIN) or _is_record(value)
