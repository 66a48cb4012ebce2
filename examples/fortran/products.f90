! A sparse product and a Gram matrix on the CPU, from Fortran arrays as they are: one-based CSR,
! column-major matrices. Prints what it computed, and fails where that is wrong.
program products
  use, intrinsic :: iso_c_binding
  use :: lanky
  implicit none

  type(c_ptr) :: stream
  call check(lanky_stream_create(lanky_device_cpu(), stream))
  call sparse_product()
  call gram_product()
  call refused_product()
  call lanky_stream_destroy(stream)

contains

  ! y = 2 A x + y of the 3 x 3 matrix (4 -1 0; -1 4 -1; 0 -1 4).
  subroutine sparse_product()
    integer(c_int32_t), target :: offsets(4) = [1, 3, 6, 8]
    integer(c_int32_t), target :: columns(7) = [1, 2, 1, 2, 3, 2, 3]
    real(c_double), target :: values(7) = [4, -1, -1, 4, -1, -1, 4]
    real(c_double), target :: x(3) = [1, 2, 3], y(3) = [1, 1, 1]
    real(c_double), target :: alpha = 2, beta = 1
    type(lanky_csr_view) :: a
    type(c_ptr) :: plan

    a = lanky_csr_view(3, 3, 7, c_loc(offsets), c_loc(columns), c_loc(values), 4, 1)
    call check(lanky_sparse_plan_create(stream, lanky_dtype_f64, lanky_dtype_f64, a, c_null_ptr, &
                                        plan))
    call check(lanky_sparse_plan_run(plan, stream, c_loc(alpha), lanky_vector_view(c_loc(x), 3), &
                                     c_loc(beta), lanky_vector_view(c_loc(y), 3), c_null_ptr))
    call lanky_sparse_plan_destroy(plan)
    print '(a, 3f6.1)', "2 A x + y =", y
    if (any(y /= [5.0d0, 9.0d0, 21.0d0])) error stop "the sparse product is wrong"
  end subroutine

  ! G = Q^T Q of a tall matrix.
  subroutine gram_product()
    integer, parameter :: rows = 1000, cols = 2
    real(c_float), target :: q(rows, cols), g(cols, cols)
    type(lanky_gemm_shape) :: shape
    type(lanky_matrix_view) :: q_view, g_view
    type(c_ptr) :: plan

    q(:, 1) = 1
    q(:, 2) = 2
    call check(lanky_gemm_shape_init(shape, c_sizeof(shape)))
    shape%m = cols
    shape%n = cols
    shape%k = rows
    shape%op_a = lanky_op_trans
    call check(lanky_gemm_plan_create(stream, lanky_dtype_f32, lanky_dtype_f32, shape, c_null_ptr, &
                                      plan))
    q_view = lanky_matrix_view(c_loc(q), rows, cols, rows)
    g_view = lanky_matrix_view(c_loc(g), cols, cols, cols)
    call check(lanky_gemm_plan_run(plan, stream, c_null_ptr, q_view, q_view, c_null_ptr, g_view, &
                                   c_null_ptr))
    call lanky_gemm_plan_destroy(plan)
    print '(a, 4f8.1)', "Q^T Q =", g
    ! Sums of small integers are exact.
    if (any(g /= reshape([1000.0, 2000.0, 2000.0, 4000.0], [2, 2]))) &
      error stop "the Gram product is wrong"
  end subroutine

  ! The message of a failure.
  subroutine refused_product()
    type(c_ptr) :: plan
    type(lanky_csr_view) :: a
    a%index_base = 7
    if (lanky_sparse_plan_create(stream, lanky_dtype_f64, lanky_dtype_f64, a, c_null_ptr, plan) == &
        lanky_success) error stop "an index base of 7 was accepted"
    print '(a)', "refused: " // last_error()
    if (index(last_error(), "7") == 0) error stop "the message does not name the index base"
  end subroutine

end program
