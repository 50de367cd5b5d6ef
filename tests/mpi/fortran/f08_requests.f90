! Requests, probes and cancelling through `use mpi_f08`.
program f08_requests
  use frame_f08
  implicit none
  call begin()
  call nonblocking_and_waitall()
  call waitany_and_testsome()
  call persistent_ring()
  call probe_and_count()
  call matched_probe()
  call cancelled()
  call asynchronous_buffer()
  call mixed_with_collective()
  call end_of_program()
contains
  subroutine nonblocking_and_waitall()
    integer, allocatable, asynchronous :: out(:), in(:)
    integer :: count
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: statuses(2)
    allocate (out(large), in(large))
    out = rank
    call MPI_Irecv(in, large, MPI_INTEGER, previous, 2, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(out, large, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    call MPI_Get_count(statuses(1), MPI_INTEGER, count)
    call expect(all(in == previous) .and. count == large, 'waitall')
    call expect(all(requests == MPI_REQUEST_NULL), 'requests are not null')
    call finish('f08_nonblocking_and_waitall', sum(in))
  end subroutine

  subroutine waitany_and_testsome()
    integer, asynchronous :: in(6)
    integer :: i, index, left, done, indices(6)
    type(MPI_Request) :: requests(6)
    type(MPI_Status) :: statuses(6)
    if (rank == 0) then
      do i = 1, 6
        call MPI_Irecv(in(i), 1, MPI_INTEGER, 1, i, MPI_COMM_WORLD, requests(i))
      end do
      call MPI_Waitany(6, requests, index, statuses(1))
      call expect(statuses(1)%MPI_TAG == index, 'index of waitany')
      left = 5
      do while (left > 0)
        call MPI_Testsome(6, requests, done, indices, statuses)
        do i = 1, done
          call expect(statuses(i)%MPI_TAG == indices(i), 'index of testsome')
        end do
        left = left - done
      end do
      call expect(all(in == [(i * i, i=1, 6)]), 'values of waitany')
    else if (rank == 1) then
      do i = 6, 1, -1
        call MPI_Send(i * i, 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD)
      end do
    end if
    call finish('f08_waitany_and_testsome', 0)
  end subroutine

  subroutine persistent_ring()
    integer, asynchronous :: out, in
    integer :: i
    type(MPI_Request) :: requests(2)
    call MPI_Send_init(out, 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Recv_init(in, 1, MPI_INTEGER, previous, 3, MPI_COMM_WORLD, requests(2))
    do i = 1, 10
      out = rank * 100 + i
      call MPI_Startall(2, requests)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call MPI_F_sync_reg(in)
      call expect(in == previous * 100 + i, 'persistent ring')
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    call finish('f08_persistent_ring', in)
  end subroutine

  subroutine probe_and_count()
    integer, allocatable :: in(:)
    integer :: count
    logical :: there
    type(MPI_Status) :: status
    if (rank == 1) then
      call MPI_Send([1, 2, 3, 4, 5], 5, MPI_INTEGER, 0, 4, MPI_COMM_WORLD)
    else if (rank == 0) then
      call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status)
      call MPI_Iprobe(1, 4, MPI_COMM_WORLD, there, MPI_STATUS_IGNORE)
      call MPI_Get_count(status, MPI_INTEGER, count)
      call expect(there .and. count == 5, 'probe')
      allocate (in(count))
      call MPI_Recv(in, count, MPI_INTEGER, status%MPI_SOURCE, status%MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call expect(all(in == [1, 2, 3, 4, 5]), 'probed message')
    end if
    call finish('f08_probe_and_count', 0)
  end subroutine

  subroutine matched_probe()
    integer :: value
    logical :: there
    type(MPI_Message) :: message
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    if (rank == 1) then
      call MPI_Send(51, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD)
      call MPI_Send(52, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD)
    else if (rank == 0) then
      call MPI_Mprobe(1, 5, MPI_COMM_WORLD, message, status)
      call MPI_Mrecv(value, 1, MPI_INTEGER, message, status)
      call expect(value == 51 .and. message == MPI_MESSAGE_NULL, 'mrecv')
      there = .false.
      do while (.not. there)
        call MPI_Improbe(1, 5, MPI_COMM_WORLD, there, message, status)
      end do
      call MPI_Imrecv(value, 1, MPI_INTEGER, message, request)
      call MPI_Wait(request, status)
      call expect(value == 52, 'imrecv')
    end if
    call finish('f08_matched_probe', 0)
  end subroutine

  subroutine cancelled()
    integer :: in
    logical :: was_cancelled
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    call MPI_Irecv(in, 1, MPI_INTEGER, rank, 10, MPI_COMM_WORLD, request)
    call MPI_Cancel(request)
    call MPI_Wait(request, status)
    call MPI_Test_cancelled(status, was_cancelled)
    call expect(was_cancelled, 'not cancelled')
    call finish('f08_cancelled', 0)
  end subroutine

  subroutine asynchronous_buffer()
    integer, allocatable, asynchronous :: in(:)
    type(MPI_Request) :: request
    logical :: done
    allocate (in(large))
    if (rank == 1) then
      call MPI_Irecv(in, large, MPI_INTEGER, 0, 12, MPI_COMM_WORLD, request)
      done = .false.
      do while (.not. done)
        call MPI_Test(request, done, MPI_STATUS_IGNORE)
      end do
      call expect(all(in == 77), 'asynchronous')
    else if (rank == 0) then
      in = 77
      call be_late()
      call MPI_Send(in, large, MPI_INTEGER, 1, 12, MPI_COMM_WORLD)
    end if
    call finish('f08_asynchronous_buffer', 0)
  end subroutine

  subroutine mixed_with_collective()
    integer, asynchronous :: value, in
    type(MPI_Request) :: requests(3)
    type(MPI_Status) :: statuses(3)
    value = merge(33, 0, rank == 0)
    call MPI_Irecv(in, 1, MPI_INTEGER, previous, 13, MPI_COMM_WORLD, requests(1))
    call MPI_Ibcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(2))
    call MPI_Isend(rank, 1, MPI_INTEGER, next, 13, MPI_COMM_WORLD, requests(3))
    call MPI_Waitall(3, requests, statuses)
    call expect(value == 33 .and. in == previous .and. statuses(1)%MPI_TAG == 13, 'mixed waitall')
    call finish('f08_mixed_with_collective', value + in)
  end subroutine
end program
