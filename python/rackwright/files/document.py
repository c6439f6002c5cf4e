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


class _Loader(yaml.SafeLoader):
    """Refuses a key that a mapping has twice, of which YAML would keep the last alone."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        there = []
        for key, _ in node.value:
            if (key.tag, key.value) in there:
                raise yaml.composer.ComposerError(
                    problem=f"{key.value} is there twice", problem_mark=key.start_mark
                )
            there.append((key.tag, key.value))
        return node


def load_yaml(path: Path, hint: str = "") -> Any:
    """The contents of a file; raises `RackwrightError`, with `hint` if there is no such file."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise RackwrightError(f"{path}: {error.strerror}{hint}") from error
    except (yaml.YAMLError, ValueError) as error:
        # A ValueError is of bytes that are no text, or of a date or a number that only looks like one.
        raise RackwrightError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise RackwrightError(f"{path}: not YAML that can be read: it is nested too deeply") from error


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
