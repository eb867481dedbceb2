"""What a user can hold is public: exported, in the reference, and shown by an example that runs."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from collections.abc import Iterator
from typing import Any

from docs.reference_pages import classes, functions, public, python_page

import setveil
from tests.house.sources import modules, tell

NOT_HELD = {"Guarantee", "BucketGuarantee"}
"""What stands for several promises, each of which is public."""


def our_classes() -> set[str]:
    """Return the classes of the package, but for the keyword arguments that `Unpack` spells out."""
    return {
        node.name
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and not any("TypedDict" in ast.dump(b) for b in node.bases)
    }


def held() -> Iterator[tuple[str, str]]:
    """Yield every class of ours that a public function takes or returns, with the function."""
    ours = our_classes() - {"Options", "OfAnyFile"}
    for name in setveil.__all__:
        function = inspect.unwrap(public(name))
        if not inspect.isfunction(function):
            continue
        signature = inspect.signature(function)
        notes = [signature.return_annotation]
        notes += [parameter.annotation for parameter in signature.parameters.values()]
        for word in sorted(
            {word for note in notes for word in re.findall(r"(?<![\w.])[A-Z]\w+", str(note))}
        ):
            if word in ours:
                yield name, word


def faults() -> Iterator[str]:
    page = python_page()
    names = {name for name in setveil.__all__ if not name.startswith("__")}
    for function, name in held():
        if name not in names | NOT_HELD:
            yield f"{function} takes or returns {name}, which is not public"
    for name in sorted(names):
        if f"### setveil.{name}\n" not in page:
            yield f"setveil.{name} has no section in the reference"
        if not doctest.DocTestParser().get_examples(public(name).__doc__ or ""):
            yield f"setveil.{name} has no example"


def test_what_a_user_can_hold_is_public_and_shown() -> None:
    assert len(list(held())) > 40
    tell(faults())


def test_promises_in_place_of_several_are_all_public() -> None:
    from setveil.model import guarantees

    for name in NOT_HELD:
        kinds = [one for one in guarantees.GUARANTEES.values() if _is(one, getattr(guarantees, name))]
        assert kinds
        assert {one.__name__ for one in kinds} <= set(setveil.__all__)


def _is(one: Any, base: Any) -> bool:
    return isinstance(one, type) and issubclass(one, base)


def test_every_verb_shows_what_it_takes() -> None:
    for name, function in functions().items():
        if name.count(".") == 1:
            shown = inspect.signature(getattr(setveil, name.partition(".")[2]))
            assert "arguments" not in shown.parameters, name
            assert list(shown.parameters) == list(inspect.signature(function).parameters), name
    assert "release" in inspect.signature(setveil.publish).parameters
    assert len(classes()) > 30
