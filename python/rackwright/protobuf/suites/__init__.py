"""The built-in suites, and the generator of further ones from distributions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.files.document import is_yaml
from rackwright.protobuf.program import main_source
from rackwright.protobuf.schema import read_schema
from rackwright.protobuf.suite import MESSAGES, Suite
from rackwright.protobuf.suites.fields import fields_suite
from rackwright.protobuf.wire import delimited

PUBLIC_SCHEMAS = 12
"""Default number of schemas of the suite `public`."""


def chosen_suite(
    name: str,
    syntax: str | None = None,
    schemas: int | None = None,
    seed: int | None = None,
    messages: int | None = None,
) -> Suite:
    """The suite `fields`, `services` or `public`, or one drawn from the distributions in a YAML file.

    `syntax`, "proto2" or "proto3", is that of all schemas drawn from distributions, instead of their share;
    `schemas` and `seed` are those of `public`; `messages` is the number of messages of a benchmark: for
    services and schemas, fewer are a prefix of more. Raises `RackwrightError` for another name, for an
    invalid file, and for a suite without the selected option.
    """
    from rackwright.protobuf.suites.distributions import FLEET, read_distributions
    from rackwright.protobuf.suites.public import SEED, public_suite
    from rackwright.protobuf.suites.services import services_suite

    if name != "public":
        for option, value in (("--schemas", schemas), ("--seed", seed)):
            if value is not None:
                raise RackwrightError(f"the suite {name} has schemas of its own; {option} is for public")
    path = Path(name)
    if name == "services" or is_yaml(path.name):
        shapes = read_distributions(FLEET if name == "services" else path)
        if syntax is not None:
            shapes = replace(shapes, proto3=float(syntax == "proto3"))
        if messages is not None:
            shapes = replace(shapes, messages=messages)
        return services_suite(shapes, path.stem)
    if name not in ("fields", "public"):
        raise RackwrightError(f"no suite {name}; there are fields, services, public, or a FILE.yaml")
    if syntax is not None:
        raise RackwrightError(f"the suite {name} has a syntax of its own; --syntax is for services")
    if name == "fields":
        return fields_suite(messages or MESSAGES)
    return public_suite(schemas or PUBLIC_SCHEMAS, messages or MESSAGES, SEED if seed is None else seed)


def save_suite(suite: Suite, folder: Path) -> None:
    """Writes the suite's .proto files, each benchmark's messages, and the C++ driver that measures them."""
    folder.mkdir(parents=True, exist_ok=True)
    schema = read_schema(suite.proto)
    for name in schema.files:
        source, copy = suite.proto.parent / name, folder / name
        if source.exists():  # well-known types come with protoc
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
    for benchmark in suite.benchmarks:
        (folder / f"{benchmark.name}.bin").write_bytes(delimited(benchmark.messages))
    messages = list(dict.fromkeys(benchmark.message for benchmark in suite.benchmarks))
    (folder / "main.cpp").write_text(main_source(schema, messages), encoding="utf-8")
