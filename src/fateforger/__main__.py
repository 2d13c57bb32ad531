"""``python -m fateforger`` is ``fateforger``."""

from fateforger.cli import main

main()
