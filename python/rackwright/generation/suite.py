"""Suites on disk: a folder of files with their parameters."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.errors import RackwrightError
from rackwright.formats import FORMATS
from rackwright.generation.chunks import ChunkTable
from rackwright.generation.corpus import SYNTHETIC, corpus_files
from rackwright.generation.maker import Maker, SuiteFile, make_taken, take_maker
from rackwright.generation.profile import OperationProfile, Profile
from rackwright.generation.targets import Target, draw_targets

if TYPE_CHECKING:
    import pandas as pd

INDEX = "suite.json"
"""The file that lists a suite's files; it is written last."""

_VERSION = 1

USUAL_FILES = 10_000
"""Files for each operation; the published suites have 8,000 to 10,000 (Karandikar 2024, section 7.4)."""

_FILES_A_PORTION = 25


@dataclass(frozen=True)
class Suite:
    """A generated suite: its profile and seed, and its files in order."""

    folder: Path
    profile: str
    source: str
    seed: int
    corpora: tuple[str, ...]
    files: tuple[SuiteFile, ...]

    def only(self, operation: str) -> tuple[SuiteFile, ...]:
        """The files of an operation."""
        return tuple(each for each in self.files if each.operation == operation)

    @property
    def digest(self) -> str:
        """Equal for suites with equal files and compression parameters."""
        rows = [(each.path, each.sha256, each.level, each.window_log2) for each in self.files]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]

    def read(self, file: SuiteFile) -> bytes:
        """The uncompressed bytes of a file; raises `RackwrightError` if they are not the generated ones."""
        try:
            data = (self.folder / file.path).read_bytes()
        except OSError as error:
            raise RackwrightError(f"{self.folder / file.path}: {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != file.sha256:
            raise RackwrightError(f"{self.folder / file.path} was changed since the suite was generated")
        return data

    def frame(self) -> pd.DataFrame:
        """A row for each file."""
        import pandas as pd

        return pd.DataFrame([asdict(each) | {"ratio": each.ratio} for each in self.files])

    def record(self) -> dict[str, Any]:
        """The index in its file format."""
        return {
            "version": _VERSION,
            "profile": self.profile,
            "source": self.source,
            "seed": self.seed,
            "corpora": list(self.corpora),
            "files": [asdict(each) for each in self.files],
        }


def generate(
    profile: Profile,
    folder: Path,
    *,
    files: int = USUAL_FILES,
    seed: int = 1,
    corpora: Sequence[str] = (SYNTHETIC,),
    operation: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Suite:
    """Writes `files` files for each operation of `profile` (or the one named) into `folder`.

    The same arguments give the same bytes. `progress` is called with the progress. Raises `RackwrightError`
    if `folder` contains anything other than a suite, or if corpora are unreadable.
    """
    if files < 1:
        raise RackwrightError(f"a suite has at least one file, not {files}")
    operations = profile.only(operation)
    progress(f"reading the corpora {', '.join(corpora)}")
    sources = corpus_files(corpora, seed)
    _prepare(folder)
    made: list[SuiteFile] = []
    tables: dict[str, ChunkTable] = {}
    for each in operations:
        if each.format not in tables:
            progress(f"{each.format}: rating chunks")
            tables[each.format] = ChunkTable(sources, FORMATS[each.format])
        made += _generate(each, folder, files, seed, tables[each.format], progress)
    suite = Suite(folder, profile.name, profile.source, seed, tuple(corpora), tuple(made))
    partial = folder / f"{INDEX}.partial"
    partial.write_text(json.dumps(suite.record(), indent=1) + "\n", encoding="utf-8")
    partial.rename(folder / INDEX)
    return suite


def _prepare(folder: Path) -> None:
    """Creates `folder`, or removes a complete or partial suite from it."""
    partial = folder / f"{INDEX}.partial"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()) and not (folder / INDEX).exists() and not partial.exists():
            raise RackwrightError(f"{folder} holds something that is not a suite; give an empty folder")
        partial.touch()
        (folder / INDEX).unlink(missing_ok=True)
        for operation in ("compress", "decompress"):
            for file in (folder / operation).glob("*.bin"):
                file.unlink()
    except OSError as error:
        raise RackwrightError(f"{folder}: {error.strerror}") from error


def _generate(
    profile: OperationProfile,
    folder: Path,
    files: int,
    seed: int,
    table: ChunkTable,
    progress: Callable[[str], None],
) -> Iterator[SuiteFile]:
    """The files of an operation, generated on every core; they do not depend on the core."""
    name = f"{profile.format} {profile.operation}"
    targets = draw_targets(profile, files, seed)
    (folder / profile.operation).mkdir(exist_ok=True)
    maker = Maker(profile, table, folder, seed)
    workers = min(os.cpu_count() or 1, -(-files // _FILES_A_PORTION))
    if workers == 1:
        made: Iterator[SuiteFile] = map(maker.make, targets)
    else:
        pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=take_maker, initargs=(maker,))
        made = _from_pool(pool, targets)
    for index, file in enumerate(made):
        if index % _FILES_A_PORTION == 0:
            progress(f"{name}: file {index} of {files}")
        yield file


def _from_pool(pool: ProcessPoolExecutor, targets: Sequence[Target]) -> Iterator[SuiteFile]:
    with pool:
        yield from pool.map(make_taken, targets, chunksize=_FILES_A_PORTION)


def load_suite(folder: Path) -> Suite:
    """An existing suite; raises `RackwrightError` for a folder without a complete one."""
    index = folder / INDEX
    try:
        record = json.loads(index.read_text(encoding="utf-8"))
        if record["version"] != _VERSION:
            raise RackwrightError(
                f"{index} has version {record['version']}, not {_VERSION}; generate it again"
            )
        files = tuple(SuiteFile(**each) for each in record["files"])
        corpora = tuple(record["corpora"])
        return Suite(folder, record["profile"], record["source"], int(record["seed"]), corpora, files)
    except OSError as error:
        raise RackwrightError(f"{index}: {error.strerror}; is it a whole suite of `rw generate`?") from error
    except (ValueError, KeyError, TypeError) as error:
        raise RackwrightError(f"{index} is not the index of a suite: {error}") from error
