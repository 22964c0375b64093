"""The seam to where work runs: this process, more of them on this machine, or those of Ray."""

import ipaddress


def is_here(address: str) -> bool:
    """Return whether only this machine is reached by ``HOST:PORT``."""
    host = address.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
