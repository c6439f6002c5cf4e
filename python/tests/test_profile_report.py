"""The report of a profile in a browser: it draws, search finds, zoom works, numbers are the table's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromium
import pytest
from profile_counts import NO_INLINING

from rackwright import Server, compile_program
from rackwright.linux.boot import boot
from rackwright.linux.image import default_image, load_image
from rackwright.profiling import Profile, profile, profile_boot
from rackwright.profiling.compare import Stacks
from rackwright.profiling.folded import folded

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        chromium.found() is None, reason="there is no Chromium (apt: chromium-headless-shell)"
    ),
]

SOURCE = Path(__file__).resolve().parents[2] / "software" / "tests" / "profile" / "jumps.c"


@pytest.fixture(scope="module")
def runs() -> tuple[Profile, Profile]:
    """A program on two cores."""
    program = compile_program([SOURCE], options=NO_INLINING)
    return tuple(profile(Server(cpu), program, every=1000) for cpu in ("rocket", "boom"))  # type: ignore[return-value]


@pytest.fixture(scope="module")
def page(runs: tuple[Profile, Profile], tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    """Its report, compared with the other core's."""
    folder = tmp_path_factory.mktemp("report")
    seen, other = runs
    (folder / "report.html").write_text(seen.flame_graph(Stacks.of_text("boom", folded(other))))
    with chromium.opened(folder / "report.html", folder / "browser") as opened:
        yield opened
        assert opened.errors == []


def choose(page: chromium.Page, kind: str) -> None:
    """Has a kind of graph drawn, all of it."""
    page.evaluate(
        f"(() => {{ const kind = document.getElementById('kind'); kind.value = '{kind}'; kind.onchange();"
        " document.getElementById('whole').click(); })()"
    )


def shown(page: chromium.Page) -> list[dict[str, Any]]:
    """The boxes of the flame graph."""
    fields = "x, y, width, name, cycles, hit, row, here: node.here, there: node.there"
    return page.evaluate(  # type: ignore[no-any-return]
        f"rackwright.state.shown.map(({{x, y, width, name, cycles, hit, row, node}}) => ({{{fields}}}))"
    )


def search(page: chromium.Page, text: str) -> None:
    """Types into the search box."""
    page.evaluate(
        "(() => { const box = document.getElementById('search');"
        f" box.value = '{text}'; box.dispatchEvent(new Event('input')); }})()"
    )


def table(page: chromium.Page) -> dict[str, list[str]]:
    """The rows of the table of functions, by their names."""
    rows = page.evaluate(
        "[...[...document.querySelectorAll('table')].at(-1).querySelectorAll('tbody tr')]"
        ".map((row) => [...row.children].map((cell) => cell.textContent))"
    )
    return {row[1]: row for row in rows}


@pytest.mark.parametrize("kind", ["flame", "icicle"])
def test_the_flame_graph_draws_all_cycles(
    kind: str, page: chromium.Page, runs: tuple[Profile, Profile]
) -> None:
    choose(page, kind)
    boxes = shown(page)
    assert boxes[0]["name"] == "hart 0"
    assert boxes[0]["cycles"] == runs[0].cycles[0]
    ink = page.evaluate(
        "(() => { const drawn = document.querySelector('#flame canvas');"
        " const pixels = drawn.getContext('2d').getImageData(0, 0, drawn.width, drawn.height).data;"
        " return pixels.filter((value, index) => index % 4 === 3 && value > 0).length; })()"
    )
    area = sum(box["width"] * 17 for box in boxes)
    assert 0.8 * area < ink < 1.2 * area
    assert {"main", "ackermann"} <= {box["name"] for box in boxes}


def test_search_finds_what_the_table_says(page: chromium.Page) -> None:
    choose(page, "flame")
    search(page, "ackermann")
    hits = [box for box in shown(page) if box["hit"]]
    assert hits
    assert all("ackermann" in box["name"] for box in hits)
    inclusive = table(page)["ackermann"][3]
    assert page.evaluate("rackwright.state.matched.toLocaleString('en')") == inclusive
    assert f"{inclusive} cycles" in page.evaluate("document.getElementById('hint').textContent")
    search(page, "no such function")
    assert not any(box["hit"] for box in shown(page))
    assert page.evaluate("rackwright.state.matched") == 0


