"""Arguments of public functions, held against their annotations before any work begins.

Python runs ``publish(release, "out", force="no")``, and takes "no" for yes. Here it is refused, with
what would be right: one check for all functions, made from what their signatures say already.
"""

from __future__ import annotations

import builtins
import collections.abc
import dataclasses
import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")

_UNPACKED = re.compile(r"Unpack\[(\w+)\]")
_MANY = (collections.abc.Iterable, collections.abc.Sequence, list)
_NAMES: Mapping[Any, str] = {
    NoneType: "None",
    bool: "True or False",
    bytes: "bytes",
    float: "a number",
    int: "a whole number",
    os.PathLike: "a path",
    str: "text",
    collections.abc.Callable: "a function",
}


def checked(*leaving: str, settings: type | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that raises `UsageError` for arguments of another type than annotated.

    Those of `leaving` the function itself checks, and says more about. Where it takes
    ``**options: Unpack[Options]``, each key of that `TypedDict` is an argument of its own, in the
    signature too; ``Annotated[type, default]`` tells what the function gets where it is not given. So
    are the fields of the dataclass `settings`, beside which ``**options`` may hold anything.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        plain = inspect.signature(function)
        signature = _with_options(function, plain, settings)
        kind_of: dict[str, Any] = {}

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if not kind_of:
                kind_of.update(_kinds(function, signature, leaving))
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                if signature is not plain and settings is None:
                    _refuse_unknown(function, signature, kwargs)
                return function(*args, **kwargs)  # which raises it, and says it better
            given = bound.arguments
            for name, value in given.items():
                if (
                    isinstance(value, str)
                    and name in kind_of
                    and not _may_be_name(value, kind_of[name])
                ):
                    raise UsageError(
                        f"{name} cannot be the name of a file: it holds half a character.",
                        "Check how the name was read.",
                        code="wrong-name",
                    )
                if name in kind_of and not _fits(value, kind_of[name]):
                    wanted = _in_words(kind_of[name])
                    if isinstance(value, str) and "a list of texts" in wanted:
                        raise UsageError(
                            f"{name} is one text, not several.",
                            f"Give {name}=[{value[:40]!a}].",
                            code="wrong-type",
                        )
                    raise UsageError(
                        f"{name} must be {wanted} (got {_got(value)}).",
                        f"Give {wanted}.",
                        code="wrong-type",
                    )
            if signature is plain:
                return function(*args, **kwargs)
            bound.apply_defaults()
            return function(*bound.args, **bound.kwargs)

        if signature is not plain:
            call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    return decorate


def _with_options(
    function: Callable[..., object], plain: inspect.Signature, settings: type | None
) -> inspect.Signature:
    """Return a signature in which unpacked options, or settings, stand one by one."""
    *own, last = plain.parameters.values()
    if settings is not None:
        known: Any = settings
        types = get_type_hints(settings)
        fields = [
            last.replace(name=field.name, kind=last.KEYWORD_ONLY, default=field.default)
            for field in dataclasses.fields(known)
            if field.name not in plain.parameters
        ]
        added = [field.replace(annotation=types[field.name]) for field in fields]
        return plain.replace(parameters=[*own, *added, last])
    found = _UNPACKED.fullmatch(str(last.annotation))
    if found is None:
        return plain
    hints = get_type_hints(function.__globals__[found[1]], include_extras=True)
    options = [
        last.replace(
            name=name,
            kind=last.KEYWORD_ONLY,
            default=hint.__metadata__[0] if get_origin(hint) is Annotated else last.empty,
            annotation=hint.__origin__ if get_origin(hint) is Annotated else hint,
        )
        for name, hint in hints.items()
    ]
    return plain.replace(parameters=[*own, *options])


def _refuse_unknown(
    function: Callable[..., object], signature: inspect.Signature, given: Mapping[str, object]
) -> None:
    """Raise what Python raises for an argument that a function does not have."""
    for name in given:
        if name not in signature.parameters:
            raise TypeError(f"{function.__qualname__}() got an unexpected keyword argument {name!r}")


def _kinds(
    function: Callable[..., object], signature: inspect.Signature, leaving: tuple[str, ...]
) -> dict[str, Any]:
    """Return what each argument may be."""
    annotations = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if name not in leaving
        and parameter.annotation is not parameter.empty
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    }
    scope = _Scope(getattr(function, "__globals__", {}))
    return {"": None, **get_type_hints(SimpleNamespace(__annotations__=annotations), {}, scope)}


class _Named(type):
    """A class that is known by its name alone, since its module is not loaded for a check."""

    def __instancecheck__(cls, value: object) -> bool:
        return any(base.__name__ == cls.__name__ for base in type(value).__mro__)


class _Scope(dict[str, Any]):
    """The names of a module; those that it imports for the type checker alone are `_Named`."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, None) or _Named(name, (), {})


def _may_be_name(text: str, kind: Any) -> bool:
    """Tell whether a text can be the name of a file, where the argument may be one."""
    if kind is not Any and os.PathLike not in [get_origin(one) for one in get_args(kind)]:
        return True
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _fits(value: object, kind: Any) -> bool:
    """Tell whether a value is of a kind; what is inside lists and dictionaries too."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if kind is None or kind is NoneType:
        return value is None
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is collections.abc.Callable:
        return callable(value)
    if origin is collections.abc.Mapping:
        return isinstance(value, Mapping) and (
            _all_fit(value, inner[0]) and _all_fit(value.values(), inner[1])
        )
    if origin in _MANY:
        if isinstance(value, str):  # one text may stand for a list of it, not for its letters
            return origin is collections.abc.Iterable and inner == (str,)
        if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
            return False
        held_again = isinstance(value, list | tuple | set | frozenset)
        return not held_again or _all_fit(value, inner[0])
    if origin is Any or not isinstance(origin, type):
        return True
    if origin is float:
        return isinstance(value, Real) and not isinstance(value, bool)
    if origin is int:
        return hasattr(value, "__index__") and not isinstance(value, bool)
    return isinstance(value, origin)


def _all_fit(values: Iterable[object], kind: Any) -> bool:
    """Tell whether each value is of a kind; one of each type is looked at where that says it."""
    if not any(get_args(one) for one in (get_args(kind) or (kind,))):
        values = {type(value): value for value in values}.values()
    return all(_fits(value, kind) for value in values)


def _in_words(kind: Any) -> str:
    """Return a kind in words."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        words = list(dict.fromkeys(_in_words(one) for one in inner))
        return ", ".join(words[:-1]) + f" or {words[-1]}" if len(words) > 1 else words[0]
    if origin in _MANY and inner:
        return "a list of texts" if inner == (str,) else f"a list, each entry {_in_words(inner[0])}"
    if origin is collections.abc.Mapping and inner:
        return f"a dictionary from {_in_words(inner[0])} to {_in_words(inner[1])}"
    return _NAMES.get(NoneType if kind is None else origin, f"a {getattr(origin, '__name__', kind)}")


def _got(value: object) -> str:
    """Return the type of a value, not the value: it can be a private record."""
    named = "None" if value is None else type(value).__name__[:40]
    if isinstance(value, list | tuple | set | frozenset | Mapping) and value:
        inside = (*value, *value.values()) if isinstance(value, Mapping) else value
        named += " of " + ", ".join(sorted({type(one).__name__[:40] for one in inside})[:5])
    return named
