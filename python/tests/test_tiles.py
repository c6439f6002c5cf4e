"""Tiles: files, the checker against every state that a graph can reach, drawings, placement."""

from __future__ import annotations

import random
from itertools import permutations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import REPOSITORY, rw
from tile_graphs import Behaviour, random_clients, random_graph

from rackwright.errors import RackwrightError
from rackwright.hardware.designs import units
from rackwright.tiles import (
    Graph,
    Layout,
    Mesh,
    Place,
    Queue,
    Service,
    Tile,
    check,
    draw,
    place,
    read_graph,
    read_layout,
)
from rackwright.tiles.mesh import CLASSES, LARGEST, ROUTINGS
from rackwright.tiles.waiting import channel_cycle, stalled_ring

EXAMPLES = REPOSITORY / "examples" / "tiles"
MOST_STATES = 20_000


def test_no_mesh_with_a_network_for_each_class_can_stall() -> None:
    for routing in ROUTINGS:
        for size in (2, 3, LARGEST):
            assert channel_cycle(Mesh(size, size, routing)) is None


@pytest.mark.parametrize("shared", [("request", "response"), ("request", "forward"), ("forward", "response")])
def test_classes_that_share_a_network_wait_for_each_other(shared: tuple[str, str]) -> None:
    networks = {name: 0 if name in shared else 1 for name in CLASSES}
    mesh = Mesh(2, 2, networks=networks)
    cycle = channel_cycle(mesh)
    assert cycle is not None
    pairs = set(mesh.dependencies())
    assert all(pair in pairs for pair in zip(cycle, [*cycle[1:], cycle[0]], strict=True))


def test_a_route_goes_one_dimension_after_the_other() -> None:
    start, end = Place(0, 2), Place(2, 0)
    assert Mesh(3, 3, "xy").route(start, end) == [(0, 2), (1, 2), (2, 2), (2, 1), (2, 0)]
    assert Mesh(3, 3, "yx").route(start, end) == [(0, 2), (0, 1), (0, 0), (1, 0), (2, 0)]


def test_a_mesh_has_the_defaults_of_its_unit() -> None:
    [unit] = [each for each in units() if each.name == "mesh"]
    built = {parameter["name"]: parameter["default"] for parameter in unit.parameters}
    mesh = Mesh(2, 2).parameters()
    for name in ("routing", "flit-bytes", "depth", "stages"):
        assert mesh[name] == built[name]


def judge(seed: int, count: int) -> tuple[int, int]:
    """How many of so many graphs were refused and allowed, each rightly."""
    numbers = random.Random(seed)
    refused = allowed = 0
    for _ in range(count):
        graph = numbers.choice([random_graph, random_clients])(numbers)
        stalls = Behaviour(graph).stalls(MOST_STATES)
        ring = stalled_ring(graph)
        assert stalls is None or stalls == (ring is not None), graph
        refused += ring is not None
        allowed += ring is None and stalls is False
    return refused, allowed


def test_what_is_refused_can_stall_and_what_is_allowed_cannot() -> None:
    refused, allowed = judge(1, 400)
    assert refused > 50
    assert allowed > 200


@pytest.mark.long("two minutes")
def test_ten_thousand_graphs_are_judged_rightly() -> None:
    refused, allowed = judge(2, 10_000)
    assert refused > 1500
    assert allowed > 6000


def client_and_server(window: int | None) -> Graph:
    services = {
        "client": Service("client", "program", "hart0", window=window),
        "server": Service("server", "stream-copy", "copy", holds=4),
    }
    queues = {
        "ask": Queue("ask", "client", "server", 16, then=("answer",)),
        "answer": Queue("answer", "server", "client", 8),
    }
    return Graph(services, queues)


def test_sizes_count() -> None:
    """Sixteen and eight in the queues, four in the unit, one in the program's hand: 29 are one too many."""
    assert stalled_ring(client_and_server(28)) is None
    ring = stalled_ring(client_and_server(29))
    assert ring is not None
    assert ring.witness == ["client", "ask", "server", "answer"]


def two_by_two() -> Layout:
    return read_layout(EXAMPLES / "two-by-two.yaml")


def test_a_verdict_says_why() -> None:
    verdict = check(two_by_two(), client_and_server(29))
    assert not verdict.legal
    assert verdict.reason.startswith("29 elements fill client → ask → server → answer → client")
    assert verdict.witness == ("client", "ask", "server", "answer")
    assert check(two_by_two(), client_and_server(28)).legal


@pytest.mark.parametrize(
    ("layout", "graph", "longest"),
    [("two-by-two", "copy", 2), ("three-by-three", "chain", 4)],
)
def test_the_examples_are_legal(layout: str, graph: str, longest: int) -> None:
    files = EXAMPLES / f"{layout}.yaml", "--graph", EXAMPLES / f"{graph}.graph.yaml"
    ended = rw("tiles", "check", *files, "--json")
    record = ended.json()
    assert ended.status == 0
    assert set(record) == {"legal", "reason", "witness", "tiles", "queues", "longest_route"}
    assert record["legal"]
    assert record["longest_route"]["hops"] == longest
    assert "legal" in rw("tiles", "check", *files).stdout


def test_a_graph_that_can_stall_is_refused_with_its_cycle(tmp_path: Path) -> None:
    text = (EXAMPLES / "copy.graph.yaml").read_text().replace(", window: 16", ", window: 64")
    (tmp_path / "graph.yaml").write_text(text)
    ended = rw("tiles", "check", EXAMPLES / "two-by-two.yaml", "--graph", tmp_path / "graph.yaml")
    assert ended.status == 1
    assert "client → to-copy → copier → from-copy → client" in ended.stdout