def test_a_click_zooms_and_the_button_shows_the_whole_again(page: chromium.Page) -> None:
    choose(page, "flame")
    box = next(box for box in shown(page) if box["name"] == "main")
    begin = "document.querySelector('#flame canvas').getBoundingClientRect()"
    page.evaluate("document.getElementById('flame').scrollIntoView()")
    left, top = page.evaluate(f"[{begin}.left, {begin}.top]")
    page.click(left + box["x"] + box["width"] / 2, top + box["y"] + 5)
    zoomed = shown(page)
    assert page.evaluate("rackwright.state.zoomed") == "main"
    wide = next(each for each in zoomed if each["name"] == "main")
    assert wide["width"] > box["width"]
    assert wide["cycles"] == box["cycles"]
    assert wide["width"] == max(each["width"] for each in zoomed)
    page.evaluate("document.getElementById('whole').click()")
    assert page.evaluate("rackwright.state.zoomed") == "hart 0"


def test_the_table_is_that_of_the_profile(page: chromium.Page, runs: tuple[Profile, Profile]) -> None:
    rows = table(page)
    calls = runs[0].calls()
    for row in calls.to_dict("records"):
        cells = rows[row["function"]]
        numbers = ["count", "inclusive_cycles", "exclusive_cycles", "instructions"]
        assert cells[2:6] == [f"{row[name]:,}" for name in numbers]
    assert len(rows) == len(calls)


def test_a_function_of_the_table_has_its_histogram(
    page: chromium.Page, runs: tuple[Profile, Profile]
) -> None:
    page.evaluate(
        "[...[...document.querySelectorAll('table')].at(-1).querySelectorAll('tbody tr')]"
        ".find((row) => row.children[1].textContent === 'ackermann').click()"
    )
    calls = runs[0].calls().set_index("symbol")
    assert page.evaluate("rackwright.state.histogram.total") == calls.loc["ackermann", "count"]
    slowest = page.evaluate("document.querySelector('#durations li').textContent")
    longest = int(calls["maximum"].to_dict()["ackermann"])
    assert slowest.startswith(f"{longest:,} cycles")


@pytest.mark.parametrize(("kind", "run"), [("here", 0), ("there", 1)])
def test_the_difference_has_the_cycles_of_both_runs(
    kind: str, run: int, page: chromium.Page, runs: tuple[Profile, Profile]
) -> None:
    choose(page, kind)
    boxes = shown(page)
    assert [boxes[0]["here"], boxes[0]["there"]] == [seen.cycles[0] for seen in runs]
    assert boxes[0]["cycles"] == runs[run].cycles[0]
    main = next(box for box in boxes if box["name"] == "main")
    inclusive = [seen.calls().set_index("symbol").loc["main", "inclusive_cycles"] for seen in runs]
    assert [main["here"], main["there"]] == inclusive
    first = page.evaluate(
        "[...document.querySelector('#differences tr').children].map((each) => each.textContent)"
    )
    own = [int(runs[each].calls().set_index("function").loc[first[0], "exclusive_cycles"]) for each in (0, 1)]
    assert first[1:4] == [f"{own[0] - own[1]:+,}", f"{own[0]:,}", f"{own[1]:,}"]


def test_the_time_line_has_the_calls_of_the_profile(
    page: chromium.Page, runs: tuple[Profile, Profile]
) -> None:
    lanes = page.evaluate("rackwright.state.lanes.map(({title, events}) => [title, events.length])")
    assert lanes[0][0] == "hart 0: threads"
    title = runs[0].threads[0].title
    assert [f"hart 0: calls of {title}", len(runs[0].harts[0].slices)] in lanes


TEN_SECONDS = "for each in 1 2 3 4 5 6 7 8 9 10; do ls -R / > /dev/null 2>&1; sleep 0.95; done"


def test_the_report_of_ten_seconds_of_linux_is_small_and_opens_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Most of the ten seconds two harts wait: what the page has grows with what happens, not with cycles."""
    image = load_image(default_image())
    boot(image, harts=2, memory_bytes=256 << 20, checkpoint=tmp_path / "booted")
    seen = profile_boot(image, TEN_SECONDS, checkpoint=tmp_path / "booted", cpu="functional")
    assert max(seen.cycles) >= 10 * seen.clock_hz
    report = tmp_path / "report.html"
    report.write_text(seen.flame_graph())
    megabytes = report.stat().st_size / 1e6
    with chromium.opened(report, tmp_path / "browser") as opened:
        # The event that is awaited has to end first.
        seconds = opened.evaluate(
            "new Promise((done) => setTimeout(() => done("
            "performance.getEntriesByType('navigation')[0].loadEventEnd / 1000), 100))"
        )
        assert opened.errors == []
    instructions = seen.instructions / 1e6
    with capsys.disabled():
        print(f"\n{instructions:.0f} million instructions: {megabytes:.1f} MB, open in {seconds:.2f} s")
    assert megabytes <= 20
    assert 0 < seconds <= 3
