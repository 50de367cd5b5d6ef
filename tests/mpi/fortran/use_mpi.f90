! Point-to-point through `use mpi`. A case is a subroutine; rank 0 prints what all ranks noted, `mistakes` counts mistakes.
program use_mpi
  use mpi
  implicit none
  integer, parameter :: large = 150000  ! reals of 8 bytes
  integer :: rank, ranks, next, previous, code, mistakes = 0
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  call ring_of_reals()
  call late_large_receive()
  call columns_and_rows()
  call waitall_of_many()
  call testall_loop()
  call waitsome()
  call any_source()
  call persistent_receive()
  call synchronous_and_probe()
  call struct_type()
  call error_code()
  call request_status()
  call MPI_Allreduce(MPI_IN_PLACE, mistakes, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  call MPI_Finalize(code)
  if (mistakes > 0) stop 1
contains
  subroutine expect(condition, text)
    logical, intent(in) :: condition
    character(*), intent(in) :: text
    if (condition) return
    mistakes = mistakes + 1
    print '(a,i0,2a)', 'FAIL rank ', rank, ': ', text
  end subroutine

  subroutine finish(name, note)
    character(*), intent(in) :: name
    integer, intent(in) :: note
    integer :: notes(0:ranks - 1), i
    call MPI_Barrier(MPI_COMM_WORLD, code)  ! no message of the next case comes into this one
    call MPI_Gather(note, 1, MPI_INTEGER, notes, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
    do i = 0, merge(ranks, 0, rank == 0) - 1
      print '(3a,i0,a,i0)', 'CASE ', name, ' ', i, ': ', notes(i)
    end do
  end subroutine

  subroutine be_late()
    double precision :: start
    start = MPI_Wtime()
    do while (MPI_Wtime() - start < 0.003d0)
    end do
  end subroutine

  subroutine ring_of_reals()
    double precision :: out(1000), in(1000)
    integer :: status(MPI_STATUS_SIZE), count
    out = rank + 0.5d0
    call MPI_Sendrecv(out, 1000, MPI_DOUBLE_PRECISION, next, 1, in, 1000, MPI_DOUBLE_PRECISION, previous, 1, &
                      MPI_COMM_WORLD, status, code)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, code)
    call expect(all(in == previous + 0.5d0) .and. count == 1000, 'ring')
    call expect(status(MPI_SOURCE) == previous .and. status(MPI_TAG) == 1, 'status of the ring')
    call finish('use_mpi_ring_of_reals', count)
  end subroutine

  subroutine late_large_receive()
    double precision, allocatable :: buffer(:)
    integer :: status(MPI_STATUS_SIZE), count, round
    allocate (buffer(large))
    do round = 1, 5
      if (rank == 0) then
        buffer = round
        call be_late()
        call MPI_Send(buffer, large / round, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, code)
      else if (rank == 1) then
        buffer = -1
        call MPI_Recv(buffer, large, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, status, code)
        if (mod(round, 2) == 0) buffer(large) = 5
        call expect(all(buffer(1:large / round) == round .or. mod(round, 2) == 0 .and. buffer(1:large / round) == 5), 'late')
        call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, code)
        call expect(count == large / round, 'count of a late message')
      end if
    end do
    call finish('use_mpi_late_large_receive', 0)
  end subroutine

  subroutine columns_and_rows()
    integer :: matrix(300, 300), row, requests(4), i, statuses(MPI_STATUS_SIZE, 4)
    matrix = rank * 1000
    call MPI_Type_vector(300, 1, 300, MPI_INTEGER, row, code)
    call MPI_Type_commit(row, code)
    call MPI_Irecv(matrix(1, 1), 1, row, previous, 3, MPI_COMM_WORLD, requests(1), code)
    call MPI_Irecv(matrix(2, 1), 298, MPI_INTEGER, next, 4, MPI_COMM_WORLD, requests(2), code)
    call MPI_Isend(matrix(300, 1), 1, row, next, 3, MPI_COMM_WORLD, requests(3), code)
    call MPI_Isend(matrix(2, 300), 298, MPI_INTEGER, previous, 4, MPI_COMM_WORLD, requests(4), code)
    call MPI_Waitall(4, requests, statuses, code)
    call expect(all(matrix(1, 2:300) == previous * 1000), 'row')
    call expect(all([(matrix(i, 1), i=2, 299)] == next * 1000), 'column')
    call expect(statuses(MPI_SOURCE, 1) == previous .and. statuses(MPI_TAG, 2) == 4, 'statuses')
    call MPI_Type_free(row, code)
    call finish('use_mpi_columns_and_rows', mod(sum(matrix), 1000003))
  end subroutine

  subroutine waitall_of_many()
    integer, parameter :: n = 30
    integer, asynchronous :: out(n), in(n)
    integer :: requests(2 * n), i
    do i = 1, n
      out(i) = rank * 100 + i
      call MPI_Irecv(in(i), 1, MPI_INTEGER, previous, i, MPI_COMM_WORLD, requests(i), code)
    end do
    do i = n, 1, -1
      call MPI_Isend(out(i), 1, MPI_INTEGER, next, i, MPI_COMM_WORLD, requests(n + i), code)
    end do
    call MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE, code)
    call expect(all(in == [(previous * 100 + i, i=1, n)]), 'many')
    call expect(all(requests == MPI_REQUEST_NULL), 'requests are not null')
    call finish('use_mpi_waitall_of_many', sum(in))
  end subroutine

  subroutine testall_loop()
    double precision, allocatable, asynchronous :: out(:), in(:)
    integer :: requests(2)
    logical :: done
    allocate (out(large), in(large))
    out = rank
    call MPI_Irecv(in, large, MPI_DOUBLE_PRECISION, previous, 5, MPI_COMM_WORLD, requests(1), code)
    call be_late()
    call MPI_Issend(out, large, MPI_DOUBLE_PRECISION, next, 5, MPI_COMM_WORLD, requests(2), code)
    done = .false.
    do while (.not. done)
      call MPI_Testall(2, requests, done, MPI_STATUSES_IGNORE, code)
    end do
    call expect(all(in == previous), 'testall')
    call finish('use_mpi_testall_loop', nint(sum(in)))
  end subroutine

  subroutine waitsome()
    integer, asynchronous :: in(5)
    integer :: requests(5), indices(5), statuses(MPI_STATUS_SIZE, 5), done, left, i
    if (rank == 0) then
      do i = 1, 5
        call MPI_Irecv(in(i), 1, MPI_INTEGER, ranks - 1, i, MPI_COMM_WORLD, requests(i), code)
      end do
      left = 5
      do while (left > 0)
        call MPI_Waitsome(5, requests, done, indices, statuses, code)
        do i = 1, done
          call expect(statuses(MPI_TAG, i) == indices(i), 'index of waitsome')
        end do
        left = left - done
      end do
      call MPI_Waitsome(5, requests, done, indices, statuses, code)
      call expect(done == MPI_UNDEFINED .and. all(in == [11, 12, 13, 14, 15]), 'waitsome')
    else if (rank == ranks - 1) then
      do i = 5, 1, -1
        call MPI_Send(10 + i, 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD, code)
      end do
    end if
    call finish('use_mpi_waitsome', 0)
  end subroutine

  subroutine any_source()
    integer :: value, status(MPI_STATUS_SIZE), i, total
    total = 0
    if (rank == 0) then
      do i = 1, ranks - 1
        call MPI_Recv(value, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, code)
        call expect(value == status(MPI_SOURCE) .and. status(MPI_TAG) == 10 * value, 'any source')
        total = total + value
      end do
    else
      call MPI_Send(rank, 1, MPI_INTEGER, 0, 10 * rank, MPI_COMM_WORLD, code)
    end if
    call finish('use_mpi_any_source', total)
  end subroutine

  subroutine persistent_receive()
    double precision, allocatable, asynchronous :: buffer(:)
    integer :: request, i
    allocate (buffer(large))
    if (rank == 0) call MPI_Send_init(buffer, large, MPI_DOUBLE_PRECISION, 1, 6, MPI_COMM_WORLD, request, code)
    if (rank == 1) call MPI_Recv_init(buffer, large, MPI_DOUBLE_PRECISION, 0, 6, MPI_COMM_WORLD, request, code)
    do i = 1, merge(6, 0, rank < 2)
      if (rank == 0) buffer = i
      if (rank == 0) call be_late()
      call MPI_Start(request, code)
      call MPI_Wait(request, MPI_STATUS_IGNORE, code)
      call expect(all(buffer == i), 'persistent')
    end do
    if (rank < 2) call MPI_Request_free(request, code)
    call finish('use_mpi_persistent_receive', 0)
  end subroutine

  subroutine synchronous_and_probe()
    integer :: status(MPI_STATUS_SIZE), count
    character(20) :: text
    if (rank == 1) then
      call MPI_Ssend('a text of 16 chr', 16, MPI_CHARACTER, 0, 7, MPI_COMM_WORLD, code)
    else if (rank == 0) then
      call MPI_Probe(1, MPI_ANY_TAG, MPI_COMM_WORLD, status, code)
      call MPI_Get_count(status, MPI_CHARACTER, count, code)
      text = ''
      call MPI_Recv(text, 20, MPI_CHARACTER, 1, 7, MPI_COMM_WORLD, status, code)
      call expect(count == 16 .and. text == 'a text of 16 chr', 'text')
    end if
    call finish('use_mpi_synchronous_and_probe', 0)
  end subroutine

  subroutine struct_type()
    type :: particle
      sequence
      double precision :: place(3)
      integer :: kind, color
    end type
    type(particle) :: cloud(2000)
    integer :: type
    integer(MPI_ADDRESS_KIND) :: addresses(2), first, second
    cloud%kind = rank
    cloud%color = -rank
    cloud%place(1) = rank * 0.25d0
    call MPI_Get_address(cloud(1), first, code)
    call MPI_Get_address(cloud(1)%kind, addresses(2), code)
    call MPI_Get_address(cloud(2), second, code)
    addresses = [0_MPI_ADDRESS_KIND, addresses(2) - first]
    call MPI_Type_create_struct(2, [3, 2], addresses, [MPI_DOUBLE_PRECISION, MPI_INTEGER], type, code)
    call expect(second - first == 32, 'extent of a particle')
    call MPI_Type_commit(type, code)
    call MPI_Sendrecv_replace(cloud, 2000, type, next, 8, previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call expect(all(cloud%kind == previous .and. cloud%color == -previous .and. cloud%place(1) == previous * 0.25d0), 'cloud')
    call MPI_Type_free(type, code)
    call finish('use_mpi_struct_type', sum(cloud%kind))
  end subroutine

  subroutine error_code()
    integer :: class
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks + 5, 0, MPI_COMM_WORLD, code)
    call MPI_Error_class(code, class, code)
    call expect(class == MPI_ERR_RANK, 'class of an invalid rank')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, code)
    call finish('use_mpi_error_code', class)
  end subroutine

  subroutine request_status()
    integer, asynchronous :: in
    integer :: request, status(MPI_STATUS_SIZE)
    logical :: done
    call MPI_Irecv(in, 1, MPI_INTEGER, previous, 9, MPI_COMM_WORLD, request, code)
    call MPI_Send(rank, 1, MPI_INTEGER, next, 9, MPI_COMM_WORLD, code)
    done = .false.
    do while (.not. done)
      call MPI_Request_get_status(request, done, status, code)
    end do
    call expect(request /= MPI_REQUEST_NULL .and. status(MPI_SOURCE) == previous, 'get_status')
    call MPI_Wait(request, status, code)
    call expect(request == MPI_REQUEST_NULL .and. in == previous, 'wait after get_status')
    call finish('use_mpi_request_status', in)
  end subroutine
end program
