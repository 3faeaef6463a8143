"""The proxy that environment variables name for a server, by the rules of Go's clients.

``HTTPS_PROXY`` and ``HTTP_PROXY`` name a proxy by the scheme of the server, ``NO_PROXY`` lists
the servers that need none: addresses, networks, and domains with their subdomains. The machine
itself is always reached without a proxy.
"""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from kubekit.client.connection import Misconfigured

PROXY_SCHEMES: Final = frozenset({"http", "https"})
_PORTS: Final = {"http": 80, "https": 443}


def proxy_for(server: str, variables: Mapping[str, str]) -> str:
    """The proxy for a server, a URL; empty for none."""
    parts = urlsplit(server)
    variable = f"{parts.scheme}_proxy"
    proxy = _either(variables, variable)
    if variable == "http_proxy" and "REQUEST_METHOD" in variables:
        return ""  # the client of a CGI script can set HTTP_PROXY by a header
    if not proxy or _direct(parts.hostname or "", parts.port or _PORTS[parts.scheme], variables):
        return ""
    return _checked(proxy if "://" in proxy else f"http://{proxy}", variable)


def _either(variables: Mapping[str, str], name: str) -> str:
    return variables.get(name.upper()) or variables.get(name, "")


def _checked(proxy: str, variable: str) -> str:
    try:
        parts = urlsplit(proxy)
        usable = parts.scheme in PROXY_SCHEMES and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise Misconfigured(
            f"{variable.upper()}: not the URL of an HTTP proxy; write http://HOST:PORT, or add the "
            "server to NO_PROXY"
        )
    return proxy


def _direct(host: str, port: int, variables: Mapping[str, str]) -> bool:
    address = _address(host)
    if host == "localhost" or (address and address.is_loopback):
        return True
    rules = [rule.strip().lower() for rule in _either(variables, "no_proxy").split(",")]
    return any(_matches_rule(rule, host, address, port) for rule in rules if rule)


def _matches_rule(
    rule: str, host: str, address: IPv4Address | IPv6Address | None, port: int
) -> bool:
    """Whether an entry of ``NO_PROXY`` matches this server."""
    if rule == "*":
        return True
    if "/" in rule:
        return address is not None and _in_network(rule, address)
    name, rule_port = _split(rule)
    if rule_port and rule_port != str(port):
        return False
    if address or _address(name):
        return address is not None and address == _address(name)
    name = name.removeprefix("*")
    return host.endswith(name) if name.startswith(".") else f".{host}".endswith(f".{name}")


def _split(rule: str) -> tuple[str, str]:
    """Host and port. An IPv6 address without brackets has no port."""
    if _address(rule):
        return rule, ""
    name, colon, port = rule.rpartition(":")
    host, rule_port = (name, port) if colon and port.isdecimal() else (rule, "")
    return host.strip("[]"), rule_port


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _in_network(rule: str, address: IPv4Address | IPv6Address) -> bool:
    try:
        return address in ip_network(rule, strict=False)
    except ValueError:
        return False
