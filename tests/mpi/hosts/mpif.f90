! Fortran's calls leave MPICH's Fortran layer for MPI_X and PMPI_X, where Sluice stands.
program mpif
  implicit none
  include 'mpif.h'
  integer :: rank, size, previous, next, sent, received, total, error
  integer :: requests(2), statuses(MPI_STATUS_SIZE, 2)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  previous = mod(rank + size - 1, size)
  next = mod(rank + 1, size)
  sent = rank + 10
  call MPI_Irecv(received, 1, MPI_INTEGER, previous, 3, MPI_COMM_WORLD, requests(1), error)
  call MPI_Isend(sent, 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitall(2, requests, statuses, error)
  call MPI_Allreduce(sent, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (received /= previous + 10 .or. statuses(MPI_SOURCE, 1) /= previous .or. total /= 10 * size + size * (size - 1) / 2) then
    print *, 'WRONG rank', rank, received, statuses(MPI_SOURCE, 1), total
    stop 1
  end if
  if (rank == 0) print '(i0, a)', size, ' ranks, 0 wrong'
  call MPI_Finalize(error)
end program
