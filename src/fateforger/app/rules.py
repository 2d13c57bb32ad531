"""The rules of tasks: the person's own workflows, and what their predicates may look at."""

from __future__ import annotations

from fateforger.adapters.facts import LocalFacts, read_allow_file
from fateforger.config import Settings
from fateforger.errors import BadInput
from fateforger.tasks.workflows import Workflows, read_own
from fateforger.workflow.predicates import Facts, NothingAllowed


def build_workflows(settings: Settings) -> Workflows:
    """Read the folder of the person's own workflows. Raises ``BadInput`` with the file and the place in it."""
    folder = settings.workflows
    if folder is None:
        return Workflows()
    if not folder.is_dir():
        raise BadInput(f"{folder}, which FATEFORGER_WORKFLOWS names, is no folder.", where="workflows")
    texts = {}
    for path in sorted(folder.glob("*.yaml")):
        try:
            texts[path.stem] = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"I cannot read {path}: it is no text, or may not be read.", where=path.name) from error
    return read_own(texts)


def build_facts(settings: Settings) -> Facts:
    """Return the facts that predicates may look at. Raises ``BadInput`` with the place in the file that allows them."""
    return NothingAllowed() if settings.facts is None else LocalFacts(read_allow_file(settings.facts))
