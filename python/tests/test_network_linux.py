"""Linux on this host and the network unit understand each other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from host_stack import DATAGRAMS, LINUX_LACKS, PINGS, SECOND, UNIT_LACKS, UNKNOWN
from internet_frames import IP_ADDRESS, network_unit

NAMESPACE = ["unshare", "--user", "--map-root-user", "--net"]


def permitted() -> bool:
    """Whether a namespace with a TAP device may be made here."""
    device = "import fcntl, os, struct; fd = os.open('/dev/net/tun', os.O_RDWR); "
    device += "fcntl.ioctl(fd, 0x400454CA, struct.pack('16sH22x', b'rwtry', 0x1002))"
    tried = [*NAMESPACE, sys.executable, "-c", device]
    try:
        return subprocess.run(tried, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not permitted(), reason="namespaces with TAP devices are not permitted here")
def test_linux_pings_the_unit_and_is_served_by_it() -> None:
    network_unit()  # is compiled outside of the namespace
    script = Path(__file__).with_name("host_stack.py")
    run = subprocess.run(
        [*NAMESPACE, sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["pings"] == [True] * len(PINGS)
    assert found["datagrams"] == [True] * len(DATAGRAMS)
    assert found["others"] == [SECOND, IP_ADDRESS]
    assert found["long"] == "8000"
    assert found["refused"]
    assert found["protocol"] == "ENOPROTOOPT"
    told = UNKNOWN[:8].decode()
    assert found["of_linux"] == [[3, 2, LINUX_LACKS, told]]
    assert [3, 2, UNIT_LACKS, told] in found["of_unit"]
    assert set(found["errors"].values()) == {0}
    assert found["counters"]["echoed"] == len(PINGS)
    assert found["counters"]["delivered"] == len(DATAGRAMS) + 3
