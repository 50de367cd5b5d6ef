! Point-to-point through `include 'mpif.h'`: implicit interfaces, as old programs have them.
program mpif_h
  implicit none
  include 'mpif.h'
  integer code
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  mistakes = 0
  call MPI_INIT(code)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, code)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  call common_block_ring()
  call late_common_block()
  call odd_and_even()
  call nonblocking()
  call waitany()
  call persistent()
  call probed_character()
  call indexed_type()
  call mpi_bottom_type()
  call buffered_mode()
  call sequence_of_messages()
  call split_communicator()
  call MPI_ALLREDUCE(MPI_IN_PLACE, mistakes, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  call MPI_FINALIZE(code)
  if (mistakes .gt. 0) stop 1
end program

subroutine expect(condition, text)
  implicit none
  logical condition
  character(*) text
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  if (condition) return
  mistakes = mistakes + 1
  print *, 'FAIL rank ', rank, ' ', text
end subroutine

subroutine finish(name, note)
  implicit none
  include 'mpif.h'
  character(*) name
  integer note, notes(64), i, code
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  call MPI_BARRIER(MPI_COMM_WORLD, code)  ! no message of the next case comes into this one
  call MPI_GATHER(note, 1, MPI_INTEGER, notes, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
  if (rank .ne. 0) return
  do i = 1, ranks
    print '(3a,i0,a,i0)', 'CASE mpif_h_', name, ' ', i - 1, ': ', notes(i)
  end do
end subroutine

subroutine be_late()
  implicit none
  include 'mpif.h'
  double precision start
  start = MPI_WTIME()
  do while (MPI_WTIME() - start .lt. 0.003d0)
  end do
end subroutine

subroutine common_block_ring()
  implicit none
  include 'mpif.h'
  integer out(5000), in(5000), status(MPI_STATUS_SIZE), code, request
  common /rings/ out, in
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  out = rank
  call MPI_ISEND(out, 5000, MPI_INTEGER, next, 1, MPI_COMM_WORLD, request, code)
  call MPI_RECV(in, 5000, MPI_INTEGER, previous, 1, MPI_COMM_WORLD, status, code)
  call MPI_WAIT(request, MPI_STATUS_IGNORE, code)
  call expect(all(in .eq. previous) .and. status(MPI_SOURCE) .eq. previous, 'ring')
  call finish('common_block_ring', sum(in))
end subroutine

subroutine late_common_block()
  implicit none
  include 'mpif.h'
  integer n
  parameter(n=200000)
  double precision field(n), guard
  common /fields/ field, guard
  integer status(MPI_STATUS_SIZE), code, i, count
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  do i = 1, 4
    guard = i
    if (rank .eq. 0) then
      field = i * 3
      call be_late()
      call MPI_SEND(field, n, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, code)
    else if (rank .eq. 1) then
      call MPI_RECV(field, n, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, status, code)
      guard = guard + 1
      call expect(all(field .eq. i * 3) .and. guard .eq. i + 1, 'late field')
      call MPI_GET_COUNT(status, MPI_DOUBLE_PRECISION, count, code)
      call expect(count .eq. n, 'count of the field')
    end if
  end do
  call finish('late_common_block', 0)
end subroutine

subroutine odd_and_even()
  implicit none
  include 'mpif.h'
  integer value, code
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  value = -1
  if (mod(rank, 2) .eq. 0 .and. rank + 1 .lt. ranks) then
    call MPI_SSEND(rank, 1, MPI_INTEGER, rank + 1, 3, MPI_COMM_WORLD, code)
    call MPI_RECV(value, 1, MPI_INTEGER, rank + 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call expect(value .eq. rank + 1, 'answer of the odd rank')
  else if (mod(rank, 2) .eq. 1) then
    call MPI_RECV(value, 1, MPI_INTEGER, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call MPI_SEND(rank, 1, MPI_INTEGER, rank - 1, 4, MPI_COMM_WORLD, code)
    call expect(value .eq. rank - 1, 'message of the even rank')
  end if
  call finish('odd_and_even', value)
end subroutine

subroutine nonblocking()
  implicit none
  include 'mpif.h'
  integer out(40000), in(40000), requests(2), statuses(MPI_STATUS_SIZE, 2), code
  common /blocks/ out, in
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  out = rank + 5
  call MPI_IRECV(in, 40000, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, requests(1), code)
  call MPI_ISSEND(out, 40000, MPI_INTEGER, next, 5, MPI_COMM_WORLD, requests(2), code)
  call MPI_WAITALL(2, requests, statuses, code)
  call expect(all(in .eq. previous + 5) .and. statuses(MPI_SOURCE, 1) .eq. previous, 'nonblocking')
  call finish('nonblocking', in(40000))
end subroutine

subroutine waitany()
  implicit none
  include 'mpif.h'
  integer in(4), requests(4), status(MPI_STATUS_SIZE), code, i, index, total
  common /waits/ in
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  total = 0
  do i = 1, 4
    call MPI_IRECV(in(i), 1, MPI_INTEGER, previous, i, MPI_COMM_WORLD, requests(i), code)
  end do
  do i = 4, 1, -1
    call MPI_SEND(i * i, 1, MPI_INTEGER, next, i, MPI_COMM_WORLD, code)
  end do
  do i = 1, 4
    call MPI_WAITANY(4, requests, index, status, code)
    call expect(index .eq. status(MPI_TAG), 'index')
    total = total + in(index)
  end do
  call expect(total .eq. 30, 'total')
  call finish('waitany', total)
end subroutine

subroutine persistent()
  implicit none
  include 'mpif.h'
  integer out(100), in(100), requests(2), code, i
  common /persists/ out, in
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  call MPI_SEND_INIT(out, 100, MPI_INTEGER, next, 6, MPI_COMM_WORLD, requests(1), code)
  call MPI_RECV_INIT(in, 100, MPI_INTEGER, previous, 6, MPI_COMM_WORLD, requests(2), code)
  do i = 1, 5
    out = i * 10 + rank
    call MPI_STARTALL(2, requests, code)
    call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, code)
    call expect(all(in .eq. i * 10 + previous), 'persistent')
  end do
  call MPI_REQUEST_FREE(requests(1), code)
  call MPI_REQUEST_FREE(requests(2), code)
  call finish('persistent', in(1))
end subroutine

subroutine probed_character()
  implicit none
  include 'mpif.h'
  character(len=5000) text
  integer status(MPI_STATUS_SIZE), code, count
  logical there
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  text = repeat('xyz', 1000)
  if (rank .eq. 1) call MPI_SEND(text, 3000, MPI_CHARACTER, 0, 7, MPI_COMM_WORLD, code)
  if (rank .eq. 0) then
    there = .false.
    do while (.not. there)
      call MPI_IPROBE(1, 7, MPI_COMM_WORLD, there, status, code)
    end do
    call MPI_GET_COUNT(status, MPI_CHARACTER, count, code)
    text = ' '
    call MPI_RECV(text, 5000, MPI_CHARACTER, 1, 7, MPI_COMM_WORLD, status, code)
    call expect(count .eq. 3000 .and. text .eq. repeat('xyz', 1000), 'text')
  end if
  call finish('probed_character', 0)
end subroutine

subroutine indexed_type()
  implicit none
  include 'mpif.h'
  integer lengths(3), offsets(3), type, code, i
  double precision values(1000)
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  lengths = (/10, 1, 200/)
  offsets = (/0, 50, 700/)
  values = rank
  call MPI_TYPE_INDEXED(3, lengths, offsets, MPI_DOUBLE_PRECISION, type, code)
  call MPI_TYPE_COMMIT(type, code)
  call MPI_SENDRECV_REPLACE(values, 1, type, next, 8, previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
  call expect(all(values(1:10) .eq. previous) .and. values(51) .eq. previous .and. all(values(701:900) .eq. previous), 'blocks')
  call expect(all(values(11:50) .eq. rank) .and. all(values(901:1000) .eq. rank), 'gaps')
  call MPI_TYPE_FREE(type, code)
  call finish('indexed_type', nint(sum(values)))
end subroutine

subroutine mpi_bottom_type()
  implicit none
  include 'mpif.h'
  integer here(10), there(20), type, code, lengths(2)
  integer(kind=MPI_ADDRESS_KIND) addresses(2)
  common /bottoms/ here, there
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  here = rank
  there = rank * 2
  lengths = (/10, 20/)
  call MPI_GET_ADDRESS(here, addresses(1), code)
  call MPI_GET_ADDRESS(there, addresses(2), code)
  call MPI_TYPE_CREATE_HINDEXED(2, lengths, addresses, MPI_INTEGER, type, code)
  call MPI_TYPE_COMMIT(type, code)
  call MPI_SENDRECV_REPLACE(MPI_BOTTOM, 1, type, next, 9, previous, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
  call MPI_GET_ADDRESS(here, addresses(1), code)
  call expect(all(here .eq. previous) .and. all(there .eq. previous * 2), 'bottom')
  call MPI_TYPE_FREE(type, code)
  call finish('mpi_bottom_type', sum(there))
end subroutine

subroutine buffered_mode()
  implicit none
  include 'mpif.h'
  integer attached(20000), bytes, in(1000), out(1000), code, status(MPI_STATUS_SIZE)
  common /buffers/ attached
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  out = rank
  call MPI_BUFFER_ATTACH(attached, 80000, code)
  call MPI_BSEND(out, 1000, MPI_INTEGER, next, 10, MPI_COMM_WORLD, code)
  out = -1
  call MPI_RECV(in, 1000, MPI_INTEGER, previous, 10, MPI_COMM_WORLD, status, code)
  call MPI_BUFFER_DETACH(attached, bytes, code)
  call expect(all(in .eq. previous) .and. bytes .eq. 80000, 'buffered')
  call finish('buffered_mode', sum(in))
end subroutine

subroutine sequence_of_messages()
  implicit none
  include 'mpif.h'
  integer value, code, i
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  do i = 1, 200
    call MPI_SENDRECV(i, 1, MPI_INTEGER, next, i, value, 1, MPI_INTEGER, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call expect(value .eq. i, 'sequence')
  end do
  call finish('sequence_of_messages', value)
end subroutine

subroutine split_communicator()
  implicit none
  include 'mpif.h'
  integer half, half_rank, half_size, value, code
  integer rank, ranks, next, previous, mistakes
  common /job/ rank, ranks, next, previous, mistakes
  call MPI_COMM_SPLIT(MPI_COMM_WORLD, mod(rank, 2), -rank, half, code)
  call MPI_COMM_RANK(half, half_rank, code)
  call MPI_COMM_SIZE(half, half_size, code)
  call MPI_SENDRECV(rank, 1, MPI_INTEGER, mod(half_rank + 1, half_size), 1, value, 1, MPI_INTEGER, &
                    mod(half_rank + half_size - 1, half_size), 1, half, MPI_STATUS_IGNORE, code)
  call expect(mod(value, 2) .eq. mod(rank, 2), 'split')
  call MPI_COMM_FREE(half, code)
  call finish('split_communicator', value)
end subroutine
