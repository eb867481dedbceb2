"""One run on a table with a sensitive column: rules mined or given, buckets made, nothing written yet.

The randomness that hides who has which value is the system's and secret. A run with another source is
marked as seeded, and is refused by `publish`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Sequence
from random import Random

from .errors import UsageError
from .model.guarantees import BucketGuarantee, MatchingDiversity
from .model.microdata import Microdata
from .model.rules import NegativeRule, binding_rules
from .progress import Watch
from .registry import default_method, method
from .release.bucket_release import BucketRelease
from .release.release import Seal


def anonymize_table(
    data: Microdata,
    guarantee: BucketGuarantee,
    *,
    method_key: str | None = None,
    rules: Sequence[NegativeRule] = (),
    random: Random | None = None,
    watch: Watch | None = None,
    **options: object,
) -> BucketRelease:
    """Return a table in buckets that keeps `guarantee`; nothing is written.

    Parameters
    ----------
    data
        The table, as `setveil.read_microdata` returns it.
    guarantee
        `LDiversity(l)` or `MatchingDiversity(l)`.
    method_key
        "anatomy" or "injector"; by default the one for the guarantee.
    rules
        Known facts, for matching diversity: they join the rules that are mined.
    random
        Another source of chance than the system's; the result is then not for release.
    watch
        Progress, deadline and cancelling.
    options
        The method's own options.
    """
    started = time.monotonic()
    watch = watch or Watch()
    if not isinstance(data, Microdata):
        raise UsageError(
            f"{guarantee} is about tables with a sensitive column.",
            "Read the table first: setveil.read_microdata(path, quasi=[...], sensitive=...).",
        )
    record = default_method(guarantee) if method_key is None else method(method_key)
    record.check_guarantee(guarantee)
    checked = record.checked_options(options)
    if not len(data):
        raise UsageError("the table has no rows.", "Give some.", code="no-records")
    notices: tuple[str, ...] = data.notices
    known: tuple[NegativeRule, ...] = ()
    own: dict[str, object] = {}
    figures: dict[str, int | float | str] = {}
    if isinstance(guarantee, MatchingDiversity):
        from .mining.negative_rules import mine_negative_rules

        mined = mine_negative_rules(
            data,
            min_expectation=_option(checked, "min_exp", 0.9),
            min_confidence=_option(checked, "min_conf", 1.0),
            max_antecedent=int(_option(checked, "max_antecedent", 1)),
            fuzzy=bool(checked.get("fuzzy", False)),
            watch=watch,
        )
        known = tuple(dict.fromkeys((*mined.rules, *binding_rules(data, rules))))
        own["rules"] = known
        figures = {"rules mined": len(mined.rules), "rules given": len(rules)}
    elif rules:
        raise UsageError(
            f"{guarantee} reckons with no rules.",
            "Leave them out, or ask for matching diversity (--method injector).",
            code="option-does-not-fit",
        )
    outcome = record.load()(data, guarantee, watch=watch, random=random, **own)
    return BucketRelease(
        data=data,
        bucketing=outcome.bucketing,
        guarantee=guarantee,
        method=record.key,
        rules=known,
        seconds=round(time.monotonic() - started, 6),
        options=checked,
        figures={**figures, **outcome.figures},
        notices=notices,
        seeded=outcome.seeded,
        seal=seal_of_table(data),
    )


def _option(options: dict[str, int | float | str | bool], name: str, default: float) -> float:
    value = options.get(name, default)
    assert isinstance(value, int | float)
    return value


def seal_of_table(data: Microdata) -> Seal:
    """Return a keyed hash of the tuples under a fresh random key."""
    key = secrets.token_bytes(32)
    digest = hmac.new(key, digestmod=hashlib.sha256)
    names = [*(attribute.name for attribute in data.quasi), data.sensitive]
    texts = [
        list(attribute.hierarchy.labels[: attribute.hierarchy.n_leaves]) for attribute in data.quasi
    ]
    digest.update(json.dumps([names, *texts, list(data.values)], ensure_ascii=False).encode())
    digest.update(data.leaves.astype("<i4").tobytes())
    digest.update(data.value_by_tuple.astype("<i4").tobytes())
    return Seal(key.hex(), digest.hexdigest())
