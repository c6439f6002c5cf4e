"""The wheel of an editable installation (PEP 660): the package's metadata, and a line with our path."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from zipfile import ZipFile

from bootstrap.paths import PYTHON


def write(wheels: Path, metadata: Path) -> str:
    """Makes a wheel of the folder `metadata`, NAME-VERSION.dist-info, and a line that names our folder."""
    tag = next(
        line.removeprefix("Tag: ")
        for line in (metadata / "WHEEL").read_text(encoding="utf-8").splitlines()
        if line.startswith("Tag: ")
    )
    files = {f"{metadata.name}/{path.name}": path.read_bytes() for path in sorted(metadata.iterdir())}
    files["rackwright.pth"] = f"{PYTHON}\n".encode()
    record = f"{metadata.name}/RECORD"
    rows = [
        f"{name},sha256={_hash(content)},{len(content)}" for name, content in files.items() if name != record
    ]
    files[record] = "\n".join([*rows, f"{record},,", ""]).encode()
    name = f"{metadata.name.removesuffix('.dist-info')}-{tag}.whl"
    with ZipFile(wheels / name, "w") as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
    return name


def _hash(content: bytes) -> str:
    """Encoded as in wheels: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
