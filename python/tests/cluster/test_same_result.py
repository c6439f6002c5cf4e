"""How a cluster is run never shows in its result: threads, ranks, windows, idle skipping, restarts."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cluster_mpi import mpirun, needs_mpi, script
from cluster_shapes import rack
from command_line import REPOSITORY

from rackwright import RackwrightError

_LINK_CYCLES = 6400

LONG = os.environ.get("RACKWRIGHT_LONG") == "1"
"""Whether threads of one rank run cores and units, too, and not only the rack's models."""


@pytest.fixture(scope="module")
def expected() -> str:
    """The digest of the plainest run: one thread, the longest windows, nothing skipped."""
    return rack().run(until_ms=1, threads=1, skip_idle=False).digest


@pytest.mark.parametrize("skip_idle", [True, False])
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("parts", [1, 2, 5, 16, 100])
def test_threads_windows_and_skipping(expected: str, parts: int, threads: int, skip_idle: bool) -> None:
    window = _LINK_CYCLES // parts
    assert window * parts == _LINK_CYCLES
    result = rack().run(until_ms=1, threads=threads, window_cycles=window, skip_idle=skip_idle)
    assert result.digest == expected


def test_other_seeds_have_other_results(expected: str) -> None:
    assert rack(seed=1).run(until_ms=1).digest != expected


@pytest.mark.parametrize("checkpoint_us", [None, 130.0])
def test_restarts(expected: str, tmp_path: Path, checkpoint_us: float | None) -> None:
    file = tmp_path / "checkpoint"
    before = rack().run(until_ms=0.4, checkpoint=file, checkpoint_us=checkpoint_us)
    assert json.loads(file.read_text(encoding="utf-8"))["digest"] == before.digest
    assert rack().run(until_ms=1, restart=file, threads=2, window_cycles=640).digest == expected


def test_the_last_checkpoint_is_left_when_a_run_is_stopped(expected: str, tmp_path: Path) -> None:
    file = tmp_path / "checkpoint"

    def stop(now: float, _until: float, _rest: float) -> None:
        if now >= 500:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rack().run(until_ms=1, checkpoint=file, checkpoint_us=100, progress=stop)
    assert json.loads(file.read_text(encoding="utf-8"))["cycle"] == 500 * 3200
    assert rack().run(until_ms=1, restart=file).digest == expected


def test_a_restart_that_differs_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "checkpoint"
    rack().run(until_ms=0.4, checkpoint=file)
    with pytest.raises(RackwrightError, match="is a checkpoint of another cluster"):
        rack(seed=1).run(until_ms=1, restart=file)
    changed = json.loads(file.read_text(encoding="utf-8")) | {"digest": "0" * 32}
    file.write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(RackwrightError, match="and not that of the checkpoint, 0000"):
        rack().run(until_ms=1, restart=file)
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(RackwrightError, match="is not a checkpoint"):
        rack().run(until_ms=1, restart=file)
    with pytest.raises(RackwrightError, match="checkpoints need a file"):
        rack().run(until_ms=1, checkpoint_us=1)
    with pytest.raises(RackwrightError, match="ends before the checkpoint"):
        rack().run(until_ms=0.1, restart=_written(tmp_path))


def _written(folder: Path) -> Path:
    file = folder / "later"
    rack().run(until_ms=0.2, checkpoint=file)
    return file


@needs_mpi
def test_restarts_on_other_numbers_of_ranks(tmp_path: Path) -> None:
    path, file = script(tmp_path), tmp_path / "checkpoint"
    digests = []
    for ranks, options in [
        (1, []),
        (2, ["--set", "until_ms=1", "--checkpoint", file, "--checkpoint-us", 300]),
        (3, ["--restart", file]),
        (1, ["--restart", file, "--threads", 2]),
    ]:
        ended = mpirun(ranks, [path, "--json", *options])
        assert ended.status == 0, ended.stderr
        digests.append(json.loads(ended.stdout)["digest"])
    assert digests[0] == digests[2] == digests[3] != digests[1]


@needs_mpi
def test_servers_with_cores_and_units_in_rtl(tmp_path: Path) -> None:
    ping, file = REPOSITORY / "examples" / "clusters" / "ping.py", tmp_path / "checkpoint"
    digests = set()
    for ranks, options in [
        (1, ["--threads", 1, "--checkpoint", file]),
        *([(1, ["--threads", 2])] if LONG else []),
        (2, []),
        (3, ["--restart", file]),
    ]:
        ended = mpirun(ranks, [ping, "--json", *options])
        assert ended.status == 0, ended.stderr
        digests.add(json.loads(ended.stdout)["digest"])
    assert len(digests) == 1
