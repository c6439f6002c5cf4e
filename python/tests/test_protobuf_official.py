"""The encoding that units are compared with is that of the official library."""

from __future__ import annotations

import itertools
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st
from protobuf_random import types, values

from rackwright.verification import protobuf_wire
from rackwright.verification.protobuf_schema import Field, Kind, Message

_names = itertools.count()


def official(message: Message, value: dict[int, Any]) -> Any:
    """The official library's object."""
    files: dict[str, descriptor_pb2.DescriptorProto] = {}
    _declare(message, files)
    package = f"random{next(_names)}"
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
    for declared in files.values():
        for part in (declared, *declared.nested_type):
            for field in part.field:
                if field.type_name:
                    field.type_name = f".{package}.{field.type_name}"
    file.message_type.extend(files.values())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{message.name}"))()
    _fill(made, message, value)
    return made


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
        if item.map:
            field.type_name = f"{message.name}.{_declare_entry(item, declared, into)}"
        elif item.kind is Kind.MESSAGE:
            field.type_name = item.message().name
            _declare(item.message(), into)
        if item.oneof is not None:
            if not declared.oneof_decl:
                declared.oneof_decl.add(name="choice")
            field.oneof_index = 0


def _declare_entry(
    item: Field, parent: descriptor_pb2.DescriptorProto, into: dict[str, descriptor_pb2.DescriptorProto]
) -> str:
    """The type of a map's entries within the message that has the map; gives its name."""
    entry = parent.nested_type.add(name=f"F{item.number}Entry")
    entry.options.map_entry = True
    for part, name in zip(item.message().fields, ("key", "value"), strict=True):
        field = entry.field.add(name=name, number=part.number, label=1)
        field.type = int(part.kind)  # type: ignore[assignment]
        if part.kind is Kind.MESSAGE:
            field.type_name = part.message().name
            _declare(part.message(), into)
    return entry.name


def _fill_map(target: Any, field: Field, entries: list[dict[int, Any]]) -> None:
    key_field, value_field = field.message().fields
    for key, value in protobuf_wire.map_items(field, entries):
        name = _plain(key_field, key)
        if value_field.kind is Kind.MESSAGE:
            _fill(target[name], value_field.message(), value)
        else:
            target[name] = _plain(value_field, value)


def _plain(field: Field, value: Any) -> Any:
    return value.decode() if field.kind is Kind.STRING else value


def _fill(made: Any, message: Message, value: dict[int, Any]) -> None:
    for number, item in value.items():
        field, name = message.by_number[number], f"f{number}"
        if field.map:
            _fill_map(getattr(made, name), field, item)
            continue
        items = item if field.repeated else [item]
        for part in items:
            if field.kind is Kind.MESSAGE:
                target = getattr(made, name).add() if field.repeated else getattr(made, name)
                target.SetInParent()
                _fill(target, field.message(), part)
                continue
            if field.repeated:
                getattr(made, name).append(_plain(field, part))
            else:
                setattr(made, name, _plain(field, part))


def _has_maps(message: Message) -> bool:
    below = (item.message() for item in message.fields if item.kind is Kind.MESSAGE)
    return any(item.map for item in message.fields) or any(map(_has_maps, below))


@given(data=st.data())
def test_random_messages(data: st.DataObject) -> None:
    message = data.draw(types())
    for _ in range(3):
        value = data.draw(values(message))
        ours, theirs = protobuf_wire.encode(message, value), official(message, value)
        written = theirs.SerializeToString(deterministic=True)
        assert len(ours) == len(written)
        # This library has another order of keys than the C++ one, which test_protobuf_differential.py asks.
        assert type(theirs).FromString(ours) == theirs
        assert _has_maps(message) or ours == written
