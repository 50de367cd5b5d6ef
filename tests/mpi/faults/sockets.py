"""Sockets of another process: which it has, and breaking one from outside.

A descriptor is taken over by pidfd_getfd(2); what is done to it is done to the other process's socket. connect(2) to no address
disconnects a TCP socket, and sends a reset when it was connected.
"""

import collections
import ctypes
import os
import socket
import struct

SYS_PIDFD_OPEN = 434
SYS_PIDFD_GETFD = 438
AF_UNSPEC_ADDRESS = b"\0" * 16

# struct tcp_info of linux/tcp.h: where the counts of bytes are.
TCP_INFO_BYTES_ACKED = 120
TCP_INFO_BYTES_RECEIVED = 128
TCP_INFO_SIZE = 136

_libc = ctypes.CDLL(None, use_errno=True)

Connection = collections.namedtuple("Connection", "socket bytes")


def tcp_sockets(pid):
    """The TCP sockets of a process, as sockets of this one."""
    handle = _checked(_libc.syscall(SYS_PIDFD_OPEN, pid, 0))
    try:
        for entry in os.listdir(f"/proc/{pid}/fd"):
            try:
                if not os.readlink(f"/proc/{pid}/fd/{entry}").startswith("socket:"):
                    continue
                taken = socket.socket(fileno=_checked(_libc.syscall(SYS_PIDFD_GETFD, handle, int(entry), 0)))
            except OSError:
                continue
            if taken.type == socket.SOCK_STREAM and taken.family in (socket.AF_INET, socket.AF_INET6):
                yield taken
            else:
                taken.close()
    finally:
        os.close(handle)


def busiest_connection(pid):
    """The connection over which most has come and gone."""
    connections = []
    for taken in tcp_sockets(pid):
        info = taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_SIZE)
        acked, received = (struct.unpack_from("Q", info, place)[0] for place in (TCP_INFO_BYTES_ACKED, TCP_INFO_BYTES_RECEIVED))
        connections.append(Connection(taken, acked + received))
    return max(connections, key=lambda connection: connection.bytes).socket


def listening_addresses(pid):
    """(family, address, port) of each socket that listens on one particular address: Open MPI's listen on all of them."""
    found = []
    for taken in tcp_sockets(pid):
        if taken.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            address, port = taken.getsockname()[:2]
            if address not in ("0.0.0.0", "::"):
                found.append((taken.family, address, port))
        taken.close()
    return found


def reset(connection):
    _checked(_libc.connect(connection.fileno(), AF_UNSPEC_ADDRESS, len(AF_UNSPEC_ADDRESS)))


def _checked(result):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
