#!/usr/bin/env python3
"""``fateforger constraints migrate`` under the name it is known by: constraints of an earlier planner, moved here."""

import sys

from fateforger.cli import main

if __name__ == "__main__":
    main(["constraints", "migrate", *sys.argv[1:]])
