! One-sided calls through `use mpi_f08`: what Fortran's own wrappers hand on, and what they read of a window.
program f08_windows
  use frame_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: elements = 4099
  call begin()
  call attributes_of_allocated()
  call attributes_of_created()
  call fenced_puts()
  call locked_sums()
  call get_of_every_second()
  call end_of_program()
contains
  subroutine allocate_integers(count, window, memory)
    integer, intent(in) :: count
    type(MPI_Win), intent(out) :: window
    integer, pointer, intent(out) :: memory(:)
    type(c_ptr) :: base
    call MPI_Win_allocate(4_MPI_ADDRESS_KIND * count, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, window)
    call c_f_pointer(base, memory, [count])
    memory = 0
  end subroutine

  integer(MPI_ADDRESS_KIND) function attribute(window, key)
    type(MPI_Win), intent(in) :: window
    integer, intent(in) :: key
    logical :: found
    call MPI_Win_get_attr(window, key, attribute, found)
    call expect(found, 'an attribute is not there')
  end function

  subroutine attributes_of_allocated()
    type(MPI_Win) :: window
    integer, pointer :: memory(:)
    integer(MPI_ADDRESS_KIND) :: base
    call allocate_integers(elements + rank, window, memory)
    base = transfer(c_loc(memory), base)
    call expect(attribute(window, MPI_WIN_CREATE_FLAVOR) == MPI_WIN_FLAVOR_ALLOCATE, 'flavor of an allocated window')
    call expect(attribute(window, MPI_WIN_SIZE) == 4 * (elements + rank), 'size')
    call expect(attribute(window, MPI_WIN_DISP_UNIT) == 4, 'unit')
    call expect(attribute(window, MPI_WIN_BASE) == base, 'base')
    call MPI_Win_free(window)
    call expect(window == MPI_WIN_NULL, 'freed')
    call finish('f08_attributes_of_allocated', 0)
  end subroutine

  subroutine attributes_of_created()
    type(MPI_Win) :: window
    integer, asynchronous, target :: memory(elements)
    integer(MPI_ADDRESS_KIND) :: base
    call MPI_Win_create(memory, 4_MPI_ADDRESS_KIND * elements, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
    base = transfer(c_loc(memory), base)
    call expect(attribute(window, MPI_WIN_CREATE_FLAVOR) == MPI_WIN_FLAVOR_CREATE, 'flavor of a created window')
    call expect(attribute(window, MPI_WIN_SIZE) == 4 * elements, 'size')
    call expect(attribute(window, MPI_WIN_BASE) == base, 'base')
    call MPI_Win_free(window)
    call finish('f08_attributes_of_created', 0)
  end subroutine

  subroutine fenced_puts()
    type(MPI_Win) :: window
    integer, pointer, asynchronous :: memory(:)
    integer, asynchronous :: out(elements)
    integer :: i
    call allocate_integers(elements, window, memory)
    out = [(rank * elements + i, i = 1, elements)]
    call MPI_Win_fence(0, window)
    call MPI_Put(out, elements, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, elements, MPI_INTEGER, window)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, window)
    call expect(all(memory == [(previous * elements + i, i = 1, elements)]), 'put')
    i = memory(elements)
    call MPI_Win_free(window)
    call finish('f08_fenced_puts', i)
  end subroutine

  subroutine locked_sums()
    type(MPI_Win) :: window
    integer, pointer, asynchronous :: memory(:)
    integer, asynchronous :: before, one
    integer :: i
    call allocate_integers(2, window, memory)
    call MPI_Barrier(MPI_COMM_WORLD)
    one = 1
    do i = 1, 50
      call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window)
      call MPI_Fetch_and_op(one, before, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, MPI_SUM, window)
      call MPI_Accumulate(one, 1, MPI_INTEGER, 0, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, window)
      call MPI_Win_unlock(0, window)
      call expect(before >= 0 .and. before < 50 * ranks, 'fetched')
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window)
    if (rank == 0) call expect(all(memory == 50 * ranks), 'sums')
    i = memory(1)
    call MPI_Win_unlock(rank, window)
    call MPI_Win_free(window)
    call finish('f08_locked_sums', i)
  end subroutine

  subroutine get_of_every_second()
    type(MPI_Win) :: window
    type(MPI_Datatype) :: second
    integer, asynchronous :: memory(2 * elements), in(elements)
    integer :: i
    memory = [(rank + 3 * i, i = 1, 2 * elements)]
    in = 0
    call MPI_Type_vector(elements, 1, 2, MPI_INTEGER, second)
    call MPI_Type_commit(second)
    call MPI_Win_create(memory, 8_MPI_ADDRESS_KIND * elements, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
    call MPI_Win_lock_all(0, window)
    call MPI_Get(in, elements, MPI_INTEGER, next, 1_MPI_ADDRESS_KIND, 1, second, window)
    call MPI_Win_flush(next, window)
    call expect(all(in == [(next + 6 * i, i = 1, elements)]), 'get')
    call MPI_Win_unlock_all(window)
    call MPI_Win_free(window)
    call MPI_Type_free(second)
    call finish('f08_get_of_every_second', sum(in))
  end subroutine
end program
