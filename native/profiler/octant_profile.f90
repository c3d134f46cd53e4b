! Regions of a program that `octant profile` reports separately; compile it together with octant_profile.c.
!
!     use octant_profile
!     call octant_begin("solver")
!     call octant_end()
module octant_profile
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
  implicit none
  private
  public :: octant_begin, octant_end, octant_record

  interface
    subroutine program_begin(name) bind(c, name="octant_program_begin")
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine program_begin
    subroutine octant_end() bind(c, name="octant_program_end")
    end subroutine octant_end
    subroutine program_record(is_on) bind(c, name="octant_program_record")
      import :: c_int
      integer(c_int), value :: is_on
    end subroutine program_record
  end interface

contains

  subroutine octant_begin(name)
    character(len=*), intent(in) :: name
    call program_begin(trim(name) // c_null_char)
  end subroutine octant_begin

  subroutine octant_record(is_on)
    logical, intent(in) :: is_on
    call program_record(merge(1_c_int, 0_c_int, is_on))
  end subroutine octant_record

end module octant_profile
