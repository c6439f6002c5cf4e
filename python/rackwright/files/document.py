"""YAML files that people write; every complaint names the file and the field."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rackwright.errors import RackwrightError


def is_yaml(name: str) -> bool:
    """Whether a path, by its end, is that of such a file."""
    return name.endswith((".yaml", ".yml"))


class DoubleKeyError(yaml.composer.ComposerError):
    """A mapping has a `key` twice."""

    def __init__(self, key: yaml.Node) -> None:
        super().__init__(problem=f"{key.value} is there twice", problem_mark=key.start_mark)
        self.key = key


class _Loader(yaml.SafeLoader):
    """Refuses a key that a mapping has twice, of which YAML would keep the last alone."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        there = []
        for key, _ in node.value:
            if (key.tag, key.value) in there:
                raise DoubleKeyError(key)
            there.append((key.tag, key.value))
        return node


def parse_yaml(text: str) -> tuple[yaml.Node | None, Any]:
    """The nodes of a text, which know their lines, and its contents.

    Raises `yaml.YAMLError`, also for what PyYAML itself does not tell so, and `DoubleKeyError`.
    """
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        return node, None if node is None else loader.construct_document(node)
    except ValueError as error:
        # A date or a number that only looks like one, such as 2026-13-01.
        raise yaml.YAMLError(str(error)) from error
    except RecursionError as error:
        raise yaml.YAMLError("it is nested too deeply") from error
    finally:
        loader.dispose()


def load_yaml(path: Path, hint: str = "") -> Any:
    """The contents of a file; raises `RackwrightError`, with `hint` if there is no such file."""
    try:
        return parse_yaml(path.read_text(encoding="utf-8"))[1]
    except OSError as error:
        raise RackwrightError(f"{path}: {error.strerror}{hint}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RackwrightError(f"{path}: not YAML: {' '.join(str(error).split())}") from error


@dataclass(frozen=True)
class DocumentReader:
    """Checks the parts of a document from the file `path`."""

    path: Path

    def mapping(self, where: str, document: Any, known: tuple[str, ...] | None) -> dict[Any, Any]:
        """A mapping with no keys but `known` (None: any); an absent one is empty."""
        if document is None:
            return {}
        if not isinstance(document, dict):
            raise self.error(where, "is not a mapping")
        if known is not None:
            odd = [key for key in document if key not in known]
            if odd:
                raise self.error(where, f"has {odd[0]!r}; there are {', '.join(known) or 'none'}")
        return document

    def error(self, where: str, what: str) -> RackwrightError:
        """A complaint about the field `where`."""
        return RackwrightError(f"{self.path}: {where} {what}")
