"""A protocol for each outside thing. Adapters live in ``adapters``; only ``bootstrap`` imports them."""

from fateforger.ports.agents import Calls, Clients, Proposals
from fateforger.ports.calendar import (
    Calendar,
    CalendarTraits,
    Done,
    Exists,
    Gone,
    Limited,
    Outcome,
    Rejected,
    Stale,
    Unauthorized,
    Unknown,
    Window,
)
from fateforger.ports.clock import Clock
from fateforger.ports.facts import Facts
from fateforger.ports.jobs import Job, Jobs, NewJob
from fateforger.ports.journal import Journal, Lease
from fateforger.ports.memory import Constraints, IndexTask, Memory, MemoryReport, Recollection
from fateforger.ports.model import Completion, Model, Prompt, Recordings, Role, Spent, Usage
from fateforger.ports.outside_tasks import OpenTasks
from fateforger.ports.owners import Claim, Closing, OwnerRecord, Owners
from fateforger.ports.painter import Rasterizer
from fateforger.ports.people import KINDS, Counts, People
from fateforger.ports.quota import Login, Quota, RequestLimit, Reservation, Settlement
from fateforger.ports.sessions import Feedbacks, Outbox, Sent, Sessions
from fateforger.ports.sources import ConstraintSource
from fateforger.ports.tasks import Change, Rearrangement, Tasks
from fateforger.tasks import NewTask

__all__ = [
    "KINDS",
    "Calendar",
    "CalendarTraits",
    "Calls",
    "Change",
    "Claim",
    "Clients",
    "Clock",
    "Closing",
    "Completion",
    "ConstraintSource",
    "Constraints",
    "Counts",
    "Done",
    "Exists",
    "Facts",
    "Feedbacks",
    "Gone",
    "IndexTask",
    "Job",
    "Jobs",
    "Journal",
    "Lease",
    "Limited",
    "Login",
    "Memory",
    "MemoryReport",
    "Model",
    "NewJob",
    "NewTask",
    "OpenTasks",
    "Outbox",
    "Outcome",
    "OwnerRecord",
    "Owners",
    "People",
    "Prompt",
    "Proposals",
    "Quota",
    "Rasterizer",
    "Rearrangement",
    "Recollection",
    "Recordings",
    "Rejected",
    "RequestLimit",
    "Reservation",
    "Role",
    "Sent",
    "Sessions",
    "Settlement",
    "Spent",
    "Stale",
    "Tasks",
    "Unauthorized",
    "Unknown",
    "Usage",
    "Window",
]
