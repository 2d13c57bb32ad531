"""fateforger: a Slack message becomes a typed command; a coordinator runs one stage of a planning
session; a typed patch changes the plan; the plan is compared with the calendar; the difference is
carried out op by op with a journal that can take it back.

The rooms, from the door inwards: ``cli`` and ``bootstrap`` (what starts), ``slack``, ``local`` and ``mcp`` (the sides
that a person or another agent sees), ``coordinator``, ``turn``, ``commit`` and ``background`` (what happens),
``adapters`` behind ``ports`` (the outside world), and the pure floor: ``session``, ``stages``, ``journal``, ``tasks``,
``agents``, ``quality``, ``drafting``, ``ops``, ``sync``, ``constraints``, ``picture``, ``workflow``, ``plan``.
"""

__version__ = "0.1.0"
