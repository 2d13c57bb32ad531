"""The commands for the constraints that are written down: JSON in, JSON out, exit status; from file to store and back."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.command_line import run_program
from tests.contracts.stores import new_file
from tests.factories.constraints import line_of, random_context, random_history, record_of
from tests.factories.inside import run_inside, without_doubt

from fateforger.adapters.store.store import open_store
from fateforger.app.data_dir import lock_data_dir
from fateforger.cli.documents import dump_json_line
from fateforger.memory.documents import write_version
from fateforger.memory.retrieval import NO_INDEX

EARLY, LATE = "2026-03-02T09:00:00+00:00", "2026-03-03T10:00:00+00:00"


class CommandLine:
    """Runs the program as a person would, in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.data.mkdir()
        new_file(self.data).rename(self.data / "fateforger.db")

    def file(self, name: str, *documents: Any) -> str:
        path = self.folder / name
        path.write_text("".join(f"{json.dumps(document, ensure_ascii=False)}\n" for document in documents))
        return str(path)

    def text(self, command: str, *arguments: str, now: str = EARLY, data: Path | None = None) -> tuple[int, str, str]:
        place = ["--data-dir", str(data or self.data), "--now", now]
        return run_inside("constraints", command, *arguments, *place)

    def json(self, command: str, *arguments: str, now: str = EARLY, data: Path | None = None) -> tuple[int, Any]:
        status, out, err = self.text(command, *arguments, "--json", now=now, data=data)
        assert without_doubt(err) == ""
        return status, json.loads(out)

    def expect_success(self, command: str, *arguments: str, now: str = EARLY, data: Path | None = None) -> Any:
        status, document = self.json(command, *arguments, now=now, data=data)
        assert status == 0, document
        return document

    def export(self, data: Path | None = None) -> str:
        status, out, err = self.text("export", data=data)
        assert (status, err) == (0, "")
        return out

    def query_uids(self, *arguments: str, data: Path | None = None) -> list[str]:
        answer = self.expect_success("query", "--user", "U1", *arguments, now="2026-04-01T00:00:00Z", data=data)
        return [item["uid"] for item in answer["constraints"]]


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def expect_refusal(answer: tuple[int, Any], status: int = 2) -> str:
    assert answer[0] == status, answer
    assert answer[1].keys() == {"error"}
    message: str = answer[1]["error"]["message"]
    return message


