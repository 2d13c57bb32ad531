"""The words of the code: docstrings, comments and names are plain English and terms of the field."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from tests.sources import Module, all_modules, modules

AVOIDED = re.compile(r"\b(beside|anew|nobody|whoever|of ours|stands)\b", re.IGNORECASE)
BEGINNING = re.compile(r"(What|Whether|Who|Whose|Whoever|Which|How|Where)\b")
READ_BY_MODELS = (
    "fateforger/conversation/language/",
    "fateforger/drafting/instance.py",
    "fateforger/memory/record.py",
    "fateforger/memory/vocabulary.py",
    "fateforger/planning/plan.py",
    "fateforger/tasks/",
)
"""Their docstrings describe fields in the JSON schemas that language models read: other words are other prompts."""
JARGON = re.compile(
    r"\b(etag|idempotent|lease|ledger|lineage|no-?op|outbox|payload|scheduler|sync plan|tombstone|tuple|upsert|uuid|viewer)s?\b",
    re.IGNORECASE,
)
"""Terms of the program that no card, form or message uses."""
SPOKEN = (
    "ui/",
    "session/",
    "quality/",
    "calendar/results.py",
    "calendar/conflicts.py",
    "calendar/history.py",
    "calendar/history.py",
    "calendar/matching.py",
    "conversation/queue/",
    "slack/phrases.py",
    "slack/blocks.py",
)
"""Modules with texts for people."""

INTERNAL = frozenset({"InternalError", "ValueError", "TypeError", "RuntimeError"})


def strings(module: Module) -> Iterator[tuple[int, str]]:
    """Yield each string that is a statement of its own: docstrings of modules, functions, classes and values."""
    for node in module.find(ast.Expr):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text


def comments(code: str) -> Iterator[tuple[int, str]]:
    """Yield the comments of some code, if one may be a mistake; to tell them from strings takes time."""
    if not any(mistakes(tail.strip(": ")) for line in code.splitlines() for tail in tails(line)):
        return
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#: ")


def tails(line: str) -> Iterator[str]:
    """Yield the text after each hash in a line: one of them is its comment, if it has any."""
    while "#" in line:
        line = line.partition("#")[2]
        yield line


def mistakes(text: str) -> bool:
    """Check whether a text has a word to avoid, other than as a name of the code, or begins as a question does."""
    return bool(AVOIDED.search(re.sub(r"`+[^`]*`+", "", text)) or BEGINNING.match(text))


def test_docstrings_and_comments_are_plain_english() -> None:
    """A docstring or comment has no word to avoid and does not begin as a question does."""
    read_by_people = {name: each for name, each in all_modules().items() if not name.startswith(READ_BY_MODELS)}
    assert [each for name, module in read_by_people.items() for each in find_mistakes(name, module)] == []


def find_mistakes(name: str, module: Module) -> Iterator[str]:
    """Yield each docstring or comment that has a mistake, with its place."""
    for line, text in (*strings(module), *comments(module.text)):
        if mistakes(text):
            yield f"{name}:{line}: {' '.join(text.split())[:80]}"


def test_words_to_avoid_are_noticed() -> None:
    assert mistakes("Whether it is due.")
    assert mistakes("The row beside it.")
    assert not mistakes("A card ``beside`` the others; the standard one.")


def test_what_people_read_has_no_terms_of_the_program() -> None:
    """Sentences on cards, in forms and in messages."""
    found = [
        f"{name}:{node.lineno}: {str(node.value)[:80]}"
        for name, module in modules().items()
        if name.startswith(SPOKEN)
        for node in find_texts(module)
        if JARGON.search(str(node.value))
    ]
    assert found == []


def find_texts(module: Module) -> Iterator[ast.Constant]:
    """Yield the texts with several words that are no docstrings and in no internal error."""
    internal = (node for node in module.find(ast.Call) if getattr(node.func, "id", "") in INTERNAL)
    silent = {id(inner) for node in (*module.find(ast.Expr), *internal) for inner in ast.walk(node)}
    for node in module.find(ast.Constant):
        if str(node.value).count(" ") > 1 and id(node) not in silent:
            yield node


METAPHORS = frozenset(["chronicle", "desk", "ground", "house", "mind", "pulse", "shelf", "telling", "underway"])
"""Words that stood for a program, a resource, a task or a cache, each of which is called by its own name."""
VERBS = frozenset({"embed", "proceed", "put", "read", "set"})
"""Verbs that look like past participles."""
PARTICIPLES = frozenset(
    [
        "begun",
        "broken",
        "caught",
        "done",
        "drawn",
        "found",
        "given",
        "gone",
        "grown",
        "heard",
        "held",
        "kept",
        "known",
        "laid",
        "left",
        "made",
        "met",
        "owed",
        "said",
        "seen",
        "sent",
        "shown",
        "spoken",
        "taken",
        "told",
        "understood",
        "used",
        "written",
    ]
)
FIELD_TERMS = frozenset({"drafting", "drawing", "matching", "pending", "replanning", "timing"})
"""Names of modules in -ing that are nouns of the field."""


def test_functions_are_named_by_verbs() -> None:
    """A past participle alone does not say what a function does; a property may be an adjective."""
    assert [each for name, module in all_modules().items() for each in find_participles(name, module)] == []


def find_participles(name: str, module: Module) -> Iterator[str]:
    """Yield each function that is named by a past participle, with its place."""
    for node in module.functions():
        if is_participle(node.name) and not is_value(node):
            yield f"{name}:{node.lineno}: {node.name}"


def is_participle(name: str) -> bool:
    bare = name.strip("_")
    return "_" not in bare and bare not in VERBS and (bare in PARTICIPLES or (bare.endswith("ed") and len(bare) > 4))


def is_value(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Check whether a function is used as a value: as a property, or as a fixture of tests."""
    return any(word in ast.unparse(each) for each in node.decorator_list for word in ("property", "fixture"))


def test_modules_are_named_by_nouns() -> None:
    stems = {name: name.rpartition("/")[2].removesuffix(".py") for name in all_modules()}
    assert [name for name, stem in stems.items() if stem.endswith("ing") and stem not in FIELD_TERMS] == []


def test_names_are_no_metaphors() -> None:
    """Everything is called what the field calls it. A task of the queue is claimed; so is a job, and a calendar."""
    others = {name: each for name, each in all_modules().items() if not name.startswith("fateforger/drafting/")}
    assert [each for name, module in others.items() for each in find_metaphors(name, module)] == []


def find_metaphors(name: str, module: Module) -> Iterator[str]:
    """Yield each name with such a word, except those of tests, which are sentences."""
    for identifier in sorted(identifiers(module)):
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", identifier).lower().split("_")
        if words[0] != "test" and METAPHORS.intersection(words):
            yield f"{name}: {identifier}"


def identifiers(module: Module) -> set[str]:
    return {
        found
        for kind, nodes in module.nodes.items()
        for field in {"id", "attr", "name", "arg"}.intersection(kind._fields)
        for node in nodes
        if isinstance(found := getattr(node, field), str)
    }
