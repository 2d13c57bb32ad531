"""Process of the optimizer: a request from standard input, its answer to standard output."""

from __future__ import annotations

import json
import resource
import sys

from fateforger.adapters.optimizer.process import answer

if __name__ == "__main__":
    request = json.load(sys.stdin)
    most = request["megabytes"] << 20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    json.dump(answer(request), sys.stdout)
