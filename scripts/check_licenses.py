#!/usr/bin/env python3
"""Check the license of every package that is installed with the program.

The packages are those of requirements.lock. Their licenses are read from what is installed, without a network.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"

PERMISSIVE = "asks only that its notice is kept"
OWN_FILES = "covers its own files only, which are installed unchanged"
REPLACEABLE = "a library that is installed as a package of its own, so anyone can replace it"
ALLOWED = {
    "0BSD": PERMISSIVE,
    "Apache-2.0": PERMISSIVE,
    "BSD": PERMISSIVE,  # a classifier that does not say which of the two
    "BSD-2-Clause": PERMISSIVE,
    "BSD-3-Clause": PERMISSIVE,
    "CC0-1.0": PERMISSIVE,
    "CNRI-Python": PERMISSIVE,
    "ISC": PERMISSIVE,
    "MIT": PERMISSIVE,
    "MIT-0": PERMISSIVE,
    "MIT-CMU": PERMISSIVE,
    "PSF-2.0": PERMISSIVE,
    "Zlib": PERMISSIVE,
    "MPL-2.0": OWN_FILES,
    "LGPL-3.0-only": REPLACEABLE,
    "LGPL-3.0-or-later": REPLACEABLE,
}
"""Licenses by SPDX identifier, each with the reason why a package may have it."""

EXCEPTIONS = {"radicale": ("GPL", "the embedded calendar; images with it are passed on under the GPL")}
"""Packages that may have a license that is not allowed, with the license and the reason."""

STATED = {
    "resvg-py": "MIT",  # its metadata names none; its file LICENSE does
    "tiktoken": "MIT",  # its metadata holds the text instead of the name
}
CLASSIFIERS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "GNU General Public License (GPL)": "GPL",
    "GNU Lesser General Public License v3 or later (LGPLv3+)": "LGPL-3.0-or-later",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
_PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*)==", re.MULTILINE)


def read_license(package: Distribution) -> str:
    """Return the SPDX expression of a package's license; several classifiers are a choice."""
    about = package.metadata
    if "License-Expression" in about:
        return about["License-Expression"]
    classifiers = [c for c in about.get_all("Classifier") or () if c.startswith("License :: ")]
    names = [c.rpartition(" :: ")[2] for c in classifiers if c != "License :: OSI Approved"]
    names = names or about.get_all("License") or ["none stated"]
    return " OR ".join(CLASSIFIERS.get(name, name) for name in names)


def is_allowed(expression: str) -> bool:
    """Check an expression: of a choice one license is enough, of a combination all are needed.

    An expression with parentheses is not parsed, and therefore not allowed.
    """
    choices = expression.split(" OR ")
    return any(all(part in ALLOWED for part in choice.split(" AND ")) for choice in choices)


def find_refused(lock: str) -> dict[str, str]:
    """Return the license of each installed package of a lock file that may not have it."""
    refused = {}
    for name in _PIN.findall(lock):
        try:
            found = STATED.get(name) or read_license(distribution(name))
        except PackageNotFoundError:
            continue  # for another platform or version of Python
        if not is_allowed(found) and EXCEPTIONS.get(name, ("", ""))[0] != found:
            refused[name] = found
    return refused


def main() -> int:
    refused = find_refused(LOCK.read_text())
    for name, found in refused.items():
        print(f"{name}: {found.splitlines()[0]} is not among the licenses in scripts/check_licenses.py")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