def test_a_drawing_has_every_tile_and_every_link() -> None:
    layout = read_layout(EXAMPLES / "three-by-three.yaml")
    drawing = ElementTree.fromstring(draw(layout, read_graph(EXAMPLES / "chain.graph.yaml")))
    space = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in drawing.iter(f"{space}text")]
    assert all(tile.name in texts and tile.holds in texts for tile in layout.tiles)
    # Twelve links between routers, and one to each tile.
    assert len(list(drawing.iter(f"{space}line"))) == 12 + 9
    busy = [line for line in drawing.iter(f"{space}line") if line.attrib["stroke"] == "#e07b39"]
    assert busy


def test_an_arrangement_of_few_tiles_is_the_best() -> None:
    layout = two_by_two().moved({"hart0": Place(1, 1), "snappy": Place(0, 0)})
    graph = read_graph(EXAMPLES / "copy.graph.yaml")
    found = place(layout, graph)
    assert found.best
    arrangements = permutations(tile.at for tile in layout.tiles)
    names = [tile.name for tile in layout.tiles]
    least = min(
        place(layout.moved(dict(zip(names, each, strict=True))), graph).before for each in arrangements
    )
    assert found.after == least < found.before


def test_an_arrangement_of_many_tiles_is_better_and_keeps_what_is_fixed(tmp_path: Path) -> None:
    output = tmp_path / "placed.yaml"
    arguments = "--graph", EXAMPLES / "chain.graph.yaml", "-o", output, "--json"
    record = rw("tiles", "place", EXAMPLES / "three-by-three.yaml", *arguments).json()
    assert record["traffic_after"] < record["traffic_before"] / 2
    placed = read_layout(output)
    assert placed.by_name["hart0"].at == (0, 0)
    assert {tile.at for tile in placed.tiles} == set(placed.mesh.places())
    again = place(placed, read_graph(EXAMPLES / "chain.graph.yaml"))
    assert again.before == record["traffic_after"]


def test_the_drawing_is_a_file(tmp_path: Path) -> None:
    output = tmp_path / "tiles.svg"
    assert rw("tiles", "draw", EXAMPLES / "two-by-two.yaml", "-o", output).status == 0
    assert "<svg" in output.read_text()


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("width: 2", "width: 9", "width is 9, not an integer from 1 to 8"),
        ("width: 2", "wide: 2", "mesh has 'wide'; there are width"),
        ("memory: [0, 0]", "memory: [5, 0]", "memory is at (5, 0), which is beside the mesh"),
        ("memory: [0, 0]", "routing: up", "routing is 'up'; there are xy, yx"),
        (
            "memory: [0, 0]",
            "networks: {request: 0}",
            "networks has request; it needs request, forward, response",
        ),
        ("at: [1, 1]", "at: [0, 1]", "tile snappy: (0, 1) is the place of copy"),
        ("at: [1, 1]", "at: 3", "tile snappy: at is 3, not a place like [0, 1]"),
        (
            "unit: stream-copy",
            "unit: nic",
            "tile copy has unit nic, which cannot be placed on a tile; there are",
        ),
        ("unit: stream-copy", "fixed: true", "tile copy is either `hart: true` or has a unit"),
        ("mesh:", "mesh: {", "not YAML"),
    ],
)
def test_a_wrong_file_of_tiles_is_refused_in_a_line(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    file = tmp_path / "tiles.yaml"
    file.write_text((EXAMPLES / "two-by-two.yaml").read_text().replace(old, new))
    ended = rw("tiles", "check", file)
    assert ended.status == 1
    assert f"{file}: " in ended.stderr
    assert complaint in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("to: copier", "to: nobody", "queue to-copy: there is no service nobody"),
        (
            "elements: 16, element_bytes: 64",
            "elements: 0",
            "to-copy: elements is 0, not an integer from 1",
        ),
        ("element_bytes: 64", "element_bytes: 12", "element_bytes is 12, not a multiple of 8 from 8 to 64"),
        ("element_bytes: 64", "full: never", "queue to-copy: full is 'never'; there are wait, drop"),
        ("element_bytes: 64", "then: [x]", "queue to-copy: then names x, which is no queue"),
        ("element_bytes: 64", "then: [to-copy]", "then names to-copy, which copier does not fill"),
        (
            "element_bytes: 64",
            "then: []",
            "what it begins ends at copier (queue to-copy), and no answer comes back",
        ),
        ("element_bytes: 64", "rate: fast", "queue to-copy: rate is 'fast', not a number from 0 on"),
        ("window: 16", "window: many", "service client: window is 'many', not an integer from 1"),
        ("tile: hart0", "tile: attic", "service client: there is no tile attic"),
        ("tile: copy", "tile: hart1", "service copier: tile hart1 is a hart, which cannot be stream-copy"),
        ("by: stream-copy", "by: drx", "service copier: tile copy is stream-copy, not drx"),
    ],
)
def test_a_wrong_graph_is_refused_in_a_line(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    file = tmp_path / "graph.yaml"
    file.write_text((EXAMPLES / "copy.graph.yaml").read_text().replace(old, new, 1))
    with pytest.raises(RackwrightError) as raised:
        check(two_by_two(), read_graph(file))
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)


def test_there_is_a_hart() -> None:
    with pytest.raises(RackwrightError, match="no tile has a hart"):
        Layout(Mesh(2, 1), (Tile("copy", Place(0, 0), "stream-copy"),))
