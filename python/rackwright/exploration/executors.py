"""Executors of measurements: processes of this machine, ranks of MPI, or workers of Dask."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from rackwright.errors import RackwrightError

EXECUTORS = ("local", "mpi", "dask")
"""The names on the command line."""


@contextmanager
def executor(name: str, workers: int | None = None, scheduler: str | None = None) -> Iterator[Executor]:
    """An executor by name, closed at the end; unfinished work is dropped.

    `workers` are processes of this machine (by default one a core; for `dask` without a `scheduler` too).
    `mpi` takes the ranks that mpirun started with `-m mpi4py.futures`, or starts `workers` of its own.
    `scheduler` is the address of a Dask scheduler.
    """
    if name == "dask":
        with _dask(workers, scheduler) as pool:
            yield pool
        return
    if name not in EXECUTORS:
        raise RackwrightError(f"no executor is called {name}; there are {', '.join(EXECUTORS)}")
    pool = _mpi(workers) if name == "mpi" else _local(workers)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _local(workers: int | None) -> Executor:
    return ProcessPoolExecutor(workers or os.cpu_count() or 1, get_context("spawn"))


def _mpi(workers: int | None) -> Executor:
    try:
        from mpi4py.futures import MPIPoolExecutor
    except (ImportError, RuntimeError) as error:
        raise RackwrightError(f"mpi4py has no MPI library: {error}; install openmpi-bin") from error
    pool: Executor = MPIPoolExecutor(max_workers=workers)
    return pool


@contextmanager
def _dask(workers: int | None, scheduler: str | None) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError as error:
        raise RackwrightError("dask is not installed; pip install 'rackwright[dask]'") from error
    make: Any = Client  # has no types
    own = {
        "n_workers": workers or os.cpu_count() or 1,
        "threads_per_worker": 1,
        "dashboard_address": None,
        # Workers that are told to end log errors about connections that end with them.
        "silence_logs": logging.CRITICAL,
    }
    try:
        client = make(scheduler) if scheduler else make(**own)
    except OSError as error:
        raise RackwrightError(f"dask: {error}") from error
    with client:
        yield client.get_executor()
