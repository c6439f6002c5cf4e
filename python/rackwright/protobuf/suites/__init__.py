"""Suites that come with Rackwright, and the generator that makes more from distributions."""

from __future__ import annotations

from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.protobuf.program import main_source
from rackwright.protobuf.schema import read_schema
from rackwright.protobuf.suite import Suite
from rackwright.protobuf.suites.fields import fields_suite
from rackwright.protobuf.wire import delimited


def chosen_suite(name: str) -> Suite:
    """The suite `fields` or `services`, or one made from the distributions in a YAML file.

    Raises `RackwrightError` for another name, and for a file that makes no sense.
    """
    from rackwright.protobuf.suites.distributions import FLEET, read_distributions
    from rackwright.protobuf.suites.services import services_suite

    if name == "fields":
        return fields_suite()
    if name == "services":
        return services_suite(read_distributions(FLEET), "services")
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        return services_suite(read_distributions(path), path.stem)
    raise RackwrightError(f"no suite {name}; there are fields, services, or a FILE.yaml")


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
