"""Services that work for the requested time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import TracebackType

from rackwright.loadtest.address import endpoint


class WorkServices:
    """A service at each address, with a queue of its own, until the `with` block ends.

    Each works on `cores` requests at once. With `spin` they keep a processor busy, otherwise they sleep, so
    that there can be more of them than processors. `header_bytes` before each request are returned unchanged.
    Raises `EngineError` when an address cannot be listened at.
    """

    def __init__(
        self, addresses: Sequence[str], cores: int = 1, spin: bool = False, header_bytes: int = 0
    ) -> None:
        from rackwright._engine import WorkService

        plan = {
            "addresses": [endpoint(address) for address in addresses],
            "cores": cores,
            "spin": spin,
            "header_bytes": header_bytes,
        }
        self._service = WorkService(json.dumps(plan))
        self.addresses = self._service.addresses

    @property
    def answered(self) -> int:
        """Requests answered so far."""
        return self._service.counts[0]

    @property
    def malformed(self) -> int:
        """Datagrams so far that are no requests."""
        return self._service.counts[1]

    @property
    def is_well(self) -> bool:
        """Whether all workers are at work."""
        return self._service.is_well

    def stop(self) -> None:
        """Ends them."""
        self._service.stop()

    def __enter__(self) -> WorkServices:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
