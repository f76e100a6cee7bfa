"""One byte sequence for one value (RFC 8785)."""

from __future__ import annotations

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from runtime.base.canonical import canonical_json, digest

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


def test_keys_are_sorted_and_nothing_is_padded() -> None:
    assert canonical_json({"b": [1, 2.5, None], "a": "ä\n"}) == '{"a":"ä\\n","b":[1,2.5,null]}'.encode()


def test_the_digest_is_that_of_the_bytes() -> None:
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@given(JSON)
def test_order_of_insertion_never_matters(value: object) -> None:
    def turned(part: object) -> object:
        if isinstance(part, dict):
            return {key: turned(part[key]) for key in reversed(list(part))}
        return [turned(one) for one in part] if isinstance(part, list) else part

    assert canonical_json(value) == canonical_json(turned(value))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53 + 1, {1: "a key"}, "half a pair: \ud83d"])
def test_what_has_no_one_form_is_refused(value: object) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical_json(value)  # type: ignore[arg-type]
