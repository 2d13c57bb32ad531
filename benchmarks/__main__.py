"""``make bench``: run every ``bench_*.py`` of this directory, one after another, each in its own process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> int:
    here = Path(__file__).parent
    wanted = set(sys.argv[1:])
    status = 0
    for script in sorted(here.glob("bench_*.py")):
        if wanted and script.stem.removeprefix("bench_") not in wanted:
            continue
        print(f"\n== {script.stem.removeprefix('bench_')}", flush=True)
        status |= subprocess.run([sys.executable, "-m", f"benchmarks.{script.stem}"], check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
