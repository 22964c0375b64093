"""Server-sent events, cut anywhere."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearteval.models.failures import FaultError
from hearteval.models.http.replies import EventReader

STREAM = (
    "\ufeffdata: one 💙\r\n\r\n: a comment\nevent: note\nid: 7\ndata:two\ndata: lines\n\n"
    "\n\nretry: 3\r\rdata: after\rdata: return\r\rdata:\n\ndata: [DONE]\n\n"
).encode()
EVENTS = ["one 💙", "two\nlines", "after\nreturn", "[DONE]"]


def read(*pieces: bytes) -> list[str]:
    reader = EventReader()
    return [event for piece in pieces for event in reader.feed(piece)] + reader.finish()


def test_reads_all_kinds_of_line_ends_and_skips_what_is_no_data() -> None:
    assert read(STREAM) == EVENTS


@given(st.sets(st.integers(0, len(STREAM)), max_size=40))
def test_pieces_may_be_cut_anywhere(cuts: set[int]) -> None:
    ends = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in pairwise(ends)]
    assert read(*pieces) == EVENTS


def test_single_bytes_read_the_same() -> None:
    assert read(*[bytes([byte]) for byte in STREAM]) == EVENTS


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_end_of_stream_completes_an_event_of_whole_lines(end: bytes) -> None:
    assert read(b"data: last" + end) == ["last"]


def test_half_a_line_at_the_end_is_dropped() -> None:
    assert read(b"data: one\n\ndata: ha") == ["one"]


def test_event_is_there_as_soon_as_it_is_complete() -> None:
    reader = EventReader()
    assert reader.feed(b"data: one\n") == []
    assert reader.feed(b"\n") == ["one"]


def test_broken_characters_are_a_fault() -> None:
    with pytest.raises(FaultError) as caught:
        read(b"data: \xff\n\n")
    assert caught.value.reason == "broken-body"
