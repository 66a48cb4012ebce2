! What a Fortran program declares of lanky's C interface (lanky/lanky.h): as much as the example
! calls. A declaration for another function is written after the header in the same way.
module lanky
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  public

  integer(c_int32_t), parameter :: lanky_success = 0
  integer(c_int32_t), parameter :: lanky_dtype_f64 = 0, lanky_dtype_f32 = 1
  integer(c_int32_t), parameter :: lanky_op_none = 0, lanky_op_trans = 1
  integer(c_int32_t), parameter :: lanky_layout_col = 0, lanky_layout_row = 1

  type, bind(c) :: lanky_device
    integer(c_int32_t) :: kind = 0
    integer(c_int32_t) :: index = 0
  end type

  type, bind(c) :: lanky_vector_view
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: size = 0
  end type

  type, bind(c) :: lanky_matrix_view
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: rows = 0, cols = 0, ld = 0
    integer(c_int32_t) :: layout = lanky_layout_col
  end type

  type, bind(c) :: lanky_csr_view
    integer(c_int64_t) :: rows = 0, cols = 0, nnz = 0
    type(c_ptr) :: row_offsets = c_null_ptr, col_indices = c_null_ptr, values = c_null_ptr
    integer(c_int32_t) :: offset_bytes = 4
    integer(c_int32_t) :: index_base = 1
  end type

  type, bind(c) :: lanky_gemm_shape
    integer(c_size_t) :: size = 0
    integer(c_int64_t) :: m = 0, n = 0, k = 0
    integer(c_int32_t) :: op_a = 0, op_b = 0, layout = 0, reserved = 0
    integer(c_int64_t) :: lda = 0, ldb = 0, ldc = 0
  end type

  interface
    function lanky_last_error() bind(c)
      import :: c_ptr
      type(c_ptr) :: lanky_last_error
    end function

    function lanky_device_cpu() bind(c)
      import :: lanky_device
      type(lanky_device) :: lanky_device_cpu
    end function

    function lanky_stream_create(device, stream) bind(c) result(status)
      import :: c_int32_t, c_ptr, lanky_device
      type(lanky_device), value :: device
      type(c_ptr), intent(out) :: stream
      integer(c_int32_t) :: status
    end function

    subroutine lanky_stream_destroy(stream) bind(c)
      import :: c_ptr
      type(c_ptr), value :: stream
    end subroutine

    function lanky_sparse_plan_create(stream, type, out, a, options, plan) bind(c) result(status)
      import :: c_int32_t, c_ptr, lanky_csr_view
      type(c_ptr), value :: stream
      integer(c_int32_t), value :: type, out
      type(lanky_csr_view), intent(in) :: a
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: plan
      integer(c_int32_t) :: status
    end function

    ! alpha and beta are c_loc() of values, or c_null_ptr for 1 and 0.
    function lanky_sparse_plan_run(plan, stream, alpha, x, beta, y, options) bind(c) result(status)
      import :: c_int32_t, c_ptr, lanky_vector_view
      type(c_ptr), value :: plan, stream, alpha, beta, options
      type(lanky_vector_view), intent(in) :: x, y
      integer(c_int32_t) :: status
    end function

    subroutine lanky_sparse_plan_destroy(plan) bind(c)
      import :: c_ptr
      type(c_ptr), value :: plan
    end subroutine

    function lanky_gemm_shape_init(shape, size) bind(c) result(status)
      import :: c_int32_t, c_size_t, lanky_gemm_shape
      type(lanky_gemm_shape), intent(out) :: shape
      integer(c_size_t), value :: size
      integer(c_int32_t) :: status
    end function

    function lanky_gemm_plan_create(stream, type, out, shape, options, plan) bind(c) result(status)
      import :: c_int32_t, c_ptr, lanky_gemm_shape
      type(c_ptr), value :: stream
      integer(c_int32_t), value :: type, out
      type(lanky_gemm_shape), intent(in) :: shape
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: plan
      integer(c_int32_t) :: status
    end function

    function lanky_gemm_plan_run(plan, stream, alpha, a, b, beta, c, options) bind(c) result(status)
      import :: c_int32_t, c_ptr, lanky_matrix_view
      type(c_ptr), value :: plan, stream, alpha, beta, options
      type(lanky_matrix_view), intent(in) :: a, b, c
      integer(c_int32_t) :: status
    end function

    subroutine lanky_gemm_plan_destroy(plan) bind(c)
      import :: c_ptr
      type(c_ptr), value :: plan
    end subroutine
  end interface

contains

  ! Stops the program with the library's message unless `status` is success.
  subroutine check(status)
    integer(c_int32_t), intent(in) :: status
    if (status == lanky_success) return
    write (error_unit, '(a)') "lanky: " // last_error()
    error stop 1
  end subroutine

  ! The calling thread's last failure as a Fortran string.
  function last_error() result(text)
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: bytes(:)
    integer :: length
    call c_f_pointer(lanky_last_error(), bytes, [4096])
    length = 0
    do while (length < 4096 .and. bytes(length + 1) /= c_null_char)
      length = length + 1
    end do
    allocate (character(len=length) :: text)
    text = transfer(bytes(1:length), text)
  end function

end module
