"""A Sphinx extension: the directive `commands`, which inserts the help of all verbs into a page.

The text has the same source as `--help`, so that the two cannot differ.
"""

from __future__ import annotations

import re
from typing import Any

import typer.main
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.cli import get_docs_for_click

from bootstrap.paths import REPOSITORY
from bootstrap.usage import GROUPS
from rackwright.cli.app import command_line

_EXAMPLES = re.compile(r"^(Examples?:)\n(?=    )", re.MULTILINE)
_HEADING = re.compile(r"^(##+ )", re.MULTILINE)


def help_as_markdown() -> str:
    """The help of all verbs: a section of the second level for each group, and one below for each verb."""
    command: Any = typer.main.get_command(command_line())
    context = command.context_class(command)
    text = get_docs_for_click(obj=command, ctx=context, name="./rw")
    # Defaults are folders of this checkout.
    text = _EXAMPLES.sub(r"\1\n\n", text).replace(f"{REPOSITORY}/", "")
    _, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    by_verb = {
        section.split("`")[1].split()[-1]: _HEADING.sub(r"#\1", f"## {section}") for section in sections
    }
    return "".join(
        f"## {group}\n\n" + "".join(by_verb[verb] for verb in verbs) for group, verbs in GROUPS.items()
    )


class CommandsDirective(SphinxDirective):
    """The help of all verbs."""

    def run(self) -> list[nodes.Node]:
        """The sections."""
        return self.parse_text_to_nodes(help_as_markdown(), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the directive with Sphinx."""
    app.add_directive("commands", CommandsDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
