// mpiaijlanky: MATMPIAIJ whose blocks are seqaijlanky. A product sends off entries of x, multiplies
// the diagonal block meanwhile, and then adds the off-diagonal block times what has arrived.
#include <algorithm>
#include <memory>

#include "aijlanky.hpp"
#include "exchange.hpp"

namespace lanky_petsc {
namespace {

constexpr const char* kDistributed = "lanky_distributed";

using MatAssemblyEndFn = PetscErrorCode(Mat, MatAssemblyType);
using MatDestroyFn = PetscErrorCode(Mat);

/// Which entries of X a matrix needs. The state alone does not tell: PETSc adds it up over blocks
/// that it makes anew, so that two patterns can have one. Blocks are made anew on all ranks alike.
struct Pattern {
  PetscObjectState state = -1;
  PetscObjectId diagonal = -1;
  PetscObjectId off_diagonal = -1;

  bool operator==(const Pattern&) const = default;
};

PetscErrorCode pattern_of(Mat a, Pattern* pattern) {
  Mat diagonal = nullptr, off_diagonal = nullptr;
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(a, &diagonal, &off_diagonal, nullptr));
  PetscCall(MatGetNonzeroState(a, &pattern->state));
  PetscCall(PetscObjectGetId(object_of(diagonal), &pattern->diagonal));
  PetscCall(PetscObjectGetId(object_of(off_diagonal), &pattern->off_diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct MpiLanky {
  OwnProducts own_products{};
  MatAssemblyEndFn* own_assembly_end = nullptr;
  Pattern pattern{};  // that the neighbours are of
  Neighbours neighbours{};
  std::vector<std::unique_ptr<Exchange>> exchanges{};  // the last ones that were used
};

PetscErrorCode held_by(Mat a, MpiLanky** held) {
  PetscFunctionBegin;
  PetscCall(composed(object_of(a), kDistributed, held));
  PetscCheck(*held, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a matrix that lanky holds nothing of");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Makes the blocks seqaijlanky: PETSc makes new ones whenever the pattern grows.
PetscErrorCode convert_blocks(Mat a) {
  Mat blocks[2] = {nullptr, nullptr};
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(a, &blocks[0], &blocks[1], nullptr));
  for (Mat block : blocks) {
    PetscBool is_lanky = PETSC_FALSE;
    PetscCall(PetscObjectTypeCompare(object_of(block), MATSEQAIJLANKY, &is_lanky));
    if (!is_lanky) {
      PetscCall(seqaij_to_lanky(block, MATSEQAIJLANKY, MAT_INPLACE_MATRIX, &block));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode assembly_end(Mat a, MatAssemblyType type) {
  MpiLanky* held = nullptr;
  PetscFunctionBegin;
  PetscCall(held_by(a, &held));
  PetscCall(held->own_assembly_end(a, type));
  if (type == MAT_FINAL_ASSEMBLY) PetscCall(convert_blocks(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MATMPIAIJ's. MatHeaderMerge() destroys a matrix that it has taken its composed objects from.
MatDestroyFn* own_destroy = nullptr;

PetscErrorCode forget_lanky(Mat a) {
  PetscObject object = object_of(a);
  MpiLanky* held = nullptr;
  PetscFunctionBegin;
  PetscCall(composed(object, kDistributed, &held));
  if (!held) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(put_back_products(a, MATMPIAIJLANKY, held->own_products));
  PetscCall(set_operation(a, MATOP_ASSEMBLY_END, held->own_assembly_end));
  PetscCall(set_operation(a, MATOP_DESTROY, own_destroy));
  PetscCall(PetscObjectComposeFunction(object, "MatConvert_mpiaijlanky_mpiaij_C", nullptr));
  PetscCall(PetscObjectComposeFunction(object, "MatConvert_mpiaij_mpiaijlanky_C", nullptr));
  PetscCall(PetscObjectCompose(object, kDistributed, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(Mat a) {
  PetscFunctionBegin;
  PetscCall(forget_lanky(a));
  PetscCall(own_destroy(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode lanky_to_mpiaij(Mat a, MatType, MatReuse reuse, Mat* b) {
  Mat blocks[2] = {nullptr, nullptr};
  PetscFunctionBegin;
  PetscCall(begin_conversion(&a, reuse, b));
  if (!a) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(forget_lanky(a));
  PetscCall(PetscObjectChangeTypeName(object_of(a), MATMPIAIJ));
  PetscCall(set_vectors(a, false));
  PetscCall(MatMPIAIJGetSeqAIJ(a, &blocks[0], &blocks[1], nullptr));
  for (Mat block : blocks)
    PetscCall(MatConvert(block, MATSEQAIJ, MAT_INPLACE_MATRIX, &block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mpiaij_to_lanky(Mat a, MatType, MatReuse reuse, Mat* b) {
  PetscBool assembled = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(begin_conversion(&a, reuse, b));
  if (!a) PetscFunctionReturn(PETSC_SUCCESS);
  PetscObject object = object_of(a);
  auto* held = new (std::nothrow) MpiLanky;
  PetscCheck(held, PETSC_COMM_SELF, PETSC_ERR_MEM, "the host is out of memory");
  PetscCall(compose(object, kDistributed, held));
  PetscCall(take_products(a, MATMPIAIJLANKY, &held->own_products));
  PetscCall(get_operation(a, MATOP_ASSEMBLY_END, &held->own_assembly_end));
  PetscCall(set_operation(a, MATOP_ASSEMBLY_END, assembly_end));
  PetscCall(get_operation(a, MATOP_DESTROY, &own_destroy));
  PetscCall(set_operation(a, MATOP_DESTROY, destroy));
  PetscCall(PetscObjectComposeFunction(object, "MatConvert_mpiaijlanky_mpiaij_C", lanky_to_mpiaij));
  PetscCall(PetscObjectComposeFunction(object, "MatConvert_mpiaij_mpiaijlanky_C", mpiaij_to_lanky));
  PetscCall(set_vectors(a, true));
  PetscCall(PetscObjectChangeTypeName(object, MATMPIAIJLANKY));
  PetscCall(MatAssembled(a, &assembled));
  if (assembled) PetscCall(convert_blocks(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The exchange for products with columns like these; collective after a new pattern.
PetscErrorCode exchange_of(Mat a, const Columns& columns, Exchange** exchange) {
  MpiLanky* held = nullptr;
  Pattern pattern;
  const lanky::Stream* stream = nullptr;
  PetscFunctionBegin;
  PetscCall(held_by(a, &held));
  PetscCall(pattern_of(a, &pattern));
  PetscCall(stream_of(columns, &stream));
  auto& exchanges = held->exchanges;
  if (pattern != held->pattern) {
    exchanges.clear();
    PetscCall(find_neighbours(a, &held->neighbours));
    held->pattern = pattern;
  }
  auto found = std::find_if(exchanges.begin(), exchanges.end(), [&](const auto& known) {
    return known->serves(columns.columns(), *stream);
  });
  if (found == exchanges.end()) {
    constexpr std::size_t kKept = 8;
    if (exchanges.size() >= kKept) exchanges.erase(exchanges.begin());
    PetscCall(guarded([&] {
      exchanges.push_back(
          std::make_unique<Exchange>(&held->neighbours, columns.columns(), *stream));
    }));
    PetscCall(exchanges.back()->connect());
    found = exchanges.end() - 1;
  }
  *exchange = found->get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode multiply_distributed(Mat a, lanky::Op op, Columns* x, PetscScalar beta, Columns* y) {
  const bool forward = op == lanky::Op::none;
  const PetscLogEvent event = events().exchange;
  Mat diagonal = nullptr, off_diagonal = nullptr;
  LocalMatrix* of_diagonal = nullptr;
  LocalMatrix* of_off_diagonal = nullptr;
  PetscObjectState state = 0;
  Exchange* exchange = nullptr;
  PetscFunctionBegin;
  PetscCall(exchange_of(a, forward ? *x : *y, &exchange));
  PetscCall(PetscObjectStateGet(object_of(a), &state));
  PetscCall(MatMPIAIJGetSeqAIJ(a, &diagonal, &off_diagonal, nullptr));
  PetscCall(local_matrix_of(diagonal, &of_diagonal));
  PetscCall(local_matrix_of(off_diagonal, &of_off_diagonal));
  Columns ghosts = exchange->ghosts();
  const LocalMatrix::Order here = {exchange->stream(), exchange->stream()};
  PetscCall(exchange->enter());
  if (!forward && ghosts.rows() > 0) {
    PetscCall(of_off_diagonal->multiply(off_diagonal, op, *x, 0.0, &ghosts, here, state));
  }
  PetscCall(PetscLogEventBegin(event, a, 0, 0, 0));
  PetscCall(forward ? exchange->bcast_begin(*x) : exchange->reduce_begin());
  PetscCall(PetscLogEventEnd(event, a, 0, 0, 0));
  PetscCall(of_diagonal->multiply(diagonal, op, *x, beta, y, here, state));
  PetscCall(PetscLogEventBegin(event, a, 0, 0, 0));
  PetscCall(forward ? exchange->bcast_end() : exchange->reduce_end(y));
  PetscCall(PetscLogEventEnd(event, a, 0, 0, 0));
  if (forward && ghosts.rows() > 0) {
    const LocalMatrix::Order after_ghosts = {exchange->beside(), exchange->stream()};
    PetscCall(of_off_diagonal->multiply(off_diagonal, op, ghosts, 1.0, y, after_ghosts, state));
  }
  PetscCall(exchange->leave());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_mpiaijlanky(Mat a) {
  PetscFunctionBegin;
  PetscCall(MatSetType(a, MATMPIAIJ));
  PetscCall(mpiaij_to_lanky(a, MATMPIAIJLANKY, MAT_INPLACE_MATRIX, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace lanky_petsc
