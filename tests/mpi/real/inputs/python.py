"""A hundred mixed operations of mpi4py, Debian's, on a library that it opens itself; rank 0 prints a digest of everything received."""

import array
import hashlib

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
other = comm.Dup()
following, previous = (rank + 1) % size, (rank - 1) % size
digest = hashlib.sha256()


def note(value):
    digest.update(value.tobytes() if isinstance(value, array.array) else repr(value).encode())


def numbers(count, of_rank, step):
    return array.array("d", (i * (of_rank + 1) + step for i in range(count)))


for step in range(20):
    count = 10 ** (step % 6) + step
    mine = numbers(count, rank, step)

    theirs = array.array("d", bytes(8 * count))
    comm.Sendrecv(mine, following, step, theirs, previous, step)
    assert theirs == numbers(count, previous, step)
    note(theirs)

    note(comm.sendrecv({"from": rank, "list": list(range(step))}, following, 7, source=previous, recvtag=7))

    status = MPI.Status()
    request = other.Isend(mine, following, 3)
    other.Probe(MPI.ANY_SOURCE, 3, status)
    theirs = array.array("d", bytes(8 * status.Get_count(MPI.DOUBLE)))
    other.Recv(theirs, status.source, 3)
    request.Wait()
    note(theirs)

    requests = [comm.isend((rank, step), following, 11), comm.irecv(source=previous, tag=11)]
    note(MPI.Request.waitall(requests)[1])

    total = comm.allreduce(rank + step)
    note(comm.bcast(total if rank == 0 else None, 0))

digests = comm.gather(digest.hexdigest(), 0)
if rank == 0:
    print(digests)
