"""The site: built from this checkout without a warning, with every page, verb and name, and its search.

In a browser with `./rw test --long`.
"""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread

import chromium
import pytest
import typer.main
from command_line import rw

import rackwright
from bootstrap.usage import GROUPS
from rackwright.cli.app import command_line
from rackwright.documentation.build import build_site, serve_site
from rackwright.documentation.code import REFERENCES, build_references
from rackwright.errors import RackwrightError

PICTURES_WITHOUT_TEXT = """
    [...document.images]
        .filter(each => !each.alt || !each.complete || !each.naturalWidth)
        .map(each => each.src)
"""
"""For a browser: pictures that it could not load, or that have no text in their place."""

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site. Warnings, such as links that lead nowhere, are errors."""
    folder = tmp_path_factory.mktemp("site")
    ended = rw("docs", "-o", folder)
    assert ended.status == 0, ended.stderr
    return folder


def text_of(page: Path) -> str:
    return re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8"))


def test_every_page_of_the_checkout_is_there(site: Path) -> None:
    # Maven works in hardware/target meanwhile.
    folders = ("docs", "hardware/src", "validation", "software")
    pages = [path for folder in folders for path in (REPOSITORY / folder).rglob("*.md")]
    pages = [path.relative_to(REPOSITORY) for path in [*pages, REPOSITORY / "hardware" / "README.md"]]
    assert len(pages) > 60
    assert [str(page) for page in pages if not (site / page.with_suffix(".html")).exists()] == []
    assert (site / "README.html").exists()
    assert "docs/index.html" in (site / "index.html").read_text(encoding="utf-8")


def test_every_page_is_reached_from_the_contents(site: Path) -> None:
    contents = (site / "docs" / "index.html").read_text(encoding="utf-8")
    sidebar = contents.split('class="sidebar-tree"')[1]
    targets = re.findall(r'href="([^"#]+\.html)', sidebar)
    reached = {(site / "docs" / target).resolve() for target in targets} | {site / "docs" / "index.html"}
    pages = {page for page in site.rglob("*.html") if page.parent != site or page.stem.isupper()}
    apart = {"_static", "code"}
    assert sorted(str(page) for page in pages - reached if not apart & set(page.parts)) == []


def test_references_of_the_code_are_linked(site: Path) -> None:
    """Without `--code`, which takes minutes, the links lead to pages that say how to build them."""
    page = site / "docs" / "reference" / "code.html"
    links = re.findall(r'href="(\.\./\.\./code/[^"]*)"', page.read_text(encoding="utf-8"))
    assert len(links) == len(REFERENCES)
    assert ["./rw docs --code" in text_of(page.parent / link) for link in links] == [True, True]


@pytest.mark.long("some minutes: everything is compiled once more")
def test_references_of_the_code_are_built(tmp_path: Path) -> None:
    build_references(tmp_path)
    crate = tmp_path / "code" / "rust" / "rackwright_machine" / "struct.Machine.html"
    assert "harts" in text_of(crate)
    unit = next(tmp_path.joinpath("code", "scala").rglob("ZstdDecompressor.html"))
    assert "README.md is its contract" in text_of(unit)


def test_every_verb_has_its_help(site: Path) -> None:
    text = text_of(site / "docs" / "reference" / "commands.html")
    assert [group for group in GROUPS if group not in text] == []
    commands = typer.main.get_command(command_line()).commands  # type: ignore[attr-defined]
    for name, command in commands.items():
        assert f"./rw {name}" in text
        assert all(f"./rw {name} {verb}" in text for verb in getattr(command, "commands", ()))
    assert str(REPOSITORY) not in text


def test_every_public_name_of_python_is_described(site: Path) -> None:
    page = (site / "docs" / "reference" / "python.html").read_text(encoding="utf-8")
    assert [name for name in rackwright.__all__ if f'id="rackwright.{name}"' not in page] == []


def test_pictures_have_text_in_their_place(site: Path) -> None:
    pictures = [
        picture
        for page in site.rglob("*.html")
        for picture in re.findall(r"<img [^>]*_images[^>]*>", page.read_text())
    ]
    assert len(pictures) > 10
    assert [picture for picture in pictures if not re.search(r'alt="[^"]{10,}"', picture)] == []


def test_the_search_knows_the_deserializer(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    found = json.loads(index.removeprefix("Search.setIndex(").rstrip(";\n").removesuffix(")"))
    assert "deseri" in " ".join(found["terms"])


@pytest.mark.filterwarnings("ignore:.*Check CHANGES for Sphinx")  # what MyST uses of it
def test_a_link_that_leads_nowhere_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout of two pages."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "conf.py").write_bytes((REPOSITORY / "docs" / "conf.py").read_bytes())
    (tmp_path / "docs" / "index.md").write_text("# Index\n\n[away](nowhere.md)\n", encoding="utf-8")
    monkeypatch.setattr("rackwright.documentation.build.REPOSITORY", tmp_path)
    monkeypatch.setattr("rackwright.documentation.build.BUILD", tmp_path / ".build")
    with pytest.raises(RackwrightError, match=r"index\.md:3: .*nowhere\.md"):
        build_site(tmp_path / "out")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which the folder is served."""
    addresses: Queue[str] = Queue()
    Thread(target=serve_site, args=(folder, 0, addresses.put), daemon=True).start()
    yield addresses.get(timeout=60)


def test_a_server_gives_pages_and_refuses_a_port_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("hello", encoding="utf-8")
    with served(tmp_path) as address:
        with urllib.request.urlopen(address) as answer:
            assert answer.read() == b"hello"
        port = int(address.rstrip("/").rpartition(":")[2])
        with pytest.raises(RackwrightError, match=f"port {port}: Address already in use"):
            serve_site(tmp_path, port, print)


@pytest.mark.long("a browser, which a machine need not have")
@pytest.mark.skipif(not chromium.found(), reason="needs Chromium: apt-get install chromium")
def test_search_finds_pages_in_a_browser(site: Path, tmp_path: Path) -> None:
    """Without a server it finds them too, but does not show where in the page the word is."""
    with served(site) as address, chromium.opened(site / "README.html", tmp_path / "profile") as page:
        page.call("Page.navigate", url=f"{address}search.html?q=deserializer")
        page.wait("Page.loadEventFired")
        page.evaluate(
            "new Promise(done => { const look = setInterval(() => {"
            " if (document.querySelectorAll('#search-results li a').length > 3) {"
            " clearInterval(look); done(true); } }, 50); })"
        )
        links = page.evaluate(
            "[...document.querySelectorAll('#search-results a')].map(a => a.href).join(' ')"
        )
        assert "protobuf/README.html" in links
        assert page.errors == []


@pytest.mark.long("a browser, which a machine need not have")
@pytest.mark.skipif(not chromium.found(), reason="needs Chromium: apt-get install chromium")
@pytest.mark.parametrize("width", [400, 1400])
def test_pages_fit_a_phone_and_a_desk(site: Path, tmp_path: Path, width: int) -> None:
    wide, bare = [], []
    with chromium.opened(site / "README.html", tmp_path / "profile") as browser:
        browser.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        # The first page leads to another one by itself.
        for page in sorted(set(site.rglob("*.html")) - {site / "index.html"}):
            browser.call("Page.navigate", url=page.as_uri())
            browser.wait("Page.loadEventFired")
            if browser.evaluate("document.documentElement.scrollWidth") > width:
                wide.append(str(page.relative_to(site)))
            bare += browser.evaluate(PICTURES_WITHOUT_TEXT)
        assert browser.errors == []
    assert wide == []
    assert bare == []
