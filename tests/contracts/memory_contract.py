"""The contract of indexes of constraints. A test module subclasses the suite and gives it an empty index."""

from __future__ import annotations

import asyncio

import pytest
from tests.factories.constraints import version_of

from fateforger.memory.ports import Memory
from fateforger.memory.versions import Version

HOSTILE = (
    "U1", "u1", "U1 ", " U1", "U1\n", "*", "%", "_", "", " ", "\0", "U1\0", "Ｕ１", "U1\u200b", "Ü1", "U\u03081",
    "' OR '1'='1", "U1'; DROP TABLE fateforger_constraints; --", '{"$ne": null}', "canary", "nobody", "person-1", "null",
    "../../etc/passwd", "U" * 5_000,
)  # fmt: skip
"""Ids with a special meaning elsewhere: each has to be only a name, and no two of them the same."""

LANGUAGES = {
    "en": ("No meetings before ten", "I think best in the morning, so keep it free of meetings.", "meeting"),
    "de": ("Mittagspause draußen", "Zwischen zwölf und eins gehe ich spazieren, auch bei Regen.", "Spaziergang Regen"),
    "ru": ("Спортзал по вторникам", "После обеда я занимаюсь в спортзале сорок минут.", "спортзал"),
    "ja": ("夜は仕事をしない", "夜八時以降は家族と過ごす時間にしたい。", "家族の時間"),
    "ar": ("صلاة الجمعة", "أحتاج ساعة كل يوم جمعة لصلاة الظهر.", "صلاة"),
}
"""A name, a statement, and a query that shares some of its words."""


def make_version(
    uid: str = "c", description: str = "what I said", *, user: str = "U1", seq: int = 1, name: str = "A rule"
) -> Version:
    return version_of(uid, user=user, seq=seq, name=name, description=description)


async def search_uids(memory: Memory, text: str, *, user: str = "U1", limit: int = 10) -> list[str]:
    return [item.uid for item in await memory.search(user, text, limit=limit)]


