"""Connections to public addresses only, for servers whose address somebody else may have typed.

A name is resolved once, each of its addresses is checked, and the connection goes to the address that was checked. So
neither a redirect nor a name whose addresses change leads into our own network.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence

import httpx

from caldav_mcp.errors import ConnectionLost, PrivateNetwork

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_INTERNAL = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "fec0::/10", "64:ff9b:1::/48")))
"""Networks that Python counts as public and that are not: services of clouds, and private ones of old and new."""
_PORTS = {"https": 443, "http": 80}

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host. Raises `OSError`."""


async def resolve(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(sockaddr[0]) for *_, sockaddr in found]


class PublicOnly(httpx.AsyncBaseTransport):
    """Sends requests by `inner` to hosts on the internet, and refuses all others with `PrivateNetwork`."""

    def __init__(self, inner: httpx.AsyncBaseTransport, resolve_host: Resolve = resolve) -> None:
        self._inner = inner
        self._resolve = resolve_host

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        port = url.port or _PORTS.get(url.scheme, 443)
        try:
            addresses = await self._resolve(url.host, port)
        except OSError as error:
            raise ConnectionLost(f"{url.scheme}://{url.host}", f"getaddrinfo {error}") from error
        if not addresses or not all(map(is_public, addresses)):
            raise PrivateNetwork
        # The certificate is that of the name, which the request's own Host header holds already.
        sent = httpx.Request(
            request.method,
            url.copy_with(host=addresses[0].partition("%")[0]),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": url.host},
        )
        return await self._inner.handle_async_request(sent)

    async def aclose(self) -> None:
        await self._inner.aclose()


def is_public(text: str) -> bool:
    """Check whether an address is one of the internet: not of this machine, its network, or a cloud's metadata."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    carried = _find_carried(address)
    return all(_is_global(each) for each in (address, carried) if each is not None)


def _find_carried(address: _Address) -> _Address | None:
    """Return the IPv4 address to which a gateway between the protocols would send on."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.sixtofour or (None if address.teredo is None else address.teredo[1])


def _is_global(address: _Address) -> bool:
    return address.is_global and not address.is_multicast and not any(address in network for network in _INTERNAL)
