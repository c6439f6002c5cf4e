"""YAML with the lines that its values are on, so that complaints can name them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from rackwright.errors import RackwrightError
from rackwright.files.document import DoubleKeyError, parse_yaml


class Source:
    """A file in YAML. Raises `RackwrightError` when it cannot be read or is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data: Any
        try:
            self._root, self.data = parse_yaml(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise RackwrightError(f"{path}: cannot be read ({error})") from None
        except DoubleKeyError as error:
            key = error.key
            line = key.start_mark.line + 1
            raise RackwrightError(f"{path}:{line}: {key.value}: appears twice") from None
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise RackwrightError(f"{path}:{line}: is not YAML ({error.problem})") from None
        except yaml.YAMLError as error:
            raise RackwrightError(f"{path}: is not YAML ({error})") from None

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
