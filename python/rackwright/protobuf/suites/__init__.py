"""Suites that come with Rackwright, and the generator that makes more from distributions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.protobuf.program import main_source
from rackwright.protobuf.schema import read_schema
from rackwright.protobuf.suite import Suite
from rackwright.protobuf.suites.fields import fields_suite
from rackwright.protobuf.wire import delimited


def chosen_suite(name: str, syntax: str | None = None) -> Suite:
    """The suite `fields` or `services`, or one made from the distributions in a YAML file.

    `syntax`, "proto2" or "proto3", is that of all schemas that are made from distributions, in place of the
    share they tell. Raises `RackwrightError` for another name, for a file that makes no sense, and for a
    suite whose syntax can't be chosen.
    """
    from rackwright.protobuf.suites.distributions import FLEET, read_distributions
    from rackwright.protobuf.suites.services import services_suite

    path = Path(name)
    if name == "services" or path.suffix in (".yaml", ".yml"):
        shapes = read_distributions(FLEET if name == "services" else path)
        if syntax is not None:
            shapes = replace(shapes, proto3=float(syntax == "proto3"))
        return services_suite(shapes, path.stem)
    if name != "fields":
        raise RackwrightError(f"no suite {name}; there are fields, services, or a FILE.yaml")
    if syntax is not None:
        raise RackwrightError("the suite fields has a syntax of its own; --syntax is for services")
    return fields_suite()


def save_suite(suite: Suite, folder: Path) -> None:
    """Writes the suite's .proto files, each benchmark's messages, and the C++ driver that measures them."""
    folder.mkdir(parents=True, exist_ok=True)
    schema = read_schema(suite.proto)
    for name in schema.files:
        (folder / name).write_bytes((suite.proto.parent / name).read_bytes())
    for benchmark in suite.benchmarks:
        (folder / f"{benchmark.name}.bin").write_bytes(delimited(benchmark.messages))
    messages = list(dict.fromkeys(benchmark.message for benchmark in suite.benchmarks))
    (folder / "main.cpp").write_text(main_source(schema, messages), encoding="utf-8")
