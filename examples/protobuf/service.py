"""Compiles the service with its messages, and runs it both ways."""

from pathlib import Path

from rackwright import Server
from rackwright.protobuf import compile_service

HERE = Path(__file__).parent

program = compile_service([HERE / "service.cpp"], HERE / "trip.proto")
for way, units in (("library", []), ("units", ["protobuf-deserialize", "protobuf-serialize"])):
    print(Server("boom", units).run(program, [way]).stdout.decode(), end="")
