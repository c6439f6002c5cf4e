"""Figure 5.2: the distribution of iperf3's cycles over loopback, before any optimisation."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rackwright.linux.image import build_image, load_image
from rackwright.profiling import Profile, profile_boot
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.fireperf.copies import LENGTH, QUICK_LENGTH, booted
from rackwright.reproduce.guests import later
from rackwright.reproduce.reference import compare

COPY = "fallback_scalar_usercopy"
"""The kernel's scalar routine for copies between itself and programs."""

IDLE = "arch_cpu_idle"
PROGRAM = ("iperf3", "libiperf")
"""The prefix of the files of iperf3 itself."""

_WIDTH, _ROW, _LEAST = 960, 16, 0.004
"""Of the picture: pixels, pixels of a frame, and the share of cycles below which a frame is left out."""


def measure(settings: Settings) -> Outcome:
    """Profiles iperf3 on one hart without vectors."""
    settings.detail("fireperf-5.2: image with iperf3")
    image = load_image(build_image(["iperf3"], tell=settings.detail))
    command = f"{later(0, settings.seed)}iperf3 -c 127.0.0.1 {QUICK_LENGTH if settings.quick else LENGTH}"
    settings.detail("fireperf-5.2: boot")
    with booted(image, 1, vector=False) as checkpoint:
        settings.detail("fireperf-5.2: iperf3, observed")
        profile = profile_boot(image, command, checkpoint=checkpoint, cpu="rocket")
    rows = compare("fireperf/loopback_stacks.csv", shares(profile), partial=settings.quick)
    return Outcome(rows, [flame_graph(profile)], [profile.digest])


def shares(profile: Profile) -> dict[str, float]:
    """Shares of the cycles that the hart did not idle in, and the copies over the next function."""
    calls = profile.calls()
    calls = calls[calls["function"] != IDLE]
    cycles = calls.groupby("function")["exclusive_cycles"].sum().sort_values(ascending=False)
    own = calls[calls["module"].str.startswith(PROGRAM)]["exclusive_cycles"].sum()
    copies = cycles.get(COPY, 0)
    return {
        "copies": copies / cycles.sum(),
        "iperf3 itself": own / cycles.sum(),
        "copies over the next function": copies / cycles.drop(COPY, errors="ignore").iloc[0],
    }


def flame_graph(profile: Profile) -> str:
    """The stacks of all harts side by side as SVG, callers below; threads are the lowest frames."""
    frames = list(_frames(profile))
    height = _ROW * (1 + max(depth for _, _, depth, _ in frames))
    parts = [f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="flame graph">']
    for left, width, depth, title in frames:
        x, y, wide = left * _WIDTH, height - _ROW * (depth + 1), width * _WIDTH
        shown = escape(title[: int(wide / 7)])
        parts.append(
            f'<g><title>{escape(title)} ({width:.1%})</title><rect x="{x:.1f}" y="{y}" width="{wide:.1f}"'
            f' height="{_ROW - 1}" fill="#e8a05c"/>'
            f'<text x="{x + 2:.1f}" y="{y + 11}" font-size="10">{shown}</text></g>'
        )
    return "\n".join([*parts, "</svg>"])


def _frames(profile: Profile) -> Iterator[tuple[float, float, int, str]]:
    """Left edge and width as shares of all cycles, depth and title of each frame that is wide enough."""
    total = max(1, sum(profile.cycles))
    begin = 0.0
    for hart in profile.harts:
        inclusive, below = hart.tree.inclusive, hart.tree.children
        waiting = [(0, begin, -1)]
        while waiting:
            node, left, depth = waiting.pop()
            width = inclusive[node] / total
            if width < _LEAST:
                continue
            if depth >= 0:
                yield left, width, depth, profile.titles(hart.tree.path(node))[-1]
            for child in below[node]:
                waiting.append((child, left, depth + 1))
                left += inclusive[child] / total
        begin += hart.cycles / total


EXPERIMENT = Experiment(
    "fireperf-5.2",
    "Where iperf3's cycles go over loopback",
    "Karandikar 2020 (ASPLOS), figure 2; chapter 5 of his thesis, figure 5.2",
    "iperf3 through the loopback interface of Debian's kernel on one `rocket` hart without vectors, from a"
    " checkpoint, with the call stacks of everything. A quick run transfers a megabyte only.",
    measure,
    guests=True,
)
