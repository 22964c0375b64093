"""Processes that come of one, and where they listen."""

import re
from pathlib import Path


def children_of(pid: int) -> dict[int, str]:
    """Return the processes that come of one, itself included, with the words they were begun by."""
    parents, found = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
            found[int(path.parent.name)] = path.with_name("cmdline").read_text()
        except OSError:  # it has ended
            continue
        parents[int(path.parent.name)] = int(words[1])
    own = {pid}
    while more := {child for child, parent in parents.items() if parent in own} - own:
        own |= more
    return {one: found[one] for one in sorted(own & found.keys())}


def listening(pid: int) -> set[str]:
    """Return the IPv4 addresses on which a process listens; of IPv6 the last four bytes."""
    sockets = set()
    for name in Path(f"/proc/{pid}/fd").iterdir():
        try:
            sockets |= set(re.findall(r"socket:\[(\d+)\]", str(name.readlink())))
        except OSError:
            continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in sockets:
                number = words[1].partition(":")[0][-8:]
                found.add(".".join(str(byte) for byte in reversed(bytes.fromhex(number))))
    return found