class MemoryContract:
    @pytest.fixture
    def memory(self) -> Memory:
        raise NotImplementedError

    async def test_a_version_comes_back_as_it_was_put(self, memory: Memory) -> None:
        """S13: no field is lost, with any contents."""
        full = version_of(
            "tb_1",
            user="U1",
            seq=7,
            at="2026-02-03T04:05:06.000007+00:00",
            event={"action": "update", "reason": "moved “it” 🙂"},
            session="1700.1",
            necessity="must",
            topics=["focus", "häßlich|schön"],
            start_date="2026-01-01",
            end_date="2026-12-31",
            days_of_week=["MO", "TU"],
            timezone="Asia/Kathmandu",
            recurrence="FREQ=WEEKLY;BYDAY=MO",
            rule_kind="prefer_window",
            scalar_params={"duration_min": 25, "own": {"deep": [1, 0.1, None, True]}},
            windows=[{"kind": "prefer", "start_time_local": "09:00", "end_time_local": "11:30"}],
            supersedes_uids=["tb_0"],
            ttl_days=30,
            applies_stages=["REFINE"],
            applies_event_types=["DW"],
        )
        least = version_of("tb_2", description="")
        for version in (full, least):
            await memory.put(version)
        assert await memory.all("U1") == (full, least)

    async def test_everything_is_listed_with_its_person(self, memory: Memory) -> None:
        """S320: all memories of all people, each with the whole version; the store needs nothing else to be restored."""
        versions = [make_version(uid, f"words {uid}", user=user) for user in ("U1", "U2", "*") for uid in "ab"]
        await memory.put(*versions)
        found = await memory.list_everything()
        assert sorted(found.versions, key=lambda v: (v.user_id, v.uid)) == sorted(
            versions, key=lambda v: (v.user_id, v.uid)
        )
        assert found.unreadable == 0

    async def test_one_memory_each_updated_in_place(self, memory: Memory) -> None:
        """S13: after every update all of it is new, and there is still one."""
        for seq, (status, necessity) in enumerate((("proposed", "must"), ("locked", "should"), ("declined", "prefer"))):
            version = version_of("c", seq=seq, status=status, necessity=necessity, description=f"words {seq}")
            await memory.put(version)
            assert await memory.all("U1") == (version,)
        await memory.put(other := make_version("d"))
        assert (await memory.all("U1"), (await memory.report()).memories) == ((version, other), 2)

    async def test_what_was_put_last_is_shown(self, memory: Memory) -> None:
        await memory.put(make_version(seq=9))
        await memory.put(older := make_version(seq=3, description="as it was before"))
        assert await memory.all("U1") == (older,)

    async def test_dropping(self, memory: Memory) -> None:
        for uid in "ab":
            await memory.put(make_version(uid, "swimming"))
        await memory.drop("U1", "a")
        await memory.drop("U1", "a")
        await memory.drop("U1", "never was")
        await memory.drop("U2", "b")
        assert ([v.uid for v in await memory.all("U1")], await search_uids(memory, "swimming")) == (["b"], ["b"])
        await memory.put(again := make_version("a"))
        assert (await memory.all("U1"))[0] == again

    async def test_people_are_told_apart_by_every_character(self, memory: Memory) -> None:
        """No id means more than itself, and none is taken for another one."""
        for number, user in enumerate(HOSTILE):
            await memory.put(make_version("c", f"swimming number {number}", user=user, seq=number))
        for number, user in enumerate(HOSTILE):
            mine = await memory.all(user)
            assert [(v.user_id, v.record.description) for v in mine] == [(user, f"swimming number {number}")]
            assert await search_uids(memory, "swimming", user=user) == ["c"]
        await memory.drop("*", "c")
        assert [len(await memory.all(user)) for user in HOSTILE] == [user != "*" for user in HOSTILE]
        assert (await memory.all("U2"), await memory.search("U2", "swimming")) == ((), ())

    async def test_constraints_are_told_apart_by_every_character(self, memory: Memory) -> None:
        uids = [uid for uid in HOSTILE if 0 < len(uid) <= 400]
        for uid in uids:
            await memory.put(make_version(uid))
        await memory.put(changed := make_version("*", "another one"))
        await memory.drop("U1", "%")
        left = sorted(set(uids) - {"%"})
        assert [v.uid for v in await memory.all("U1")] == left
        assert [v for v in await memory.all("U1") if v.record.description == "another one"] == [changed]

    async def test_hostile_texts_are_texts(self, memory: Memory) -> None:
        for number, text in enumerate(text for text in HOSTILE if len(text) <= 300):
            await memory.put(version := make_version(f"c{number}", f"swimming {text}", name=text or "-"))
            assert version in await memory.all("U1")
            assert f"c{number}" in await search_uids(memory, f"swimming {text}", limit=100)

    async def test_the_nearest_come_first(self, memory: Memory) -> None:
        await memory.put(make_version("a", "swimming in the lake"))
        await memory.put(make_version("b", "swimming"))
        await memory.put(make_version("z", "invoices"))
        results = await memory.search("U1", "swimming in the lake")
        assert [item.uid for item in results][:2] == ["a", "b"]
        assert sorted((item.score for item in results), reverse=True) == [item.score for item in results]
        assert await search_uids(memory, "swimming in the lake", limit=1) == ["a"]

    async def test_nothing_is_found_where_there_is_nothing(self, memory: Memory) -> None:
        assert (await memory.all("U1"), await memory.search("U1", "swimming")) == ((), ())
        await memory.put(make_version("a", "swimming"))
        assert [await memory.search("U1", text) for text in ("", "  \n", "!?")] == [(), (), ()]
        assert await memory.search("U1", "swimming", limit=0) == ()

    @pytest.mark.parametrize("language", LANGUAGES)
    async def test_words_are_found_in_any_language(self, memory: Memory, language: str) -> None:
        for code, (name, text, _) in LANGUAGES.items():
            await memory.put(make_version(code, text, name=name))
        assert (await search_uids(memory, LANGUAGES[language][2]))[0] == language

    async def test_long_texts(self, memory: Memory) -> None:
        """8 kB, in one and in four bytes a character."""
        texts = [("I keep my mornings free. " * 400)[:8_000], ("夜は仕事をしない🙂。" * 1_000)[:8_000]]
        for number, text in enumerate(texts):
            await memory.put(make_version(f"c{number}", text))
        assert [v.record.description for v in await memory.all("U1")] == texts
        assert (await search_uids(memory, texts[0]))[0] == "c0"

    async def test_many_at_once_are_all_there(self, memory: Memory) -> None:
        versions = [make_version(f"c{number:03}", seq=number) for number in range(60)]
        await asyncio.gather(*map(memory.put, versions))
        assert await memory.all("U1") == tuple(versions)
        await asyncio.gather(*(memory.drop("U1", v.uid) for v in versions[::2]), *map(memory.put, versions[1::2]))
        assert await memory.all("U1") == tuple(versions[1::2])

    async def test_wiping_removes_everything_of_everybody(self, memory: Memory) -> None:
        for user in ("U1", "U2"):
            await memory.put(make_version(user=user))
        await memory.wipe()
        assert (await memory.all("U1"), await memory.all("U2"), (await memory.report()).memories) == ((), (), 0)
        await memory.put(make_version())
        assert ((await memory.report()).memories, len(await memory.all("U1"))) == (1, 1)
