"""`python -m rackwright.cli`: started by `rw` once everything is in place."""

from __future__ import annotations

import sys

from rackwright.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
