"""The configuration of a dispatcher: docs/dispatch.md has every field."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from rackwright.cluster.policies import PolicyName, describe_policy
from rackwright.dispatch.lines import Source
from rackwright.errors import RackwrightError
from rackwright.loadtest.address import endpoint

KEY_BYTES = 16
NAMED_PROTOCOLS = ("memcached", "dns", "shim")


def _endpoint(text: str) -> str:
    try:
        return endpoint(text)
    except RackwrightError as error:
        raise ValueError(str(error)) from None


def _replica(value: Any) -> Any:
    return {"address": value} if isinstance(value, str) else value


def _protocol(value: Any) -> Any:
    """A protocol by its name, or by the position of its number."""
    if value in ("memcached", "shim"):
        return {"kind": value}
    if value == "dns":
        return {"kind": "field", "offset": 0, "bytes": 2}
    if isinstance(value, dict) and value.keys() == {"offset", "bytes"}:
        return {"kind": "field", **value}
    raise ValueError(f"is one of {', '.join(NAMED_PROTOCOLS)}, or {{offset: 0, bytes: 8}}")


def _hexadecimal(value: Any) -> Any:
    # YAML reads a sequence of digits as a number.
    if not isinstance(value, str):
        raise ValueError("is a text of hexadecimal digits, in quotes")
    try:
        return list(bytes.fromhex(value))
    except ValueError:
        raise ValueError("is a text of hexadecimal digits, in quotes") from None


def _key(value: Any) -> Any:
    octets = _hexadecimal(value)
    if len(octets) != KEY_BYTES:
        raise ValueError(f"has {2 * KEY_BYTES} hexadecimal digits, not {2 * len(octets)}")
    return octets


Endpoint = Annotated[str, AfterValidator(_endpoint)]
Milliseconds = Annotated[float, Field(gt=0.0, le=3_600_000.0)]


class Part(BaseModel):
    """Part of a configuration, whose names have hyphens; unknown names are refused."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=lambda name: name.replace("_", "-"),
        populate_by_name=True,
    )


class Framing(Part):
    """How requests are identified."""

    kind: Literal["memcached", "shim", "field"]
    offset: int = Field(default=0, ge=0, lt=1 << 15)
    bytes: Literal[2, 4, 8] = 2

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        if self.kind != "field":
            return {"kind": self.kind}
        return {"kind": self.kind, "offset": self.offset, "bytes": self.bytes}


class Replica(Part):
    """A replica: `HOST:PORT`, or that as `address` with its number of `cores`."""

    address: Endpoint
    cores: int = Field(default=1, ge=1, le=1024)


class Service(Part):
    """A service that is dispatched."""

    name: str = Field(min_length=1)
    id: int | None = Field(default=None, ge=0, lt=1 << 15)
    listen: Endpoint
    protocol: Annotated[Framing, BeforeValidator(_protocol)]
    probe: Annotated[list[int] | None, BeforeValidator(_hexadecimal)] = None
    sticky: Literal["client", "key"] | None = None
    replicas: list[Annotated[Replica, BeforeValidator(_replica)]] = []


class Peer(Part):
    """The dispatcher of another rack."""

    rack: int = Field(ge=0, lt=1 << 16)
    address: Endpoint
    services: list[str] | None = None


class Xdp(Part):
    """An interface whose frames are taken by AF_XDP."""

    interface: str = Field(min_length=1, max_length=15)
    mode: Literal["auto", "native", "generic"] = "auto"
    required: bool = False

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        mode = None if self.mode == "auto" else self.mode
        return {"interface": self.interface, "mode": mode, "required": self.required}


