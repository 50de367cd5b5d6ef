"""More than a hundred mixed operations of mpi4py: pickled objects and buffers, blocking and not, probes, types, communicators.

Prints `CASE <operation> <rank>: <digest>` as the C programs do. libmpi comes in by dlopen with local scope here.
"""

import hashlib
import sys
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
following, previous = (rank + 1) % size, (rank - 1) % size
SIZES = (0, 1, 100, 4096, 20000, 300000, 2000000)
results = []


def note(name, value):
    digest = hashlib.sha256(bytes(value) if isinstance(value, (bytearray, memoryview)) else repr(value).encode())
    results.append((name, digest.hexdigest()[:16]))


def expect(condition, name):
    if not condition:
        print(f"FAIL {name} rank {rank}", file=sys.stderr, flush=True)
        world.Abort(1)


def pattern(count, seed):
    return bytearray((bytes((seed * 37 + i * 11) % 256 for i in range(251)) * (count // 251 + 1))[:count])


def late():
    time.sleep(0.003)


def buffer_ring(name, exchange):
    """One operation for each size: everybody sends to the next."""
    for count in SIZES:
        into = bytearray(count)
        exchange(pattern(count, rank), into)
        expect(into == pattern(count, previous), f"{name} {count}")
        note(f"{name}_{count}", into)


def by_sendrecv(out, into):
    world.Sendrecv(out, following, 1, into, previous, 1)


def by_isend(out, into):
    request = world.Isend([out, MPI.BYTE], following, 2)
    world.Recv([into, MPI.BYTE], previous, 2)
    request.Wait()


def by_irecv(out, into):
    request = world.Irecv([into, MPI.BYTE], previous, 3)
    world.Send([out, MPI.BYTE], following, 3)
    request.Wait()


def by_issend_waitall(out, into):
    MPI.Request.Waitall([world.Irecv(into, previous, 4), world.Issend(out, following, 4)])


def by_testall(out, into):
    requests = [world.Irecv(into, previous, 5), world.Isend(out, following, 5)]
    while not MPI.Request.Testall(requests):
        pass


def by_waitany(out, into):
    requests = [world.Irecv(into, MPI.ANY_SOURCE, 6), world.Isend(out, following, 6)]
    expect({MPI.Request.Waitany(requests), MPI.Request.Waitany(requests)} == {0, 1}, "waitany")


def by_persistent(out, into):
    requests = [world.Recv_init(into, previous, 7), world.Send_init(out, following, 7)]
    for _ in range(3):
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
    for request in requests:
        request.Free()


def by_probe(out, into):
    request = world.Isend(out, following, 8)
    status = MPI.Status()
    world.Probe(MPI.ANY_SOURCE, 8, status)
    expect(status.Get_count(MPI.BYTE) == len(into), "probe")
    world.Recv(into, status.Get_source(), status.Get_tag())
    request.Wait()


def by_matched_probe(out, into):
    request = world.Isend(out, following, 9)
    status = MPI.Status()
    message = world.Mprobe(previous, MPI.ANY_TAG, status)
    message.Recv(into, status)
    expect(status.Get_count(MPI.BYTE) == len(into), "matched probe")
    request.Wait()


def by_bsend(out, into):
    MPI.Attach_buffer(bytearray(len(out) + MPI.BSEND_OVERHEAD + 100))
    world.Bsend(out, following, 10)
    world.Recv(into, previous, 10)
    MPI.Detach_buffer()


def by_late_send(out, into):
    if rank % 2 == 0:
        late()
    request = world.Isend(out, following, 11)
    world.Recv(into, previous, 11)
    into[len(into) // 2:] = bytes(into)[len(into) // 2:]  # read and write at once
    request.Wait()


def by_replace(out, into):
    into[:] = out
    world.Sendrecv_replace(into, following, 12, previous, 12)


def by_vector_type(out, into):
    spread = bytearray(2 * len(into) + 2)
    kind = MPI.BYTE.Create_vector(len(into), 1, 2).Commit()
    request = world.Isend(out, following, 13)
    world.Recv([spread, 1 if into else 0, kind], previous, 13)
    request.Wait()
    into[:] = spread[0:2 * len(into):2]
    kind.Free()


OBJECTS = [None, 17, -2.5, "text" * 50, (1, 2, (3, 4)), list(range(1000)), {"a": [1, {"b": 2}], 3: "c"}, b"bytes" * 30000,
           "x" * 1000000, [float(i) for i in range(20000)]]


def objects():
    for i, thing in enumerate(OBJECTS):
        got = world.sendrecv((rank, thing), following, i, None, previous, i)
        expect(got == (previous, thing), f"object {i}")
        note(f"object_sendrecv_{i}", got)
    for i, thing in enumerate(OBJECTS):
        request = world.isend((rank, thing), following, i)
        got = world.recv(None, previous, i)
        request.wait()
        expect(got == (previous, thing), f"object isend {i}")
        note(f"object_isend_{i}", got)
    requests = [world.irecv(1 << 20, previous, 50), world.isend("small", following, 50)]
    note("object_waitall", MPI.Request.waitall(requests))
    request = world.isend([1, 2], following, 51)
    note("object_mprobe", world.mprobe(previous, 51).recv())
    request.wait()


def communicators():
    for name, make in (("dup", world.Dup), ("split", lambda: world.Split(rank % 2, -rank)),
                       ("cartesian", lambda: world.Create_cart([size], [True])),
                       ("group", lambda: world.Create(world.Get_group())),
                       ("shared", lambda: world.Split_type(MPI.COMM_TYPE_SHARED))):
        comm = make()
        me, members = comm.Get_rank(), comm.Get_size()
        got = comm.sendrecv(me, (me + 1) % members, 0, None, (me - 1) % members, 0)
        expect(got == (me - 1) % members, name)
        note(f"communicator_{name}", got)
        comm.Free()
    note("comm_self", MPI.COMM_SELF.sendrecv("me", 0, 0, None, 0, 0))


def statuses_and_errors():
    status = MPI.Status()
    world.Sendrecv(pattern(10, rank), following, 3, bytearray(1000), previous, 3, status)
    note("status", (status.Get_source(), status.Get_tag(), status.Get_count(MPI.BYTE), status.Get_elements(MPI.INT)))
    world.Recv(bytearray(5), MPI.PROC_NULL, 0, status)
    note("proc_null", (status.Get_source(), status.Get_count(MPI.BYTE)))
    request = world.Irecv(bytearray(5), rank, 77)
    request.Cancel()
    request.Wait(status)
    note("cancelled", status.Is_cancelled())
    for name, call in (("rank", lambda: world.Send(b"x", size, 0)), ("tag", lambda: world.Send(b"x", 0, -5))):
        try:
            call()
            note(f"error_{name}", "none")
        except MPI.Exception as error:
            note(f"error_{name}", error.Get_error_class())
    request = world.Isend(bytearray(50), following, 78)
    world.Probe(previous, 78)
    try:
        world.Recv(bytearray(20), previous, 78)
        note("truncated", "no")
    except MPI.Exception as error:
        note("truncated", error.Get_error_class() == MPI.ERR_TRUNCATE)
    request.Wait()
    note("iprobe_nothing", world.Iprobe(MPI.ANY_SOURCE, 999))


def collectives_between():
    """Collectives of the host right after large receives."""
    into = bytearray(600000)
    by_late_send(pattern(600000, rank), into)
    world.Bcast(into, 0)
    note("bcast", into)
    note("allreduce", world.allreduce(rank))
    note("gather", world.gather(rank * 2, 0))
    request = world.Ibarrier()
    value = world.sendrecv(rank, following, 1, None, previous, 1)
    request.Wait()
    note("ibarrier", value)
    buffer = bytearray([7] * 100 if rank == 0 else 100)
    requests = [world.Ibcast(buffer, 0), world.Irecv(into, previous, 2), world.Isend(pattern(600000, rank), following, 2)]
    MPI.Request.Waitall(requests)
    expect(into == pattern(600000, previous) and buffer == bytearray([7] * 100), "mixed waitall")
    note("mixed_waitall", into)


def main():
    for exchange in (by_sendrecv, by_isend, by_irecv, by_issend_waitall, by_testall, by_waitany, by_persistent, by_probe,
                     by_matched_probe, by_bsend, by_late_send, by_replace, by_vector_type):
        buffer_ring(exchange.__name__, exchange)
    objects()
    communicators()
    statuses_and_errors()
    collectives_between()
    every_rank = world.gather(results, 0)
    if rank == 0:
        for i, (name, _) in enumerate(results):
            for other in range(size):
                print(f"CASE {name} {other}: {every_rank[other][i][1]}")


main()
