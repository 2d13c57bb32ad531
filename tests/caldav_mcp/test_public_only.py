"""An address that another person typed must not lead into our own network."""

from __future__ import annotations

from collections.abc import Sequence

import httpx
import pytest

from caldav_mcp.dav import Dav
from caldav_mcp.errors import ConnectionLost, PrivateNetwork, ServiceError
from caldav_mcp.public_only import PublicOnly, is_public

INSIDE = (
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
    "192.0.0.192", "::1", "::", "fe80::1%eth0", "fd00:ec2::254", "fec0::1", "::ffff:127.0.0.1", "::ffff:a9fe:a9fe",
    "64:ff9b::a00:1", "2002:7f00:1::", "ff02::1", "no address",
)  # fmt: skip
OUTSIDE = ("8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808")


class Internet(httpx.AsyncBaseTransport):
    """Servers by address, and names that resolve to one address after the other. What was asked is kept."""

    def __init__(self, names: dict[str, list[str]], answers: dict[str, httpx.Response]) -> None:
        self.names = names
        self.answers = answers
        self.asked: list[tuple[str, str, str]] = []

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        found = self.names.get(host, [host])
        return [found.pop(0) if len(found) > 1 else found[0]]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append((request.url.host, request.headers["host"], request.extensions["sni_hostname"]))
        return self.answers[request.url.host]

    def open(self) -> Dav:
        return Dav(username="me", password="secret", time_limit=5, transport=PublicOnly(self, self.resolve))


@pytest.mark.parametrize("address", INSIDE)
def test_addresses_of_a_network_of_ones_own(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", OUTSIDE)
def test_addresses_of_the_internet(address: str) -> None:
    assert is_public(address)


async def test_a_server_on_the_internet_is_asked_at_the_address_that_was_checked() -> None:
    internet = Internet({"dav.example.org": ["8.8.8.8"]}, {"8.8.8.8": httpx.Response(207, text="fine")})
    async with internet.open() as dav:
        answer = await dav.request("PROPFIND", "https://dav.example.org/me/")
    assert (answer.text, str(answer.url)) == ("fine", "https://dav.example.org/me/")
    assert internet.asked == [("8.8.8.8", "dav.example.org", "dav.example.org")]


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8765/", "https://intern.example.org/", "http://[::1]/", "http://2130706433/"]
)
async def test_our_own_network_is_refused(address: str) -> None:
    """S323"""
    internet = Internet({"intern.example.org": ["10.0.0.7"], "2130706433": ["127.0.0.1"]}, {})
    async with internet.open() as dav:
        with pytest.raises(PrivateNetwork):
            await dav.request("PROPFIND", address)
    assert internet.asked == []


async def test_a_redirect_into_our_own_network_is_refused() -> None:
    away = httpx.Response(301, headers={"Location": "https://intern.example.org/"})
    internet = Internet({"dav.example.org": ["8.8.8.8"], "intern.example.org": ["10.0.0.7"]}, {"8.8.8.8": away})
    async with internet.open() as dav:
        with pytest.raises(PrivateNetwork):
            await dav.request("PROPFIND", "https://dav.example.org/me/")
    assert len(internet.asked) == 1


async def test_a_name_that_changes_its_address_meanwhile_is_refused() -> None:
    """DNS rebinding: each request is checked, and sent to the address that was checked."""
    internet = Internet({"dav.example.org": ["8.8.8.8", "127.0.0.1"]}, {"8.8.8.8": httpx.Response(207)})
    async with internet.open() as dav:
        await dav.request("PROPFIND", "https://dav.example.org/")
        with pytest.raises(PrivateNetwork):
            await dav.request("PROPFIND", "https://dav.example.org/")
    assert [address for address, *_ in internet.asked] == ["8.8.8.8"]


async def test_one_private_address_among_several_is_enough() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["8.8.8.8", "10.0.0.7"]

    async with Dav(time_limit=5, transport=PublicOnly(httpx.MockTransport(_fail), resolve)) as dav:
        with pytest.raises(PrivateNetwork):
            await dav.request("PROPFIND", "https://dav.example.org/")


async def test_a_name_that_does_not_exist() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise OSError("Name or service not known")

    async with Dav(time_limit=5, transport=PublicOnly(httpx.MockTransport(_fail), resolve)) as dav:
        with pytest.raises(ConnectionLost, match="not known"):
            await dav.request("PROPFIND", "https://dav.example.org/")
    assert issubclass(ConnectionLost, ServiceError)


def _fail(request: httpx.Request) -> httpx.Response:
    raise AssertionError(f"{request.url} was asked")
