"""For the whole suite: no time limits inside Hypothesis (machines are shared), no proxies, no Slack settings of the
person who runs the tests."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.postgres"]

settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

for name in list(os.environ):
    if name.lower() in {"http_proxy", "https_proxy", "all_proxy", "ws_proxy", "wss_proxy"} or name.startswith(
        ("SLACK_", "FATEFORGER_")
    ):
        del os.environ[name]
