"""`rw bench aes`: messages through the cipher unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rackwright.cli.bench.verified import report
from rackwright.cli.output import JsonOption, working

if TYPE_CHECKING:
    from rackwright.benchmarks.aes import AesRow


def aes(
    by: Annotated[Literal["unit"], typer.Option("--by", help="The implementation.")] = "unit",
    messages: Annotated[int, typer.Option(min=2, max=10_000, help="Messages per measurement.")] = 48,
    json: JsonOption = False,
) -> None:
    """Rate of the unit aes in each mode, with commands from software, for messages in L2.

    Encrypted messages are decrypted again. Messages follow each other as soon as the unit takes them; with
    new keys, each has its own. The exit status is 1 if a message is not restored or has a wrong tag.

    Examples:
        ./rw bench aes

        ./rw bench aes --messages 200 --json

    """
    from rackwright.benchmarks import aes as benchmark

    rows = []
    with working("messages") as activity:
        for row in benchmark.measure(messages):
            activity.detail(f"{row.mode} of {row.payload_bytes} bytes: {row.cycles:.1f} cycles")
            rows.append(row)
    columns = [("test", "left"), ("mode", "left"), ("key", "right"), ("new keys", "left")]
    columns += [
        ("bytes", "right"),
        ("cycles", "right"),
        ("M/s", "right"),
        ("Gbit/s", "right"),
    ]
    report(rows, columns, _cells, json=json)


def _cells(row: AesRow) -> list[str]:
    return [
        row.test,
        row.mode,
        str(8 * row.key_bytes),
        "yes" if row.new_keys else "",
        str(row.payload_bytes),
        f"{row.cycles:.1f}",
        f"{row.per_second / 1e6:.2f}",
        f"{row.gigabits_per_second:.1f}",
    ]
