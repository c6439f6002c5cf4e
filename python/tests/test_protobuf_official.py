"""The encoding that units are compared with is that of the official library."""

from __future__ import annotations

import itertools
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st
from protobuf_random import types, values

from rackwright.verification import protobuf_wire
from rackwright.verification.protobuf_schema import Kind, Message

_names = itertools.count()


def official(message: Message, value: dict[int, Any]) -> bytes:
    """What the official library writes."""
    files: dict[str, descriptor_pb2.DescriptorProto] = {}
    _declare(message, files)
    package = f"random{next(_names)}"
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
    for declared in files.values():
        for field in declared.field:
            if field.type_name:
                field.type_name = f".{package}.{field.type_name}"
    file.message_type.extend(files.values())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{message.name}"))()
    _fill(made, message, value)
    return bytes(made.SerializeToString(deterministic=True))


def _declare(message: Message, into: dict[str, descriptor_pb2.DescriptorProto]) -> None:
    if message.name in into:
        return
    declared = into[message.name] = descriptor_pb2.DescriptorProto(name=message.name)
    for item in message.fields:
        field = declared.field.add(name=f"f{item.number}", number=item.number)
        field.type = int(item.kind)  # type: ignore[assignment]
        field.label = field.LABEL_REPEATED if item.repeated else field.LABEL_OPTIONAL
        if item.packed:
            field.options.packed = True
        if item.kind is Kind.MESSAGE:
            field.type_name = item.message().name
            _declare(item.message(), into)
        if item.oneof is not None:
            if not declared.oneof_decl:
                declared.oneof_decl.add(name="choice")
            field.oneof_index = 0


def _fill(made: Any, message: Message, value: dict[int, Any]) -> None:
    for number, item in value.items():
        field, name = message.by_number[number], f"f{number}"
        items = item if field.repeated else [item]
        for part in items:
            if field.kind is Kind.MESSAGE:
                target = getattr(made, name).add() if field.repeated else getattr(made, name)
                target.SetInParent()
                _fill(target, field.message(), part)
                continue
            plain = part.decode() if field.kind is Kind.STRING else part
            if field.repeated:
                getattr(made, name).append(plain)
            else:
                setattr(made, name, plain)


@given(data=st.data())
def test_random_messages(data: st.DataObject) -> None:
    message = data.draw(types())
    for _ in range(3):
        value = data.draw(values(message))
        assert protobuf_wire.encode(message, value) == official(message, value)
