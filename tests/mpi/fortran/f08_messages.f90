! Blocking messages and datatypes through `use mpi_f08`.
program f08_messages
  use frame_f08
  implicit none
  call begin()
  call blocking_ring()
  call late_large_receive()
  call every_send_mode()
  call subarray_section()
  call vector_type()
  call buffered()
  call sendrecv_replace()
  call truncated()
  call proc_null()
  call duplicated_communicator()
  call end_of_program()
contains
  subroutine blocking_ring()
    integer :: out, in
    type(MPI_Status) :: status
    out = rank * 7
    if (rank == 0) then
      call MPI_Send(out, 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD)
      call MPI_Recv(in, 1, MPI_INTEGER, previous, 1, MPI_COMM_WORLD, status)
    else
      call MPI_Recv(in, 1, MPI_INTEGER, previous, 1, MPI_COMM_WORLD, status)
      call MPI_Send(out, 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD)
    end if
    call expect(in == previous * 7 .and. status%MPI_SOURCE == previous .and. status%MPI_TAG == 1, 'ring')
    call finish('f08_blocking_ring', in)
  end subroutine

  subroutine late_large_receive()
    integer, allocatable :: buffer(:)
    integer :: i, count, round
    type(MPI_Status) :: status
    allocate (buffer(large))
    do round = 1, 4
      if (rank == 0) then
        buffer = [(i * round, i=1, large)]
        call be_late()
        call MPI_Send(buffer, large - round, MPI_INTEGER, 1, round, MPI_COMM_WORLD)
      else if (rank == 1) then
        buffer = -1
        call MPI_Recv(buffer, large, MPI_INTEGER, 0, round, MPI_COMM_WORLD, status)
        call expect(all(buffer(1:large - round) == [(i * round, i=1, large - round)]), 'late message differs')
        call expect(all(buffer(large - round + 1:) == -1), 'bytes beyond the message changed')
        call MPI_Get_count(status, MPI_INTEGER, count)
        call expect(count == large - round, 'count of a late message')
      end if
    end do
    call finish('f08_late_large_receive', 0)
  end subroutine

  subroutine every_send_mode()
    integer, asynchronous :: values(4), in(4)
    integer :: i
    type(MPI_Request) :: requests(4)
    if (rank == 1) then
      do i = 1, 4
        call MPI_Irecv(in(i), 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD, requests(i))
      end do
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) then
      values = [10, 20, 30, 40]
      call MPI_Ssend(values(1), 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD)
      call MPI_Rsend(values(2), 1, MPI_INTEGER, 1, 2, MPI_COMM_WORLD)
      call MPI_Issend(values(3), 1, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, requests(1))
      call MPI_Irsend(values(4), 1, MPI_INTEGER, 1, 4, MPI_COMM_WORLD, requests(2))
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    else if (rank == 1) then
      call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
      call expect(all(in == [10, 20, 30, 40]), 'send modes')
    end if
    call finish('f08_every_send_mode', 0)
  end subroutine

  subroutine subarray_section()
    real(8) :: grid(200, 100)
    type(MPI_Datatype) :: part
    integer :: i, j
    grid = reshape([((rank * 1d6 + i + 200 * j, i=1, 200), j=1, 100)], [200, 100])
    call MPI_Type_create_subarray(2, [200, 100], [100, 60], [20, 30], MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, part)
    call MPI_Type_commit(part)
    call MPI_Sendrecv_replace(grid, 1, part, next, 6, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(grid(21, 31) == previous * 1d6 + 21 + 200 * 31, 'first of the subarray')
    call expect(grid(120, 90) == previous * 1d6 + 120 + 200 * 90, 'last of the subarray')
    call expect(grid(20, 31) == rank * 1d6 + 20 + 200 * 31, 'neighbour of the subarray')
    call MPI_Type_free(part)
    call finish('f08_subarray_section', int(sum(grid) / 1000))
  end subroutine

  subroutine vector_type()
    integer, allocatable :: matrix(:, :)
    type(MPI_Datatype) :: row
    integer :: i
    allocate (matrix(50, 3000))
    matrix = -1
    if (rank == 0) matrix(7, :) = [(i, i=1, 3000)]
    call MPI_Type_vector(3000, 1, 50, MPI_INTEGER, row)
    call MPI_Type_commit(row)
    if (rank == 0) call be_late()
    if (rank == 0) call MPI_Send(matrix(7, 1), 1, row, 1, 7, MPI_COMM_WORLD)
    if (rank == 1) then
      call MPI_Recv(matrix(9, 1), 1, row, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call expect(all(matrix(9, :) == [(i, i=1, 3000)]), 'row')
      call expect(all(matrix(8, :) == -1) .and. all(matrix(10, :) == -1), 'neighbours of the row')
    end if
    call MPI_Type_free(row)
    call finish('f08_vector_type', 0)
  end subroutine

  subroutine buffered()
    integer, allocatable, asynchronous :: attached(:)
    integer :: in, bytes
    bytes = 10000 + MPI_BSEND_OVERHEAD
    allocate (attached(bytes / 4 + 1))
    call MPI_Buffer_attach(attached, bytes)
    call MPI_Bsend(rank, 1, MPI_INTEGER, next, 8, MPI_COMM_WORLD)
    call MPI_Recv(in, 1, MPI_INTEGER, previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call detach(bytes)
    call expect(in == previous .and. bytes == 10000 + MPI_BSEND_OVERHEAD, 'buffered')
    call finish('f08_buffered', in)
  end subroutine

  subroutine sendrecv_replace()
    integer, allocatable :: buffer(:)
    type(MPI_Status) :: status
    allocate (buffer(large))
    buffer = rank
    call MPI_Sendrecv_replace(buffer, large, MPI_INTEGER, next, 9, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status)
    call expect(all(buffer == previous) .and. status%MPI_SOURCE == previous, 'sendrecv_replace')
    call finish('f08_sendrecv_replace', buffer(large))
  end subroutine

  subroutine truncated()
    integer :: in(10), code, class
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    if (rank == 1) call MPI_Send([(code, code=1, 20)], 20, MPI_INTEGER, 0, 11, MPI_COMM_WORLD)
    if (rank == 0) then
      call MPI_Probe(1, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call MPI_Recv(in, 10, MPI_INTEGER, 1, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
      call MPI_Error_class(code, class)
      call expect(class == MPI_ERR_TRUNCATE, 'not truncated')
    end if
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
    call finish('f08_truncated', 0)
  end subroutine

  subroutine proc_null()
    integer :: in, count
    type(MPI_Status) :: status
    in = 5
    call MPI_Send(in, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD)
    call MPI_Recv(in, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call expect(in == 5 .and. count == 0 .and. status%MPI_SOURCE == MPI_PROC_NULL, 'proc_null')
    call finish('f08_proc_null', count)
  end subroutine

  subroutine duplicated_communicator()
    type(MPI_Comm) :: copy, half
    integer :: in, half_rank, half_size
    call MPI_Comm_dup(MPI_COMM_WORLD, copy)
    call MPI_Comm_split(copy, mod(rank, 2), rank, half)
    call MPI_Comm_rank(half, half_rank)
    call MPI_Comm_size(half, half_size)
    call MPI_Sendrecv(half_rank, 1, MPI_INTEGER, mod(half_rank + 1, half_size), 1, in, 1, MPI_INTEGER, &
                      mod(half_rank + half_size - 1, half_size), 1, half, MPI_STATUS_IGNORE)
    call expect(in == mod(half_rank + half_size - 1, half_size), 'split')
    call MPI_Comm_free(half)
    call MPI_Comm_free(copy)
    call finish('f08_duplicated_communicator', in)
  end subroutine

  subroutine detach(bytes)
    use iso_c_binding, only: c_ptr
    integer, intent(out) :: bytes
    type(c_ptr) :: address
    call MPI_Buffer_detach(address, bytes)
  end subroutine
end program
