"""An example of each verb's help does what it says, in a folder of a user's own and without a network."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import REPOSITORY, environment
from test_help import VERBS, examples

NAMESPACE = ["unshare", "--user", "--map-root-user", "--net"]
"""A network of its own, which has a loopback device and nothing else."""

PLACE = {
    "accelerate": 0,
    "boot": 1,
    "explore": 2,
    "reproduce": 1,
    "loadtest": 3,
    "test": 3,
    "bench units": 1,
    "bench small": 3,
    "bench compression": 2,
    "bench cluster": 1,
    "bench drx": 1,
    "bench udp": 1,
    "bench aes": 1,
    "bench queues": 1,
    "bench allocate": 1,
    "bench gather": 1,
    "bench store": 1,
    "bench protobuf": 2,
}
"""Which of a verb's examples is run: the first, or one that is over sooner."""

BEFORE = {
    # What is built takes longer than the dispatcher runs.
    "dispatch": "./rw dispatch --check examples/dispatch/one-rack.yaml",
    "trace": "./rw profile --trace app.trace -- run app.elf",
    "drx asm": "./rw drx compile examples/drx/scale.py --emit asm > scale.s",
    "drx disasm": "./rw drx compile examples/drx/scale.py -o scale.drx",
    "bench snappy": "mkdir corpora && cp README.md LICENSE corpora",
    "protobuf deserialize": r"printf '\010\007' | tee a.bin > b.bin",
    "protobuf serialize": r"printf '\002\010\007' > log.bin",
    "soc run": "./rw units stream-copy --header units.h && riscv64-linux-gnu-gcc -march=rv64gc -mabi=lp64d "
    "-mcmodel=medany -O2 -static -nostdlib -nostartfiles -ffreestanding -Wl,--build-id=none "
    "-I software/bare-metal -I software/include -I . -T software/bare-metal/link.ld "
    "software/bare-metal/crt.S examples/soc/copy.c -o copy.elf",
}
"""Commands that make what an example is about."""

PROGRAMS = {"bench dispatch": "nginx"}
"""What a verb compares with and `./rw doctor --install` leaves out: nginx starts as a server."""

UNTIL_INTERRUPTED = {"dispatch"}
"""What runs until Ctrl-C is pressed, which is after some seconds here."""

PROTO = 'syntax = "proto3"; package pkg; message Msg { int32 x = 1; }\n'

pytestmark = pytest.mark.long("each verb once more, with designs and programs that others compile too")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the examples name, beside everything of the checkout."""
    folder = tmp_path_factory.mktemp("user")
    for entry in REPOSITORY.iterdir():
        if entry.name != "out":
            (folder / entry.name).symlink_to(entry)
    (folder / "my.proto").write_text(PROTO, encoding="utf-8")
    compiler = ["riscv64-linux-gnu-gcc", "-O2", "-static", "-march=rv64gc"]
    for name in ("hello.elf", "app.elf"):
        source = REPOSITORY / "examples" / "hello" / "hello.c"
        subprocess.run([*compiler, source, "-o", folder / name], check=True)
    return folder


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("verb", VERBS)
def test_an_example_of_a_verb_needs_no_network(verb: str, folder: Path) -> None:
    if subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine makes no network namespaces")
    if verb in PROGRAMS and shutil.which(PROGRAMS[verb]) is None:
        pytest.skip(f"{PROGRAMS[verb]} is not installed")
    example = examples(verb)[PLACE.get(verb, 0)]
    until = "timeout --preserve-status -s INT 20 " if verb in UNTIL_INTERRUPTED else ""
    script = ["ip link set lo up", BEFORE.get(verb, "true"), f"{until}./rw {example}"]
    ended = subprocess.run(
        [*NAMESPACE, "sh", "-euxc", "\n".join(script)],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
