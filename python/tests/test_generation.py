"""Suites from profiles: the right statistics, the same bytes for the same seed, clear errors."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from command_line import rw
from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.errors import RackwrightError
from rackwright.formats import FORMATS
from rackwright.generation import PROFILES, generate, load_profile, load_suite
from rackwright.generation.distance import distance
from rackwright.generation.distributions import bin_of, largest_gap
from rackwright.generation.synthetic import synthetic_files
from rackwright.generation.targets import draw_targets

SMALL = """
name: small
operations:
  compress:
    format: {format}
    sizes: [[6, 40, 2000], [11, 30, 45000], [14, 20, 240000], [17, 2, 200000]]
    ratios: {{6: [1.0], any: [1.2, 1.6, 2.0, 3.0]}}
"""


def small(folder: Path, format_name: str = "snappy") -> Path:
    path = folder / "small.yaml"
    path.write_text(SMALL.format(format=format_name), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", PROFILES)
def test_targets_of_ten_thousand_calls_are_distributed_as_the_fleets(name: str) -> None:
    for profile in load_profile(name).operations:
        targets = draw_targets(profile, 10_000, seed=7)
        assert [target.index for target in targets] == list(range(10_000))
        sizes: dict[int, float] = {}
        for target in targets:
            sizes[bin_of(target.size)] = sizes.get(bin_of(target.size), 0) + target.size
        asked = {each.log2: each.total_bytes for each in profile.sizes}
        assert largest_gap(asked, sizes) < 0.05
        packed = sum(target.size / target.ratio for target in targets)
        ratio = sum(target.size for target in targets) / packed
        assert ratio == pytest.approx(profile.aggregate_ratio(), rel=0.03)


def test_published_shares_of_the_text_are_in_the_profiles() -> None:
    # Karandikar 2024, section 7.3: 24 % of the bytes that Snappy compresses are in calls of at most 32 KiB,
    # 62 % of those that it decompresses in calls below 128 KiB; 8 and 28 % of ZStd's are in calls to 32 KiB
    # and from there to 64 KiB.
    def below(name: str, operation: str, log2: int) -> float:
        (profile,) = load_profile(name).only(operation)
        total = sum(each.total_bytes for each in profile.sizes)
        return sum(each.total_bytes for each in profile.sizes if each.log2 <= log2) / total

    assert below("snappy-fleet", "compress", 15) == pytest.approx(0.24, abs=0.015)
    assert below("snappy-fleet", "decompress", 17) == pytest.approx(0.62, abs=0.05)
    assert below("zstd-fleet", "compress", 15) == pytest.approx(0.08)
    assert below("zstd-fleet", "compress", 16) == pytest.approx(0.36)
    assert below("zstd-fleet", "compress", 17) >= 0.5


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_a_suite_has_the_sizes_and_ratios_that_were_asked_for(tmp_path: Path, format_name: str) -> None:
    profile = load_profile(small(tmp_path, format_name))
    suite = generate(profile, tmp_path / "suite", files=90, seed=3)
    (operation,) = profile.operations
    found = distance(operation, suite.only("compress"))
    assert found.files == 90
    assert found.call_size_gap < 0.1
    assert abs(found.ratio_error) < 0.1
    for file in suite.files:
        plain = suite.read(file)
        packed = FORMATS[format_name].compress(plain, file.level, file.window_log2)
        assert (len(plain), len(packed)) == (file.size, file.compressed_bytes)


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path: Path) -> None:
    profile = load_profile(small(tmp_path))
    digests = [
        generate(profile, tmp_path / str(n), files=30, seed=seed).digest for n, seed in enumerate((1, 1, 2))
    ]
    assert digests[0] == digests[1] != digests[2]
    assert load_suite(tmp_path / "0").digest == digests[0]


def test_processes_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = load_profile(small(tmp_path))
    digests = []
    for cores in (1, 2):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        digests.append(generate(profile, tmp_path / str(cores), files=60).digest)
    assert digests[0] == digests[1]


def test_synthetic_corpora_are_the_same_everywhere() -> None:
    digest = hashlib.sha256(b"".join(data for _, data in synthetic_files(1, 4096))).hexdigest()
    assert digest[:16] == "58c32b6182a9311d"


def test_files_of_ones_own_are_what_a_suite_is_made_of(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "letters").write_bytes(b"abcdefghijklmnopqrstuvwxyz" * 4000)
    suite = generate(load_profile(small(tmp_path)), tmp_path / "suite", files=10, corpora=[str(corpus)])
    assert set(suite.read(max(suite.files, key=lambda file: file.size))) <= set(b"abcdefghijklmnopqrstuvwxyz")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("operations: {}", "has neither compress nor decompress"),
        (
            "operations: {compress: {format: lzma}}",
            "operations.compress.format is 'lzma'; there are snappy, zstd",
        ),
        ("operations: {compress: {format: snappy, ratios: {any: [2]}}}", "needs either sizes"),
        (
            "operations: {compress: {format: snappy, sizes: [[4, 2, 900]], ratios: {any: [2]}}}",
            "not in (2^3, 2^4]",
        ),
        (
            "operations: {compress: {format: snappy, sizes: [[4, 2]], ratios: {any: [2]}}}",
            "not [log2, calls, bytes]",
        ),
        (
            "operations: {compress: {format: snappy, sizes: [[4, 2, 30]]}}",
            "has no data for calls of 2^4 bytes",
        ),
        (
            "operations: {compress: {format: snappy, shares: {99: 1}, ratios: {any: [2]}}}",
            "sizes end at 2^31",
        ),
        (
            "operations: {compress: {format: snappy, shares: {9: -1}, ratios: {any: [2]}}}",
            "not a share of bytes",
        ),
        (
            "operations: {compress: {format: zstd, shares: {9: 1}, ratios: {any: [0]}}}",
            "not a list of ratios above 0",
        ),
        (
            "operations: {compress: {format: zstd, shares: {9: 1}, ratios: {any: [2]}, levels: {40: 1}}}",
            "has 40",
        ),
        ("operations: {compress: {colour: red}}", "has 'colour'"),
        ("operations: [1]", "operations is not a mapping"),
        ("operations: {", "not YAML"),
    ],
)
def test_a_profile_that_makes_no_sense_is_refused_by_field(
    tmp_path: Path, change: str, complaint: str
) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text(change, encoding="utf-8")
    with pytest.raises(RackwrightError) as raised:
        load_profile(path)
    assert complaint in str(raised.value)
    assert str(path) in str(raised.value)


def test_what_is_not_a_suite_is_neither_overwritten_nor_loaded(tmp_path: Path) -> None:
    profile = load_profile(small(tmp_path))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(RackwrightError, match="holds something that is not a suite"):
        generate(profile, tmp_path / "mine", files=5)
    with pytest.raises(RackwrightError, match="is it a whole suite"):
        load_suite(tmp_path / "mine")
    with pytest.raises(RackwrightError, match="no such corpus"):
        generate(profile, tmp_path / "new", files=5, corpora=["nowhere"])
    with pytest.raises(RackwrightError, match="profiles that come along: snappy-fleet, zstd-fleet"):
        load_profile("nowhere.yaml")


def test_a_suite_that_was_interrupted_is_made_again_in_place(tmp_path: Path) -> None:
    profile = load_profile(small(tmp_path))
    whole = generate(profile, tmp_path / "suite", files=12)
    index = tmp_path / "suite" / "suite.json"
    index.rename(index.with_suffix(".json.partial"))
    with pytest.raises(RackwrightError, match="is it a whole suite"):
        load_suite(tmp_path / "suite")
    assert generate(profile, tmp_path / "suite", files=12).digest == whole.digest


def test_a_changed_file_is_found_out(tmp_path: Path) -> None:
    suite = generate(load_profile(small(tmp_path)), tmp_path / "suite", files=5)
    (tmp_path / "suite" / suite.files[0].path).write_bytes(b"other")
    with pytest.raises(RackwrightError, match="was changed since"):
        suite.read(suite.files[0])
    record = json.loads((tmp_path / "suite" / "suite.json").read_text(encoding="utf-8"))
    record["version"] = 0
    (tmp_path / "suite" / "suite.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(RackwrightError, match="generate it again"):
        load_suite(tmp_path / "suite")


@given(st.dictionaries(st.integers(0, 31), st.floats(0.1, 1e6), min_size=1))
@settings(deadline=None)
def test_a_distribution_has_no_gap_to_itself_at_any_scale(weights: dict[int, float]) -> None:
    assert largest_gap(weights, {key: 3 * weight for key, weight in weights.items()}) < 1e-9


def test_the_command_line_says_how_far_the_suite_is_from_the_profile(tmp_path: Path) -> None:
    profile, folder = small(tmp_path), tmp_path / "suite"
    result = rw(
        "generate", "compression", "--profile", str(profile), "--files", "40", "-o", str(folder), "--json"
    )
    record = json.loads(result.stdout)
    (row,) = record["rows"]
    assert row["files"] == 40
    assert abs(row["ratio_error"]) < 0.2
    assert record["digest"] == load_suite(folder).digest
    assert (folder / "report.html").read_text(encoding="utf-8").count("<svg") == 1
