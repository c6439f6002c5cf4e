"""Documentation shows what runs: quoted files are the files, links lead somewhere.

`pytest --update-docs` copies the files into the pages.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rackwright import units
from rackwright.documentation.sentences import COUNT, draw, sentences

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")])

_QUOTE = re.compile(r"<!-- file: (?P<path>\S+) -->\n```(?P<language>\w*)\n(?P<text>.*?)```\n", re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")

_PATH = re.compile(r"`((?:engine|python|docs|software|validation|examples)/[\w./-]+)`")
"""A path from the root. In the map of the code, one that begins with `python/src/` begins with a crate."""

by_name = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def with_quotes(text: str) -> str:
    """The page with every quoted file as it is now."""

    def quote(match: re.Match[str]) -> str:
        content = (REPOSITORY / match["path"]).read_text(encoding="utf-8")
        return f"<!-- file: {match['path']} -->\n```{match['language']}\n{content}```\n"

    return _QUOTE.sub(quote, text)


@by_name
def test_quoted_files_are_the_files(page: Path, request: pytest.FixtureRequest) -> None:
    text = page.read_text(encoding="utf-8")
    if request.config.getoption("--update-docs"):
        page.write_text(with_quotes(text), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == with_quotes(text)


@by_name
def test_links_lead_somewhere(page: Path) -> None:
    targets = _LINK.findall(page.read_text(encoding="utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing


@by_name
def test_paths_exist(page: Path) -> None:
    paths = _PATH.findall(page.read_text(encoding="utf-8"))
    missing = [path for path in paths if not (REPOSITORY / path).exists()]
    assert [path for path in missing if not path.startswith("python/src/")] == []


def test_the_readme_lists_every_unit() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert [unit.name for unit in units() if f"`{unit.name}`" not in text] == []


@pytest.mark.parametrize(
    "name",
    ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    + [f"docs/{name}.md" for name in ("flows", "decisions", "symptoms")],
)
def test_lines_are_short(name: str) -> None:
    lines = (REPOSITORY / name).read_text(encoding="utf-8").splitlines()
    links = re.compile(r"^!\[|^\| ")  # which cannot be broken
    assert [line for line in lines if len(line) > 120 and not links.match(line)] == []


def test_sentences_are_drawn_from_prose_alone() -> None:
    page = (
        "# A heading that nobody reads\n\n"
        "A first sentence, which goes\nover two lines. `Code` begins a second one!\n\n"
        "    ./rw demo of a command\n\n| a | table of | four columns |\n\n- An item of a list.\n"
        "```\ncode that is fenced.\n```\n"
    )
    assert list(sentences(page)) == [
        "A first sentence, which goes over two lines.",
        "`Code` begins a second one!",
        "An item of a list.",
    ]


def test_a_draw_is_of_its_seed() -> None:
    assert draw(1) == draw(1) != draw(2)
    assert len(set(draw(1))) == COUNT
