"""One command in, cards out: a session is loaded, its turn run, what that asks for carried out, and all of it saved."""

from fateforger.coordinator.coordinator import PlanningCoordinator

__all__ = ["PlanningCoordinator"]
