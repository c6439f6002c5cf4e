"""Block diagrams show what is in the code, and are drawn from their descriptions.

`pytest tests/test_diagrams.py --update-docs` draws them anew.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from bootstrap.usage import VERBS
from rackwright import units
from rackwright.cli.run import Cpu
from rackwright.documentation.diagram import Diagram, read_diagram

REPOSITORY = Path(__file__).resolve().parents[2]
DESCRIPTIONS = sorted((REPOSITORY / "docs" / "diagrams").glob("*.yaml"))


def described(name: str) -> Diagram:
    return read_diagram(REPOSITORY / "docs" / "diagrams" / f"{name}.yaml")


@pytest.mark.parametrize("path", DESCRIPTIONS, ids=lambda path: path.stem)
def test_a_drawing_is_that_of_its_description(path: Path, request: pytest.FixtureRequest) -> None:
    drawing = REPOSITORY / "docs" / "images" / f"{path.stem}.svg"
    if request.config.getoption("--update-docs"):
        drawing.write_text(read_diagram(path).svg(), encoding="utf-8")
    assert drawing.read_text(encoding="utf-8") == read_diagram(path).svg()


@pytest.mark.parametrize("path", DESCRIPTIONS, ids=lambda path: path.stem)
def test_every_box_and_every_text_lies_within_the_drawing(path: Path) -> None:
    diagram = read_diagram(path)
    drawing = ElementTree.fromstring(diagram.svg())
    _, _, width, height = map(float, drawing.attrib["viewBox"].split())
    namespace = "{http://www.w3.org/2000/svg}"
    rectangles = list(drawing.iter(f"{namespace}rect"))
    assert len(rectangles) == 1 + sum(1 + len(layer.boxes) for layer in diagram.layers)
    for rectangle in rectangles:
        place = {name: float(rectangle.get(name, 0)) for name in ("x", "y", "width", "height")}
        assert place["x"] + place["width"] <= width
        assert place["y"] + place["height"] <= height
    assert all(float(text.attrib["y"]) < height for text in drawing.iter(f"{namespace}text"))


def test_the_overview_has_every_unit_and_every_core() -> None:
    overview = described("overview")
    assert sorted(overview.all_of("units")) == sorted(unit.name for unit in units())
    assert sorted(overview.all_of("cpus")) == sorted(cpu.value for cpu in Cpu)


def test_the_overview_names_verbs_that_there_are() -> None:
    verbs = described("overview").all_of("verbs")
    assert verbs
    assert [verb for verb in verbs if verb not in VERBS] == []


def test_the_layers_have_every_crate_and_every_package() -> None:
    """Folders of Python and software that are named exist; other small ones are left out."""
    layers = described("layers")
    crates = REPOSITORY / "engine" / "crates"
    manifests = [path.parent.relative_to(crates) for path in crates.rglob("Cargo.toml")]
    assert sorted(layers.all_of("crates")) == sorted(map(str, manifests))
    hardware = REPOSITORY / "hardware" / "src" / "main" / "scala" / "rackwright"
    assert sorted(layers.all_of("packages")) == sorted(path.name for path in hardware.iterdir())
    places = [REPOSITORY / "python" / name for name in layers.all_of("python")]
    places += [REPOSITORY / "software" / name for name in layers.all_of("software")]
    assert [str(place) for place in places if not place.is_dir()] == []
