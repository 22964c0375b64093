"""A proxy before several servers: each request goes to the next one that lives, as one would do."""

import http.client
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from urllib.parse import urlsplit

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "date", "server"}


@contextmanager
def proxied(addresses: Sequence[str]) -> Iterator[str]:
    """Serve an address behind which the servers of others stand.

    A server that takes no connection is passed over. One that dies while it answers is a 502, and
    nothing is sent twice, for a proxy cannot know what was done with it.
    """
    turn, hosts = count(), [urlsplit(one).netloc for one in addresses]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            first = next(turn)
            for host in (hosts[(first + one) % len(hosts)] for one in range(len(hosts))):
                there = http.client.HTTPConnection(host, timeout=300)
                try:
                    there.connect()
                except OSError:
                    continue
                try:
                    there.request(self.command, self.path, body, dict(self.headers))
                    found = there.getresponse()
                    self.answer(found.status, found.getheaders(), found.read())
                except (OSError, http.client.HTTPException):
                    self.answer(502, [], b"gone")
                finally:
                    there.close()
                return
            self.answer(502, [], b"nobody there")

        do_GET = do_POST = pass_on  # noqa: N815 - so the standard library calls them

        def answer(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> None:
            self.send_response(status)
            kept = [(name, value) for name, value in headers if name.lower() not in HOP_BY_HOP]
            for name, value in kept:
                self.send_header(name, value)
            if not any(name.lower() == "content-length" for name, _ in kept):
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