class Configuration(Part):
    """A dispatcher."""

    rack: int = Field(default=0, ge=0, lt=1 << 16)
    policy: PolicyName = "daronpon"
    bound: int = Field(default=1, ge=1, lt=1 << 16)
    services: list[Service] = Field(min_length=1, max_length=16)
    peers: list[Peer] = []
    listen_peers: Endpoint | None = None
    key: Annotated[list[int] | None, BeforeValidator(_key)] = None
    metrics: Endpoint | None = "127.0.0.1:9464"
    threads: int = Field(default=1, ge=1, le=64)
    busy_poll: bool = False
    xdp: Xdp | None = None
    gossip_floor: int = Field(default=4, ge=0, le=1 << 16)
    load_delta: Annotated[float, Field(ge=0, le=65_536)] | Literal["adaptive"] = 0.0
    max_redirects: int = Field(default=1, ge=0, le=255)
    expiry_ms: Milliseconds = 80.0
    answer_timeout_ms: Milliseconds = 10_000.0
    truth_interval_ms: Milliseconds = 20.0
    peer_timeout_ms: Milliseconds = 100.0
    probe_interval_ms: Milliseconds = 50.0
    drain_ms: Milliseconds = 5_000.0
    tracked: int = Field(default=1 << 16, ge=4, le=1 << 24)
    held: int = Field(default=4096, ge=0, le=1 << 24)
    seed: int = Field(default=1, ge=0, lt=1 << 63)
    record: str | None = None

    def service_ids(self) -> dict[str, int]:
        """The numbers of services by their names: their position in the list, unless they state another."""
        return {
            service.name: place if service.id is None else service.id
            for place, service in enumerate(self.services)
        }

    def describe(self, incarnation: int) -> dict[str, Any]:
        """As the engine reads it; `incarnation` is higher each time that the dispatcher starts."""
        ids = self.service_ids()
        times = {
            f"{name}_us": round(getattr(self, f"{name}_ms") * 1000)
            for name in ("expiry", "answer_timeout", "truth_interval", "peer_timeout", "probe_interval")
        }
        return {
            "rack": self.rack,
            "incarnation": incarnation,
            "seed": self.seed,
            "policy": describe_policy(self.policy, bound=self.bound),
            "lanes": {
                "threads": self.threads,
                "busy_poll": self.busy_poll,
                "xdp": self.xdp and self.xdp.describe(),
            },
            "key": self.key,
            "peer_listen": self.listen_peers,
            "peers": [
                {
                    "rack": peer.rack,
                    "address": peer.address,
                    "services": [ids[name] for name in (ids if peer.services is None else peer.services)],
                }
                for peer in self.peers
            ],
            "services": [
                {
                    "id": ids[service.name],
                    "name": service.name,
                    "listen": service.listen,
                    "framing": service.protocol.describe(),
                    "probe": service.probe,
                    "sticky": service.sticky,
                    "replicas": [
                        {"address": replica.address, "cores": replica.cores} for replica in service.replicas
                    ],
                }
                for service in self.services
            ],
            "gossip_floor": self.gossip_floor,
            "load_delta": "adaptive" if self.load_delta == "adaptive" else {"fixed": self.load_delta},
            "max_redirects": self.max_redirects,
            "times": times,
            "limits": {"tracked": self.tracked, "held": self.held},
            "record": self.record,
        }


def read_configuration(path: Path) -> Configuration:
    """The configuration in a file. Raises `RackwrightError` with the line of an invalid field."""
    source = Source(path)
    if not isinstance(source.data, dict):
        raise source.error((), "is to hold the fields of a dispatcher, such as `services:`")
    try:
        configuration = Configuration.model_validate(source.data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise source.error(first["loc"], _reason(first["type"], first["msg"])) from None
    _check(source, configuration)
    return configuration


def _reason(kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return "there is no such field"
    if kind == "missing":
        return "is missing"
    return message.removeprefix("Value error, ")


def _check(source: Source, configuration: Configuration) -> None:
    """Checks that involve several fields."""
    names: set[str] = set()
    listening: set[str] = set()
    for place, service in enumerate(configuration.services):
        where = ("services", place)
        if service.name in names:
            raise source.error((*where, "name"), f"two services have the name '{service.name}'")
        if service.listen in listening and not service.listen.endswith(":0"):
            raise source.error((*where, "listen"), f"two services listen on {service.listen}")
        names.add(service.name)
        listening.add(service.listen)
    for place, service in enumerate(configuration.services):
        seen: set[str] = set()
        for index, replica in enumerate(service.replicas):
            where_replica = ("services", place, "replicas", index)
            if replica.address in listening:
                raise source.error(where_replica, f"{replica.address} is where the dispatcher itself listens")
            if replica.address in seen:
                raise source.error(where_replica, f"{replica.address} appears twice")
            seen.add(replica.address)
    _check_peers(source, configuration, names)
    if configuration.tracked & (configuration.tracked - 1):
        raise source.error(("tracked",), f"is a power of two, not {configuration.tracked}")
    if configuration.peer_timeout_ms <= configuration.truth_interval_ms:
        raise source.error(("peer-timeout-ms",), "must be longer than truth-interval-ms")


def _check_peers(source: Source, configuration: Configuration, names: set[str]) -> None:
    if configuration.peers and configuration.key is None:
        raise source.error(
            ("peers",), "peers need a `key`, the same for all, which authenticates their messages"
        )
    if configuration.peers and configuration.listen_peers is None:
        raise source.error(("peers",), "peers need `listen-peers`, the address at which they reach this one")
    racks = {configuration.rack}
    for place, peer in enumerate(configuration.peers):
        if peer.rack in racks:
            raise source.error(("peers", place, "rack"), f"two dispatchers have the number {peer.rack}")
        racks.add(peer.rack)
        for index, name in enumerate(peer.services or ()):
            if name not in names:
                raise source.error(("peers", place, "services", index), f"there is no service '{name}'")
