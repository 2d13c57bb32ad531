"""The Helm chart: its settings exist, its values are used, and what it renders is what docs/admin.md promises.

Rendered by Helm itself where it is installed: the program ``helm``, or the package ``helm-python-sdk``.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.architecture.test_compose import ROOT, SAMPLES, settings, start_with

from fateforger import __version__
from fateforger.app.logins import NOTICES_PATH as CHANGES
from fateforger.app.oauth_login import PATH as CONNECT
from fateforger.app.resources import list_unshared

CHART = ROOT / "deploy" / "helm" / "fateforger"
TEMPLATES = {path.name: path.read_text() for path in sorted((CHART / "templates").iterdir())}
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
NEEDED = {"publicUrl": "https://plan.example.org", "secretName": "fateforger"}
Values = dict[str, Any]


def paths(value: Any, before: str = "") -> Iterator[str]:
    """Yield the path of each value, as templates name it."""
    for name, inner in value.items():
        yield f"{before}{name}"
        if isinstance(inner, dict) and inner and name not in {"settings", "resources"}:
            yield from paths(inner, f"{before}{name}.")


def test_every_setting_that_is_named_exists() -> None:
    """S364: a renamed setting would be ignored silently, in the chart and on the pages for operators."""
    pages = [ROOT / "docs" / "admin.md", ROOT / "docs" / "operations.md", ROOT / "docker-compose.yml"]
    texts = [*TEMPLATES.values(), (CHART / "values.yaml").read_text(), *(path.read_text() for path in pages)]
    named = set(re.findall(r"\b(?:FATEFORGER|SLACK)_[A-Z_]+\b", "\n".join(texts)))
    assert len(named) > 12
    assert named - settings() == set()


def test_every_value_is_used_and_every_one_that_is_used_is_there() -> None:
    used = {found for text in TEMPLATES.values() for found in re.findall(r"\.Values\.([\w.]+)", text)}
    there = set(paths(VALUES))
    assert used - there == set()
    leaves = {path for path in there if not any(other.startswith(f"{path}.") for other in there)}
    assert leaves - used == set()


def test_programs_of_the_chart_share_everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """S350: with the settings of the chart and the Secret that values.yaml asks for."""
    asked = (CHART / "values.yaml").read_text().partition("It holds at least:")[2].partition("and secrets of")[0]
    secret = set(re.findall(r"[A-Z_]{6,}", asked))
    assert secret == SAMPLES.keys() - {"FATEFORGER_PUBLIC_URL"}
    assert list(list_unshared(start_with({**SAMPLES, **VALUES["settings"]}, monkeypatch, tmp_path))) == []


def test_the_schema_knows_each_value() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())

    def list_properties(of: dict[str, Any], before: str = "") -> Iterator[str]:
        for name, inner in of.get("properties", {}).items():
            yield f"{before}{name}"
            yield from list_properties(inner, f"{before}{name}.")

    assert set(list_properties(schema)) - {"global"} == set(paths(VALUES))


def test_the_version_is_that_of_the_program() -> None:
    assert yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"] == __version__


@pytest.mark.parametrize("name", TEMPLATES)
def test_blocks_of_templates_are_closed(name: str) -> None:
    """This check needs no Helm."""
    text = re.sub(r"\{\{-?\s*/\*.*?\*/\s*-?\}\}", "", TEMPLATES[name], flags=re.DOTALL)
    words = re.findall(r"\{\{-?\s*(if|with|range|define|end)\b", text)
    assert words.count("end") * 2 == len(words)


class Refused(Exception):
    """Helm refuses the values."""


def render(values: Values) -> dict[str, Values]:
    """Return the objects that Helm renders from the chart, by kind. Skip the test where Helm is not installed."""
    if importlib.util.find_spec("helm_python") is not None:
        return by_kind(render_by_package(values))
    program = shutil.which("helm")
    if program is None:
        pytest.skip("Helm is not installed (pip install helm-python-sdk)")
    command = [program, "template", "release", str(CHART), "--values", "-"]
    done = subprocess.run(command, input=json.dumps(values), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(done.stderr)
    return by_kind(done.stdout)


def render_by_package(values: Values) -> str:
    helm_python = importlib.import_module("helm_python")
    chart = helm_python.Chart.load(str(CHART))
    try:
        chart.validate_schema(values)
        rendered = chart.render(values, name="release", namespace="plan")
    except helm_python.HelmError as error:
        raise Refused(str(error)) from None
    return "\n---\n".join(text for path, text in rendered.items() if path.endswith(".yaml"))


def by_kind(text: str) -> dict[str, Values]:
    return {document["kind"]: document for document in yaml.safe_load_all(text) if document}


def test_a_program_is_deployed_without_rights_and_watched() -> None:
    """S364: probes ask the port for operations, secrets come from a Secret, and nothing runs as root."""
    found = render(NEEDED)
    assert set(found) == {"Deployment", "Service", "PodDisruptionBudget"}
    spec = found["Deployment"]["spec"]
    assert (spec["replicas"], spec["strategy"]["rollingUpdate"]["maxUnavailable"]) == (2, 0)
    pod = spec["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10001)
    (container,) = pod["containers"]
    assert container["image"] == f"fateforger:{__version__}"
    assert container["envFrom"] == [{"secretRef": {"name": "fateforger"}}]
    rights = container["securityContext"]
    assert (rights["readOnlyRootFilesystem"], rights["capabilities"]) == (True, {"drop": ["ALL"]})
    asked = {kind: container[f"{kind}Probe"]["httpGet"] for kind in ("liveness", "readiness", "startup")}
    assert asked["liveness"] == asked["startup"] == {"path": "/livez", "port": "ops"}
    assert asked["readiness"] == {"path": "/readyz", "port": "ops"}
    given = {each["name"]: each["value"] for each in container["env"]}
    ports = {port["name"]: str(port["containerPort"]) for port in container["ports"]}
    assert (given["FATEFORGER_PORT"], given["FATEFORGER_OPS_PORT"]) == (ports["http"], ports["ops"])
    assert given["FATEFORGER_MEMORY_STORE"] == "pgvector"
    assert set(given) <= settings()
    labels = spec["template"]["metadata"]["labels"]
    for selector in (spec["selector"]["matchLabels"], found["Service"]["spec"]["selector"]):
        assert selector.items() <= labels.items()


def test_what_can_be_switched_on_is_whole() -> None:
    given: Values = {
        **NEEDED,
        "ingress": {"enabled": True, "className": "nginx", "annotations": {"a": "b"}, "tlsSecretName": "tls"},
        "serviceMonitor": {"enabled": True, "labels": {"team": "ops"}},
        "settings": {"FATEFORGER_LANGUAGE": "nl"},
        "extraEnv": [{"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://collector:4318"}],
        "imagePullSecrets": [{"name": "registry"}],
        "nodeSelector": {"a": "b"},
        "tolerations": [{"key": "a"}],
        "affinity": {"nodeAffinity": {}},
        "podLabels": {"c": "d"},
        "podAnnotations": {"e": "f"},
    }
    found = render(given)
    assert set(found) == {"Deployment", "Service", "PodDisruptionBudget", "Ingress", "ServiceMonitor"}
    (rule,) = found["Ingress"]["spec"]["rules"]
    assert rule["host"] == "plan.example.org"
    assert [each["path"] for each in rule["http"]["paths"]] == [CONNECT, CHANGES, "/slack"]
    (endpoint,) = found["ServiceMonitor"]["spec"]["endpoints"]
    assert (endpoint["port"], endpoint["path"]) == ("ops", "/metrics")
    pod = found["Deployment"]["spec"]["template"]["spec"]
    env = {each["name"]: each["value"] for each in pod["containers"][0]["env"]}
    assert env["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://collector:4318"
    assert (env["FATEFORGER_LANGUAGE"], env["FATEFORGER_LOG"]) == ("nl", "json")
    assert (pod["nodeSelector"], pod["imagePullSecrets"]) == ({"a": "b"}, [{"name": "registry"}])
    assert "PodDisruptionBudget" not in render({**NEEDED, "replicas": 1})


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"publicUrl": "https://plan.example.org"}, "secretName is missing"),
        ({"secretName": "s"}, "publicUrl is missing"),
        ({**NEEDED, "publicUrl": "plan.example.org"}, "publicUrl"),
        ({**NEEDED, "replica": 3}, "replica"),
    ],
)
def test_what_cannot_work_is_refused(values: Values, why: str) -> None:
    with pytest.raises(Refused, match=why):
        render(values)


def test_helm_finds_nothing_to_complain_about() -> None:
    helm_python = pytest.importorskip("helm_python", reason="Helm is not installed (pip install helm-python-sdk)")
    report = helm_python.lint(str(CHART), NEEDED, strict=True)
    assert (report["errors"], [m for m in report["messages"] if m["severity"] > 1]) == ([], [])
