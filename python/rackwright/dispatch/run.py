"""A dispatcher in this process."""

from __future__ import annotations

import json
import time
from types import TracebackType
from typing import Any

from rackwright.dispatch.configuration import Configuration


class Dispatcher:
    """A dispatcher that is at work until the `with` block ends.

    Raises `EngineError` when an address cannot be listened at.
    """

    def __init__(self, configuration: Configuration) -> None:
        from rackwright._engine import Balancer

        self.configuration = configuration
        # A resolution of seconds suffices: it is never started twice within one.
        self._incarnation = int(time.time()) & 0xFFFF_FFFF
        self._balancer = Balancer(json.dumps(configuration.describe(self._incarnation)))
        self.addresses = self._balancer.addresses
        self._stopped = False

    def status(self) -> dict[str, Any]:
        """Its state and counters; docs/json.md describes the keys."""
        status: dict[str, Any] = json.loads(self._balancer.status())
        for peer in status["peers"]:
            peer["loads"] = dict(peer["loads"])
        return {"policy": self.configuration.policy, **status}

    @property
    def is_well(self) -> bool:
        """Whether all its threads are at work."""
        return self._balancer.is_well

    def reload(self, configuration: Configuration) -> tuple[int, int]:
        """Changes its replicas to those of another configuration; returns how many were added and removed.

        Raises `EngineError` if anything else differs; then nothing changes.
        """
        return self._balancer.reload(json.dumps(configuration.describe(self._incarnation)))

    def stop(self) -> bool:
        """Completes requests in flight, for `drain-ms` at most; returns whether none is left."""
        self._stopped = True
        return self._balancer.stop(self.configuration.drain_ms / 1000)

    def __enter__(self) -> Dispatcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._stopped:
            self.stop()
