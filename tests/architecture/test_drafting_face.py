"""The names that other packages may import from the solver's package: five functions, their values and documents."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.sources import Module, modules

FUNCTIONS = {
    "solver": {"draft_instance", "repair_plan", "refit_plan"},
    "model": {"find_violations"},
    "explanations": {"explain_place"},
}
DOCUMENTS = {"instance": {"read_instance", "instance_schema"}, "model": {"write_draft"}}
POLICY = {"policy": {"lunch_of", "policy_in_force"}}
"""Functions that derive the policy of a day from a person's rules."""
VALUES = {
    "instance": {
        "Frame",
        "Immovable",
        "Instance",
        "LUNCH_DRIFT",
        "LUNCH_TITLE",
        "Lunch",
        "Pin",
        "Policy",
        "Task",
        "Told",
    },
    "day_draft": {"Day", "FIRST_STEPS", "LONG_STEPS", "LongSearch", "LunchWish", "PIECE", "Work"},
    "left_out": {"TRIAL_STEPS"},
    "model": {"Block", "Draft", "MustConflict", "PlacementOption", "UnplacedItem", "Violation"},
    "solver": {"BlockMove", "Optimum", "RevisedPlan", "STEPS", "Solution"},
}
OF_QUALITY = {
    "axis": {"longest_run", "slot_range"},
    "context": {"DraftContext", "Occupied", "build_context"},
    "problem": {"REST", "SHORT_DAY"},
}
"""The grade looks at the same day for many plans, so it computes the day once."""
OPTIMIZER = "adapters/optimizer/"
"""The translation of the compiled problem for an exact solver, which needs all of it."""


def find_imports(module: Module) -> Iterator[tuple[str, str]]:
    """Yield the module and name of each import from the package."""
    for node in module.find(ast.ImportFrom):
        if node.module and node.module.startswith("fateforger.drafting"):
            source = node.module.removeprefix("fateforger.drafting").lstrip(".")
            yield from ((source, alias.name) for alias in node.names)
    for each in module.find(ast.Import):
        yield from ((alias.name, "") for alias in each.names if alias.name.startswith("fateforger.drafting"))


def test_other_packages_use_five_functions_of_the_solver() -> None:
    assert sum(map(len, FUNCTIONS.values())) == 5
    allowed = {
        (m, name) for face in (FUNCTIONS, DOCUMENTS, POLICY, VALUES) for m, names in face.items() for name in names
    }
    of_quality = {(module, name) for module, names in OF_QUALITY.items() for name in names}
    used: set[tuple[str, str]] = set()
    beyond = []
    for path, module in modules().items():
        package = path.partition("/")[0]
        if package == "drafting" or path.startswith(OPTIMIZER):
            continue
        names = set(find_imports(module))
        used |= names
        here = allowed | of_quality if package == "quality" else allowed
        beyond += [(path, *each) for each in sorted(names - here)]
    assert beyond == []
    tested = {("instance", "instance_schema")}
    assert (allowed | of_quality) - used <= tested, "listed, but no other package imports it"
