"""Coverage-guided fuzzing of the properties in ``test_fuzzing``, by Atheris: ``python -m tests.security.atheris_fuzz NAME``.

NAME is that of a test without ``test_``, such as ``yaml``. Options of libFuzzer may follow: ``-max_total_time=600``.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any


def main() -> None:
    atheris: Any = importlib.import_module("atheris")  # pip install atheris; the suite does without it
    with atheris.instrument_imports(include=["fateforger", "caldav_mcp", "yaml", "icalendar"]):
        properties = importlib.import_module("tests.security.test_fuzzing")
    name, *options = sys.argv[1:]
    atheris.Setup([sys.argv[0], *options], vars(properties)[f"test_{name}"].hypothesis.fuzz_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