def test_without_a_person_they_are_those_of_the_calendars_owner(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S422: as with tasks; and the owner sees that the operator did it."""
    monkeypatch.setenv("FATEFORGER_CALENDAR_OWNER", "U1")
    uid = cli.expect_success("add", "--name", "No calls before ten")["constraint"]["uid"]
    assert [each["uid"] for each in cli.expect_success("list", "--user", "U1")["constraints"]] == [uid]
    assert [each["uid"] for each in cli.expect_success("list")["constraints"]] == [uid]
    assert [each["uid"] for each in cli.expect_success("query", now="2026-04-01T00:00:00Z")["constraints"]] == [uid]
    assert cli.expect_success("archive", uid)["written"]

    async def read_noted() -> list[str]:
        async with contextlib.aclosing(open_store(cli.data / "fateforger.db")) as store:
            return sorted(each.command for each in await store.operator_log.latest("U1", limit=9))

    deeds = ("add", "archive", "list", "list", "query")
    assert asyncio.run(read_noted()) == [f"constraints {deed}" for deed in deeds]
    monkeypatch.delenv("FATEFORGER_CALENDAR_OWNER")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    monkeypatch.setenv("SLACK_APP_TOKEN", "xapp-1")
    assert "name a person with --user" in expect_refusal(cli.json("list"))


def test_an_id_that_nobody_has_is_pointed_out(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """S422: it may be mistyped or belong to a new person, so the command works and says so."""
    monkeypatch.setenv("FATEFORGER_CALENDAR_OWNER", "UOWNER")
    where = ("--data-dir", str(cli.data), "--now", EARLY)
    for number, command in enumerate(
        (
            ("constraints", "list"),
            ("tasks", "list"),
            ("calendars", "show"),
            ("mcp", "log"),
            ("mcp", "client", "add", "coder", "--scopes", "tasks:read"),
            ("constraints", "add", "--name", "No calls before ten"),
        )
    ):
        person = f"U0MISTYPED{number}"
        status, _, err = run_inside(*command, "--user", person, *where)
        assert (command, status) == (command, 0)
        assert f"Nobody here had the id {person} before." in err
    assert "Nobody here" not in run_inside("tasks", "list", "--user", "UOWNER", *where)[2]
    assert run_inside("constraints", "list", "--user", person, *where)[2] == ""


def test_the_life_of_a_constraint(cli: CommandLine) -> None:
    """Added, changed, asked for, put away; each deed a version with its instant and its event."""
    record = cli.file("gym.json", {"name": "Gym on Tuesdays", "applicability": {"days_of_week": ["TU"]}})
    added = cli.expect_success("add", record, "--user", "U1")
    uid = added["constraint"]["uid"]
    line = {
        "user_id": "U1",
        "constraint_record": {
            "name": "Gym on Tuesdays",
            "scope": "profile",
            "applicability": {"days_of_week": ["TU"]},
            "lifecycle": {"uid": uid},
        },
        "created_at": EARLY,
        "updated_at": EARLY,
        "event": {"action": "upsert", "reason": None},
        "session_id": None,
    }
    assert added == {"written": True, "constraint": {"uid": uid, **line}}
    assert cli.expect_success("add", record, "--user", "U1", now=LATE) == {
        "written": False,
        "constraint": added["constraint"],
    }
    assert cli.query_uids("--date", "2026-03-10") == [uid]
    assert cli.query_uids("--date", "2026-03-11") == []

    changed = {"name": "Gym", "applicability": {"days_of_week": ["WE"]}, "lifecycle": {"uid": uid}}
    answer = cli.expect_success("add", cli.file("gym.json", changed), "--user", "U1", now=LATE)["constraint"]
    assert (answer["created_at"], answer["updated_at"], answer["event"]["action"]) == (EARLY, LATE, "update")
    assert cli.query_uids("--date", "2026-03-11") == [uid]

    gone = cli.expect_success("archive", uid, "--user", "U1", "--reason", "moved", now=LATE)
    assert gone["written"]
    assert gone["constraint"]["constraint_record"]["status"] == "declined"
    assert gone["constraint"]["event"] == {"action": "archive", "reason": "moved"}
    assert cli.expect_success("archive", uid, "--user", "U1", now=LATE) == {**gone, "written": False}
    assert cli.query_uids("--date", "2026-03-11") == []
    assert cli.expect_success("list", "--user", "U1") == {"constraints": []}
    assert cli.expect_success("list", "--user", "U1", "--all")["constraints"] == [gone["constraint"]]
    history = cli.expect_success("list", "--user", "U1", "--uid", uid)["constraints"]
    assert history == [added["constraint"], answer, gone["constraint"]]


def test_a_person_writes_in_words(cli: CommandLine) -> None:
    words = ("--name", "No calls before 10", "--words", "please, never before ten", "--necessity", "must")
    status, out, _ = cli.text("add", "--user", "U1", *words)
    (listed,) = cli.expect_success("list", "--user", "U1")["constraints"]
    record = listed["constraint_record"]
    assert (status, out) == (0, f"Noted: “No calls before 10” [{listed['uid']}].\n")
    assert (record["description"], record["necessity"], record["status"]) == (words[3], "must", "locked")
    assert cli.text("add", "--user", "U1", *words)[1].startswith("That is written down already: ")
    assert cli.text("list", "--user", "U1")[1].splitlines() == [
        f"must   No calls before 10  [{listed['uid']}]",
        "       confirmed, 2 March 2026",
    ]
    assert cli.text("archive", listed["uid"], "--user", "U1")[1] == (
        f"Put away: “No calls before 10” [{listed['uid']}]."
        f" To bring it back: fateforger constraints archive {listed['uid']} --undo --user U1\n"
    )
    assert cli.text("list", "--user", "U1")[1] == "Nothing is written down.\n"


def test_one_of_a_session_says_which(cli: CommandLine) -> None:
    """S3, A9: without a scope the constraint belongs to the session it came from, if there is one."""
    record = cli.file("r.json", {"name": "Short lunch"})
    uid = cli.expect_success("add", record, "--user", "U1", "--session", "S1")["constraint"]["uid"]
    assert cli.query_uids("--date", "2026-03-04") == []
    assert cli.query_uids("--date", "2026-03-04", "--session", "S1") == [uid]
    session = cli.file("s.json", {"name": "Short lunch", "scope": "session"})
    assert expect_refusal(cli.json("add", session, "--user", "U1")) == (
        "It is for one session only; say which one with --session."
    )


BEDTIME = {"name": "Bed at 23", "lifecycle": {"uid": "old"}}


@pytest.mark.parametrize(
    ("applicability", "event"),
    [
        ({}, "archive"),
        ({"start_date": "2026-03-02"}, "archive"),
        ({"start_date": "2026-03-10"}, "upsert"),
        ({"end_date": "2026-03-20"}, "upsert"),
    ],
    ids=["for good", "from today", "from later on", "for a while"],
)
def test_superseding_leaves_the_old_one_the_days_that_are_left_to_it(
    cli: CommandLine, applicability: dict[str, str], event: str
) -> None:
    """S29, A4: the link is in the new one; the old one is put away only when no day is left to it."""
    cli.expect_success("add", cli.file("old.json", BEDTIME), "--user", "U1")
    new = {"name": "Bed at 22", "applicability": applicability, "lifecycle": {"uid": "new"}}
    answer = cli.expect_success("supersede", "old", cli.file("new.json", new), "--user", "U1")
    assert answer["constraint"]["constraint_record"]["lifecycle"] == {"uid": "new", "supersedes_uids": ["old"]}
    assert answer["superseded"]["event"]["action"] == event
    days = ("2026-03-09", "2026-03-15", "2026-03-25")
    asked = [cli.query_uids("--date", day) for day in days]
    start, end = applicability.get("start_date", ""), applicability.get("end_date", "9999")
    assert asked == [["new"] if start <= day <= end else ["old"] for day in days]


BED_AT = {"rule_kind": "fixed_bedtime", "necessity": "should"}


def bed_at(clock: str, uid: str, **fields: Any) -> dict[str, Any]:
    return record_of(
        uid,
        name=f"Bed at {clock}",
        windows=[{"kind": "prefer", "start": clock, "end": "06:00"}],
        **{**BED_AT, **fields},
    )


def test_adding_settles_what_it_contradicts(cli: CommandLine) -> None:
    """S29, S179, A4: as in a thread, the replaced rule is put away with a note, and returns when the new one is."""
    cli.expect_success("add", cli.file("22.json", bed_at("22:00", "old")), "--user", "U1")
    answer = cli.expect_success("add", cli.file("23.json", bed_at("23:00", "new")), "--user", "U1", now=LATE)
    assert answer["lines"] == ["“Bed at 23:00” takes the place of “Bed at 22:00” from now on."]
    assert answer["constraint"]["constraint_record"]["lifecycle"]["supersedes_uids"] == ["old"]
    assert [line["uid"] for line in cli.expect_success("list", "--user", "U1")["constraints"]] == ["new"]
    assert cli.query_uids("--date", "2026-03-10") == ["new"]
    back = cli.expect_success("archive", "new", "--user", "U1", now=LATE)
    assert back["lines"] == ["“Bed at 22:00” counts again."]
    assert cli.query_uids("--date", "2026-03-10") == ["old"]


def test_a_clock_that_stands_still_keeps_the_order(cli: CommandLine) -> None:
    """The last statement counts, even when all writes and queries share one instant."""

    def applies() -> list[str]:
        answer = cli.expect_success("query", "--user", "U1", "--date", "2026-03-10")
        return [item["uid"] for item in answer["constraints"]]

    for clock in ("22:00", "23:00", "21:30"):
        cli.expect_success("add", cli.file("bed.json", bed_at(clock, clock)), "--user", "U1")
    assert applies() == ["21:30"]
    cli.expect_success("archive", "21:30", "--user", "U1")
    assert applies() == ["23:00"]


def test_adding_asks_where_only_the_person_can_decide(cli: CommandLine) -> None:
    cli.expect_success("add", cli.file("22.json", bed_at("22:00", "old", necessity="must")), "--user", "U1")
    status, out, _ = cli.text("add", cli.file("23.json", bed_at("23:00", "new")), "--user", "U1", now=LATE)
    assert (status, out.splitlines()[1:]) == (0, [
        "“Bed at 23:00” and “Bed at 22:00” cannot both be followed, and the older one is more binding. Which one counts?"
    ])  # fmt: skip
    assert cli.query_uids("--date", "2026-03-10") == ["old", "new"]


def test_superseding_needs_another_constraint(cli: CommandLine) -> None:
    old = cli.file("old.json", BEDTIME)
    assert "U1 has no constraint old" in expect_refusal(cli.json("supersede", "old", old, "--user", "U1"))
    cli.expect_success("add", old, "--user", "U1")
    assert expect_refusal(cli.json("supersede", "old", old, "--user", "U1")) == (
        "That is the same constraint; to change it, use constraints add."
    )
    assert "U2 has no constraint old" in expect_refusal(cli.json("supersede", "old", old, "--user", "U2"))
    assert "U2 has no constraint old" in expect_refusal(cli.json("archive", "old", "--user", "U2"))


@pytest.mark.parametrize("user", ["", "  ", "x" * 201])
def test_what_cannot_be_an_id_is_refused_by_each_command(cli: CommandLine, user: str) -> None:
    record = cli.file("r.json", {"name": "x"})
    for command in (["list"], ["add", record], ["archive", "c"], ["supersede", "c", record], ["export"], ["reindex"]):
        assert "the id of a person" in expect_refusal(cli.json(*command, "--user", user)).lower()
    query = cli.json("query", "--user", user, "--date", "2026-03-03")
    assert "the id of a person" in expect_refusal(query).lower()
    assert cli.export() == ""


@pytest.mark.parametrize("user", ["*", "%", "U1 ", "u1", "\uff351", "' OR 1=1 --"])
def test_no_command_shows_data_of_other_people(cli: CommandLine, user: str) -> None:
    cli.expect_success("add", cli.file("r.json", {"name": "x", "lifecycle": {"uid": "c"}}), "--user", "U1")
    before = cli.export()
    assert cli.expect_success("list", "--user", user, "--all") == {"constraints": []}
    query = cli.expect_success("query", "--user", user, "--date", "2026-03-03", "--explain")
    assert query == {"constraints": [], "excluded": []}
    expect_refusal(cli.json("archive", "c", "--user", user))
    assert cli.expect_success("reindex", "--user", user)["constraints"] == 0
    assert cli.text("export", "--user", user)[:2] == (0, "")
    assert cli.export() == before


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({}, "“name” is missing."),
        ([], "A constraint_record is a JSON object with at least a name."),
        (
            {"name": "x", "necessity": "shall"},
            "“necessity” cannot be used: input should be 'must', 'should' or 'prefer'.",
        ),
        ({"name": "x", "status": "declined"}, "It would be declined from the start; leave out its status."),
        (
            {"name": "x", "lifecycle": {"uid": "a\x00"}},
            "“lifecycle.uid” holds a NUL character, which no database keeps.",
        ),
        (
            {"name": "x", "payload": {"scalar_params": {"rate": float("nan")}}},
            "This JSON contains a number that is not allowed, such as NaN or one that is far too long.",
        ),
    ],
)
def test_a_bad_record_gets_one_sentence_and_nothing_is_written(cli: CommandLine, record: Any, message: str) -> None:
    assert expect_refusal(cli.json("add", cli.file("r.json", record), "--user", "U1")) == message
    assert cli.export() == ""


def test_what_is_missing_is_said(cli: CommandLine) -> None:
    for arguments in (["add"], ["add", "--user", "U1"], ["archive", "--user", "U1"], ["supersede", "a"]):
        assert cli.json(*arguments)[0] == 2
    assert "I cannot read" in expect_refusal(cli.json("import", str(cli.folder / "none")))
    assert cli.json("add", str(cli.folder / "none"), "--user", "U1")[0] == 2


# --- files ---


def history() -> list[Any]:
    """Return a history with two people, each kind of event, an instant twice, and a line end inside a text."""
    return [
        line_of("gym", description="gym on\u2028Tuesdays 🏋", days_of_week=["TU"]),
        line_of("bed", at=LATE, necessity="must", session="D1:7"),
        line_of("bed", at=LATE, necessity="must", name="Bed, moved"),
        line_of("bed", user="U2", at=EARLY),
        line_of("gym", at=LATE, event={"action": "archive", "reason": "superseded by bed"}, status="declined"),
        line_of("gym", user="U2", at=LATE, event={"action": "decline", "reason": None}, status="declined"),
        line_of("tea", user="U2", at=LATE, event={"action": "update", "reason": "said again"}),
    ]


def by_person(lines: list[Any]) -> str:
    in_order = sorted(lines, key=lambda line: line["user_id"])
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in in_order).replace("\u2028", "\\u2028")


def test_an_export_of_an_import_is_the_same_again(cli: CommandLine) -> None:
    """Instants, events, sessions; from an import into an empty place the same bytes come out again."""
    source = cli.file("in.jsonl", *history())
    counts = {"read": 7, "written": 7, "already": 0, "skipped": 0, "bad": []}
    assert cli.expect_success("import", source) == counts
    assert cli.export() == by_person(history())
    target = cli.folder / "out.jsonl"
    assert cli.expect_success("export", "--to", str(target)) == {"people": 2, "versions": 7, "file": str(target)}
    assert (target.read_text(), oct(target.stat().st_mode)[-3:]) == (by_person(history()), "600")
    elsewhere = cli.folder / "elsewhere"
    assert cli.expect_success("import", str(target), data=elsewhere) == counts
    assert cli.export(data=elsewhere) == by_person(history())
    assert cli.text("export", "--user", "U2")[1] == by_person(history()[3:4] + history()[5:])


def test_an_import_is_repeated_without_effect(cli: CommandLine) -> None:
    """Also after half of it, from another file, or of what was never imported but written here."""
    cli.expect_success("add", cli.file("r.json", {"name": "Written here"}), "--user", "U1")
    here = cli.export()
    assert cli.expect_success("import", cli.file("here.jsonl", *map(json.loads, here.splitlines())))["already"] == 1
    assert cli.expect_success("import", cli.file("half.jsonl", *history()[:3]))["written"] == 3
    source = cli.file("in.jsonl", *history(), *history())
    assert cli.expect_success("import", source) == {"read": 14, "written": 4, "already": 10, "skipped": 0, "bad": []}
    before = cli.export()
    assert cli.expect_success("import", source)["written"] == 0
    assert cli.export() == before == here + by_person(history())


def in_database(cli: CommandLine, statement: str) -> list[Any]:
    with contextlib.closing(sqlite3.connect(cli.data / "fateforger.db")) as connection, connection:
        return connection.execute(statement).fetchall()


def test_an_import_that_was_cut_off_goes_on_where_it_was(cli: CommandLine) -> None:
    """Many lines are one commit; what was committed stays, and is not written again."""
    lines = [line_of(f"c{n:03}", user="U2" if n == 100 else "U1") for n in range(450)]
    source = cli.file("in.jsonl", *lines, json.dumps("nothing"))
    in_database(
        cli,
        "CREATE TRIGGER full BEFORE INSERT ON constraint_version WHEN NEW.uid = 'c449'"
        " BEGIN SELECT abs(-9223372036854775807 - 1); END",
    )
    assert "401 lines are written; run it again and it goes on there." in expect_refusal(
        cli.json("import", source), status=3
    )
    assert in_database(cli, "SELECT count(*), count(DISTINCT cause) FROM constraint_version") == [(401, 3)]
    in_database(cli, "DROP TRIGGER full")
    answer = cli.expect_success("import", source)
    assert [answer[name] for name in ("read", "written", "already", "skipped")] == [451, 49, 401, 1]
    assert cli.export() == by_person([line for line in lines if line["user_id"] == "U1"]) + by_person(lines[100:101])


def test_bad_lines_are_named_and_skipped(cli: CommandLine) -> None:
    good, other = (json.dumps(line_of(uid)).encode() for uid in ("a", "b"))
    bad = [
        b"{",
        b"\xff",
        b"[]",
        json.dumps({**line_of("c"), "updated_at": "today"}).encode(),
        json.dumps({**line_of("c"), "user_id": " "}).encode(),
        json.dumps(line_of("c", event={"action": "merge"})).encode(),
        json.dumps(line_of("c", session="a\x00")).encode(),
    ]
    path = cli.folder / "in.jsonl"
    path.write_bytes(b"\n".join([good, *bad, b"", b"  ", other]))
    answer = cli.expect_success("import", str(path))
    assert {name: answer[name] for name in ("read", "written", "already", "skipped")} == {
        "read": 9, "written": 2, "already": 0, "skipped": 7,
    }  # fmt: skip
    assert [(mistake["line"], mistake["message"][:34]) for mistake in answer["bad"]] == [
        (2, "This is not JSON: expecting proper"),
        (3, "This line is not UTF-8 text."),
        (4, "A constraint is a JSON object with"),
        (5, "“updated_at” cannot be used: input"),
        (6, "Say whose: the id of a person is m"),
        (7, "“action” cannot be used: input sho"),
        (8, "“session_id” holds a NUL character"),
    ]
    assert answer["bad"][3]["where"] == f"{path}, line 5, updated_at"
    status, out, err = cli.text("import", str(path))
    assert (status, out) == (0, "9 read: 0 written, 2 there already, 7 skipped.\n")
    assert err.splitlines()[0].startswith("Line 2 is skipped: This is not JSON")
    path.write_bytes(b"\n".join(bad))
    assert expect_refusal(cli.json("import", str(path))).startswith(f"No line of {path} can be used: This is not JSON")
    assert cli.text("import", str(path))[2].endswith(
        f"It reads what constraints export has written. ({path}, line 1)\n"
    )


def test_a_line_that_is_far_too_long_is_one_bad_line(cli: CommandLine) -> None:
    path = cli.folder / "in.jsonl"
    good = json.dumps(line_of("a")).encode()
    path.write_bytes(b"x" * (2 * 16 * 1024 * 1024 + 5) + b"\n" + good)
    answer = cli.expect_success("import", str(path))
    assert (answer["read"], answer["written"], [mistake["line"] for mistake in answer["bad"]]) == (2, 1, [1])


def test_what_was_put_away_is_brought_back(cli: CommandLine) -> None:
    """S451: the answer says how; then the replaced rule is replaced again."""
    cli.expect_success("add", cli.file("bed.json", {"name": "Bed at ten"}), "--user", "U1")
    (bed,) = (each["uid"] for each in cli.expect_success("list", "--user", "U1")["constraints"])
    late = cli.file("late.json", {"name": "Bed at eleven"})
    uid = cli.expect_success("supersede", bed, late, "--user", "U1", now=LATE)["constraint"]["uid"]
    assert cli.text("archive", uid, "--user", "U1", now=LATE)[1].startswith(
        f"Put away: “Bed at eleven” [{uid}]. To bring it back: fateforger constraints archive {uid} --undo --user U1\n"
    )
    assert [each["uid"] for each in cli.expect_success("list", "--user", "U1")["constraints"]] == [bed]
    assert cli.text("archive", uid, "--undo", "--user", "U1", now=LATE)[1].startswith("“Bed at eleven” is restored.\n")
    assert cli.text("archive", uid, "--undo", "--user", "U1")[1] == (
        f"That is in force already: “Bed at eleven” [{uid}].\n"
    )
    expect_refusal(cli.json("archive", uid, "--undo", "--reason", "x", "--user", "U1"))
    expect_refusal(cli.json("archive", "nothing", "--undo", "--user", "U1"))


def test_no_file_is_overwritten(cli: CommandLine) -> None:
    """S454: by no command that writes one."""
    (cli.folder / "here.svg").write_text("mine")
    plan = cli.folder / "plan.json"
    plan.write_text(json.dumps({"date": "2026-03-02", "tz": "Europe/Berlin", "events": []}))
    target = str(cli.folder / "here.svg")
    for command in (
        ("constraints", "export", "--to", target),
        ("person", "export", "U1", "--to", target),
        ("plan", "draw", str(plan), "--out", target),
        ("admin", "backup", target),
    ):
        where = () if command[0] == "plan" else ("--data-dir", str(cli.data))
        assert run_inside(*command, *where) == (2, "", f"There is already a file {target}. Name another one. (file)\n")
    assert (cli.folder / "here.svg").read_text() == "mine"


def test_an_export_that_cannot_be_written_leaves_what_was_there(cli: CommandLine) -> None:
    target = cli.folder / "no folder" / "out.jsonl"
    assert expect_refusal(cli.json("export", "--to", str(target)), status=3).startswith(f"I cannot write {target}: ")
    assert not target.parent.exists()


def test_the_store_answers_as_the_file_does(cli: CommandLine) -> None:
    """A1-A12: for twenty random histories, every context gets the same answer from both."""
    random = Random(11)
    users = ("U1", "U2")
    lines = [line for _ in range(20) for line in random_history(random, users=users, uids=40)]
    contexts = [random_context(random, users=users) for _ in range(40)]
    source = cli.file("in.jsonl", *lines)
    written = cli.expect_success("import", source)
    assert (written["written"] + written["already"], written["bad"]) == (len(lines), [])
    batch = ("--batch", cli.file("contexts.jsonl", *contexts), "--explain")
    now = "2026-04-01T00:00:00Z"
    from_store = cli.text("query", *batch, now=now)
    assert from_store == cli.text("query", "--from", source, *batch, now=now)
    assert from_store[1].count("\n") == 40


def test_everything_can_be_indexed_again(cli: CommandLine) -> None:
    """The program that runs on the data directory does it, if there is one; without one the command does."""
    cli.expect_success("import", cli.file("in.jsonl", *history()))
    with lock_data_dir(cli.data):
        sentence = "5 constraints will be indexed again by the program that runs here."
        assert cli.expect_success("reindex") == {"constraints": 5, "done": False, "message": sentence}
    sentence = "The index was rebuilt: 5 constraints."
    assert cli.expect_success("reindex") == {"constraints": 5, "done": True, "message": sentence}
    assert cli.expect_success("reindex", "--user", "U1") == {
        "constraints": 2,
        "done": True,
        "message": "Indexed again: 2 constraints.",
    }
    assert cli.text("reindex") == (0, f"{sentence}\n", "")
    for file in (cli.data / "memory" / "qdrant").rglob("*.*"):
        file.write_bytes(b"garbage" * 1_000)
    assert cli.text("reindex") == (0, f"{sentence}\n", "")


# --- what cannot be read ---


def test_a_damaged_constraint_is_named_put_away_and_mended(cli: CommandLine) -> None:
    """S187 (L-03): the error names it, and no answer leaves it out; one action of the person repairs it."""
    cli.expect_success("import", cli.file("in.jsonl", *history()))
    with sqlite3.connect(cli.data / "fateforger.db") as connection:
        connection.execute("UPDATE constraint_version SET record = 'x' WHERE user_id = 'U1' AND uid = 'bed'")
    connection.close()
    for command in (["list", "--user", "U1"], ["query", "--user", "U1", "--date", "2026-03-04"]):
        message = expect_refusal(cli.json(*command), status=3)
        assert message.startswith("The constraint “Bed, moved” (bed) cannot be read from the database: ")
    assert cli.expect_success("query", "--user", "U2", "--date", "2026-03-04")["constraints"] != []
    status, out, err = cli.text("export")
    assert (status, len(out.splitlines())) == (3, 5)
    assert err.startswith("The constraint “Bed, moved” (bed) cannot be read")
    assert cli.expect_success("archive", "bed", "--user", "U1", now="2026-03-05T00:00:00Z")["written"]
    assert cli.query_uids("--date", "2026-03-04") == []
    cli.expect_success("add", cli.file("r.json", record_of("bed")), "--user", "U1", now="2026-03-06T00:00:00Z")
    assert cli.query_uids("--date", "2026-03-04") == ["bed"]


@pytest.mark.process
async def test_the_same_commands_work_with_a_database_server(cli: CommandLine, postgres: str) -> None:
    where = {"FATEFORGER_DATABASE_URL": postgres, "FATEFORGER_DATA_DIR": str(cli.folder / "pg")}
    done = run_program("constraints", "import", cli.file("in.jsonl", *history()), environment=where)
    assert done == (0, "7 read: 7 written, 0 there already.\n", "")
    store = open_store(postgres)
    rows = [version for user in ("U1", "U2") for version in await store.constraints.of(user)]
    await store.aclose()
    assert "".join(f"{dump_json_line(write_version(version))}\n" for version in rows) == by_person(history())


def test_what_is_known_about_something(cli: CommandLine) -> None:
    """S95: the index says where to look, and what is shown is what is written down; without it everything is."""
    lines = [line_of("gym", description="gym at seven"), line_of("bed", description="lights out")]
    cli.expect_success("import", cli.file("in.jsonl", *lines, line_of("gym", user="U2", description="gym at six")))
    cli.expect_success("archive", "bed", "--user", "U1")
    about = ("list", "--user", "U1", "--about")
    gym = {"uid": "gym", **lines[0]}
    assert cli.expect_success(*about, "the gym at seven") == {"constraints": [gym], "message": None}
    assert cli.text(*about, "xkcd 42")[1] == "Nothing is written down about that.\n"
    with lock_data_dir(cli.data):
        said = cli.expect_success(*about, "lights out")
        assert said["constraints"] == [gym]
        assert said["message"] == f"The program that runs here has the index of constraints. {NO_INDEX}"
    assert cli.json(*about, "x", "--all")[0] == 2


def test_no_entry_point_keeps_a_secret(cli: CommandLine) -> None:
    """Neither alone nor as a line of a file; and the refusal does not repeat it."""
    key = "sk-proj-" + "Ab3dEf6hIj9lMn2pQr5t"
    record = cli.file("r.json", record_of("c", description=f"the key is {key}"))
    cli.expect_success("add", cli.file("old.json", BEDTIME), "--user", "U1")
    for arguments in (["add", record], ["supersede", "old", record]):
        assert key not in expect_refusal(cli.json(*arguments, "--user", "U1"))
    expect_refusal(cli.json("archive", "old", "--user", "U1", "--reason", key))
    lines = [line_of("b", name=key), line_of("c", applies_stages=[key]), {**line_of("d"), key: 1}]
    lines.append(line_of("e", event={"action": "archive", "reason": key}, status="declined"))
    answer = cli.expect_success("import", cli.file("in.jsonl", line_of("a"), *lines))
    assert (answer["written"], [mistake["line"] for mistake in answer["bad"]]) == (1, [2, 3, 4, 5])
    assert key not in json.dumps(answer)
    assert key not in cli.export()


def test_a_person_limits_a_rule_in_words_and_lists_one_sort_of_them(cli: CommandLine) -> None:
    """S27, S177, S225, S233, S235: each limit is an option, and shown."""
    late = ["--only-without", "Gym", "--kept-days", "14", "--stage", "REFINE", "--tag", "sport", "--confidence", "0.5"]
    cli.expect_success(
        "add",
        "--user",
        "U1",
        "--name",
        "Walk",
        "--necessity",
        "must",
        *late,
        "--source",
        "feedback",
        "--dimension",
        "goal",
    )
    today = cli.text("add", "--user", "U2", "--name", "No calls", "--kept-days", "1")[1]
    assert today.endswith(". It is kept until 2 March 2026.\n")
    cli.expect_success("add", "--user", "U1", "--name", "Early", "--slot", "work_start", "--at", "07:30", "--unsure")
    cli.expect_success("add", "--user", "U1", "--name", "Lunch out")
    walk, early = (each["constraint_record"] for each in cli.expect_success("list", "--user", "U1")["constraints"][:2])
    assert walk["aspect_classification"]["conditional_on_absent"] == ["gym"]
    assert (walk["lifecycle"]["ttl_days"], walk["applies_stages"], walk["topics"]) == (13, ["REFINE"], ["sport"])
    assert early["payload"]["windows"] == [{"kind": "avoid", "start_time_local": "00:00", "end_time_local": "07:30"}]
    shown = cli.text("list", "--user", "U1")[1]
    assert "from feedback, confidence 0.5, to be confirmed, kept until 15 March 2026, only without “gym”" in shown
    assert "in the step “Refine” only, tags sport" in shown
    over = cli.text("list", "--user", "U1", now="2026-03-16T09:00:00Z")[1]
    assert "ended, 2 March 2026" in over

    def list_names(*filters: str) -> list[str]:
        found = cli.expect_success("list", "--user", "U1", *filters)["constraints"]
        return [each["constraint_record"]["name"] for each in found]

    assert list_names("--necessity", "must") == ["Walk"]
    assert list_names("--tag", "sport", "--scope", "profile") == ["Walk"]
    assert list_names("--tag", "startup_prefetch") == ["Early"]
    assert list_names("--necessity", "should", "--limit", "1") == ["Early"]
    assert list_names("--status", "declined") == []
    assert [list_names("--dimension", each) for each in ("goal", "policy", "state")] == [
        ["Walk"],
        ["Early"],
        ["Lunch out"],
    ]
    assert expect_refusal(cli.json("add", "--user", "U1", "--name", "x", "--slot", "bedtime")) == (
        "--slot and --at belong together."
    )
