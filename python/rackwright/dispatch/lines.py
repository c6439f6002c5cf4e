"""YAML with the lines that its values are on, so that complaints can name them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from rackwright.errors import RackwrightError


class Source:
    """A file in YAML. Raises `RackwrightError` when it cannot be read or is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            text = path.read_text(encoding="utf-8")
            self._root = yaml.compose(text, Loader=yaml.SafeLoader)
            self.data: Any = yaml.safe_load(text)
        except (OSError, UnicodeDecodeError) as error:
            raise RackwrightError(f"{path}: cannot be read ({error})") from None
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise RackwrightError(f"{path}:{line}: is not YAML ({error.problem})") from None
        except (yaml.YAMLError, ValueError) as error:
            # A ValueError is of a number or a date that looks like one and is none, such as 2026-13-01.
            raise RackwrightError(f"{path}: is not YAML ({error})") from None
        except RecursionError:
            raise RackwrightError(f"{path}: is not YAML that can be read: it is nested too deeply") from None
        self._refuse_doubles(self._root, set())

    def error(self, where: Sequence[object], reason: str) -> RackwrightError:
        """A complaint about the value that these keys and indices lead to."""
        names = ".".join(str(part) for part in where)
        return RackwrightError(f"{self.path}:{self._line(where)}: {names or 'the file'}: {reason}")

    def _line(self, where: Sequence[object]) -> int:
        node, line = self._root, 1
        for part in where:
            found = _inner(node, part)
            if found is None:
                break
            node, line = found
        return line

    def _refuse_doubles(self, node: yaml.Node | None, seen_nodes: set[int]) -> None:
        # Aliases lead to one node many times, or from it to itself.
        if id(node) in seen_nodes:
            return
        seen_nodes.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for item in node.value:
                self._refuse_doubles(item, seen_nodes)
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in node.value:
                if key.value in seen:
                    line = key.start_mark.line + 1
                    raise RackwrightError(f"{self.path}:{line}: {key.value}: appears twice")
                seen.add(str(key.value))
                self._refuse_doubles(value, seen_nodes)


def _inner(node: yaml.Node | None, part: object) -> tuple[yaml.Node, int] | None:
    """The value at a key or an index, and its line."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return value, key.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        item = node.value[part]
        return item, item.start_mark.line + 1
    return None
