"""Verbs work without a network once everything is installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command_line import REPOSITORY, environment

NAMESPACE = ["unshare", "--user", "--map-root-user", "--net"]
"""A network of its own, which has nothing but a loopback device that is down."""

VERBS = {
    "units": [],
    "accelerate": ["snappy", "compress", "README.md", "-o", "{folder}/packed"],
    "run": ["{program}", "--accelerator", "snappy", "--", "compress", "unit", "README.md"],
    "map": ["examples/clusters/ping.py"],
}
"""The arguments of a run of a verb: generators in Java, Verilator, compilers and the engine."""

pytestmark = pytest.mark.long("each verb once more, with designs and programs that others compile too")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_needs_no_network(verb: str, tmp_path: Path) -> None:
    if subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine makes no network namespaces")
    named = {
        "folder": tmp_path,
        "program": REPOSITORY / ".build" / "software" / "riscv64" / "snappy-benchmark",
    }
    words = [word.format(**named) for word in VERBS[verb]]
    ended = subprocess.run(
        [*NAMESPACE, str(REPOSITORY / "rw"), verb, *words],
        cwd=REPOSITORY,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
