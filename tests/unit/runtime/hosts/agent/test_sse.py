"""Reading server-sent events, cut anywhere."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runtime.hosts.agent.sse import EventReader, ServerEvent


def read(*pieces: bytes) -> list[ServerEvent]:
    reader = EventReader()
    events = [event for piece in pieces for event in reader.feed(piece)]
    return [*events, *reader.feed(b"", final=True)]


def test_P07_an_event_is_complete_with_its_blank_line_whatever_the_line_end() -> None:
    for end in (b"\n", b"\r\n", b"\r"):
        reader = EventReader()
        assert reader.feed(b"data: 1" + end) == []
        assert reader.feed(end) == [ServerEvent("", "1")]
        assert reader.feed(b"data: 2" + end + end) == [ServerEvent("", "2")]


def test_P07_carriage_return_and_line_feed_may_come_in_two_writes() -> None:
    assert read(b"data: 1\r", b"\n\r", b"\ndata: 2\r", b"\n\r", b"\n") == [ServerEvent("", "1"), ServerEvent("", "2")]


def test_P07_an_unterminated_last_event_counts() -> None:
    assert read(b"data: 1\n\ndata: 2") == [ServerEvent("", "1"), ServerEvent("", "2")]
    assert read(b"data: 1\n\ndata: 2\n") == [ServerEvent("", "1"), ServerEvent("", "2")]


def test_P08_comments_and_fields_without_data_are_no_events() -> None:
    assert read(b":\n: ping\n\nid: 1\n\nretry: 5\n\nevent: x\n\n:keepalive\ndata: 1\n: y\n\n") == [ServerEvent("", "1")]


def test_P10_several_data_lines_no_space_and_a_byte_order_mark() -> None:
    assert read(b"\xef\xbb\xbfdata:{\ndata: }\nid: 4\nevent: e\n\n") == [ServerEvent("e", "{\n}")]


def test_P13_invalid_bytes_become_replacement_characters() -> None:
    assert read(b"data: \xe4\xbf A\n\n") == [ServerEvent("", "\ufffd A")]


def test_an_event_can_be_written_again() -> None:
    assert read(ServerEvent("", "a\nb").encode()) == [ServerEvent("", "a\nb")]


@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1), max_size=5),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.data(),
)
def test_P12_where_the_bytes_are_cut_makes_no_difference(texts: list[str], end: bytes, data: st.DataObject) -> None:
    stream = b"".join(b"data: " + text.encode() + end + end for text in texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert [event.data for event in read(*pieces)] == texts
