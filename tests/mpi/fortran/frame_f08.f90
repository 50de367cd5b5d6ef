! Frame of the `use mpi_f08` programs. A case is a subroutine; rank 0 prints what all ranks noted, `mistakes` counts mistakes.
module frame_f08
  use mpi_f08
  implicit none
  integer :: rank, ranks, next, previous
  integer :: mistakes = 0
  integer, parameter :: large = 120000  ! integers
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
    call MPI_Barrier(MPI_COMM_WORLD)  ! no message of the next case comes into this one
    call MPI_Gather(note, 1, MPI_INTEGER, notes, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (rank == 0) then
      do i = 0, ranks - 1
        print '(3a,i0,a,i0)', 'CASE ', name, ' ', i, ': ', notes(i)
      end do
    end if
  end subroutine

  subroutine be_late()
    integer(8) :: start, now, rate
    call system_clock(start, rate)
    do
      call system_clock(now)
      if (now - start > rate / 300) exit
    end do
  end subroutine

  subroutine begin()
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    next = mod(rank + 1, ranks)
    previous = mod(rank + ranks - 1, ranks)
  end subroutine

  subroutine end_of_program()
    call MPI_Allreduce(MPI_IN_PLACE, mistakes, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Finalize()
    if (mistakes > 0) stop 1
  end subroutine
end module
