#!/bin/bash
# Compiles the unit against the blocks of hardware/, which `./rw units` has compiled before.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
blocks=$here/../../../.build/hardware/rackwright.jar
mvn -q -B -f "$here/pom.xml" compile -Drackwright.jar="$blocks"
