"""The socket a workspace listens on."""

import socket


def listening_socket(port: int = 0) -> socket.socket:
    """Return a socket listening on 127.0.0.1, for `uvicorn.Server.serve(sockets=[...])`; port 0 takes a free one.

    A client that connects before the server runs waits instead of being refused.

    The protocol is named because asyncio switches Nagle's algorithm off only on sockets that name it, and without
    that each answer of two writes costs 40 ms.
    """
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    bound.listen(128)
    return bound
