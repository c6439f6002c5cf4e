"""Speed of the kernel's scalar copy routine, with triggers in it, compared with the core's limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rackwright.errors import RackwrightError
from rackwright.linux.image import build_image, load_image
from rackwright.profiling import Watching, profile_boot
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.fireperf.copies import booted
from rackwright.reproduce.fireperf.stacks import COPY
from rackwright.reproduce.guests import later
from rackwright.reproduce.reference import compare

if TYPE_CHECKING:
    import pandas as pd

RETURN = "word:0x8082"
"""The routine calls nothing: the first return after its entry is its own, or that of a page fault in it."""

ACCESSES = ("retired.load", "retired.store")
COUNTERS = (*ACCESSES, "l1d_misses")

MEBIBYTES, QUICK_MEBIBYTES = 16, 1

NEVER = 1 << 40
"""Cycles between samples of the counters, in addition to those at each beginning and end."""


def measure(settings: Settings) -> Outcome:
    """Has iperf3 transfer through loopback, observed only while the routine runs."""
    settings.detail("fireperf-copy: image with iperf3")
    image = load_image(build_image(["iperf3"], tell=settings.detail))
    mebibytes = QUICK_MEBIBYTES if settings.quick else MEBIBYTES
    watching = Watching(f"function:{COPY}", RETURN, counters=COUNTERS, every=NEVER)
    settings.detail("fireperf-copy: boot")
    with booted(image, 1, vector=False) as checkpoint:
        settings.detail("fireperf-copy: iperf3, observed in its copies")
        profile = profile_boot(
            image,
            f"{later(0, settings.seed)}iperf3 -c 127.0.0.1 -n {mebibytes}M",
            watching=watching,
            checkpoint=checkpoint,
            cpu="rocket",
        )
    if profile.exit_code != 0:
        raise RackwrightError(f"iperf3 ended with status {profile.exit_code}")
    # From the sender into the kernel, and from there to the receiver.
    measured = quantities(profile.window_counters(), 2 * mebibytes << 20)
    return Outcome(
        compare("fireperf/copying.csv", measured, partial=settings.quick), digests=[profile.digest]
    )


def quantities(copies: pd.DataFrame, copied: int) -> dict[str, float]:
    """The paper's results for its routine: a row for each of `copies` that move at least `copied` bytes."""
    sums = copies[["cycles", "instructions", *COUNTERS]].sum()
    accesses = sum(sums[name] for name in ACCESSES)
    return {
        "bytes for a cycle": copied / sums["cycles"],
        "bytes for an instruction": copied / sums["instructions"],
        "instructions for a cycle": sums["instructions"] / sums["cycles"],
        "loads and stores of instructions": accesses / sums["instructions"],
        "misses of loads and stores": sums["l1d_misses"] / accesses,
    }


EXPERIMENT = Experiment(
    "fireperf-copy",
    "How close copies between kernel and programs are to the core's limit",
    "Karandikar 2020 (ASPLOS), software optimization of copies; chapter 5 of his thesis, figure 5.6",
    "iperf3 through the loopback interface of Debian's kernel on one `rocket` hart without vectors, observed"
    f" from each entry of `{COPY}` to its return. A core that executes one instruction a cycle copies as many"
    " bytes for a cycle at best as for an instruction.",
    measure,
    guests=True,
)
