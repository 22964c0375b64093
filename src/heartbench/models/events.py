"""Server-sent events: bytes as they come from the network -> the data of each event.

Follows the HTML standard's event-stream format as far as chat endpoints use it: ``data`` lines
joined by line feeds, comments and other fields skipped. Knows nothing of JSON or of chat.
"""

from heartbench.models.failures import FaultError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventReader:
    """Reads a stream in pieces cut anywhere, inside a character or a line end too."""

    __slots__ = ("_buffer", "_data", "_is_first")

    def __init__(self) -> None:
        self._buffer = b""
        self._data: list[bytes] = []
        self._is_first = True

    def feed(self, piece: bytes) -> list[str]:
        """Return the data of the events that this piece completes.

        Raises:
            FaultError: An event is not UTF-8.
        """
        # A line feed after this may still belong to a carriage return at the end of the piece.
        cut = max(piece.rfind(b"\n"), piece.rfind(b"\r", 0, -1)) + 1
        if not cut and not self._buffer.endswith(b"\r"):
            self._buffer += piece
            return []
        ready, self._buffer = self._buffer + piece[:cut], piece[cut:]
        return self._read(ready)

    def finish(self) -> list[str]:
        """Return the event that the end of the stream completes; half a line is dropped."""
        is_line = self._buffer.endswith(b"\r")
        events = self._read(self._buffer) if is_line else []
        return events + self._read(b"\n")

    def _read(self, ready: bytes) -> list[str]:
        if self._is_first:
            self._is_first = False
            ready = ready.removeprefix(BYTE_ORDER_MARK)
        events: list[str] = []
        for line in ready.splitlines():
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                data, self._data = b"\n".join(self._data), []
                events += [_decode(data)] if data else []
        return events


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise FaultError("not-json", "it is not UTF-8") from None
