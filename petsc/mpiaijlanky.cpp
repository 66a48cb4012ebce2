// mpiaijlanky: MATMPIAIJ whose blocks are seqaijlanky. A product sends off entries of x, multiplies
// the diagonal block meanwhile, and then adds the off-diagonal block times what has arrived.
#include <algorithm>
#include <memory>

#include "aijlanky.hpp"

namespace lanky_petsc {
namespace {

constexpr const char* kDistributed = "lanky_distributed";

using MatAssemblyEndFn = PetscErrorCode(Mat, MatAssemblyType);
using MatDestroyFn = PetscErrorCode(Mat);

/// What one number of columns needs: a star forest from entries of X to their ghosts, column after
/// column, and the ghosts' memory.
struct Exchange {
  PetscInt columns = 0;
  PetscInt leading = 0;  // of this rank's X
  PetscSF forest = nullptr;
  Beside ghosts;  // [ghosts * columns]
  Beside staged;  // for an X of another leading dimension

  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() { static_cast<void>(PetscSFDestroy(&forest)); }
};

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
  Pattern pattern{};                                   // that the exchanges are of
  std::vector<std::unique_ptr<Exchange>> exchanges{};  // the last ones that were used
};

PetscErrorCode held_by(Mat a, MpiLanky** held) {
  PetscFunctionBegin;
  PetscCall(composed(object_of(a), kDistributed, held));
  PetscCheck(*held, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a matrix that lanky holds nothing of");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The roots of rank r are entry (i, j) of its X at i + j leading_r, the leaves ghost g of column j
/// at g + j ghosts.
PetscErrorCode make_exchange(Mat a, PetscInt columns, PetscInt leading, Exchange* exchange) {
  const PetscInt* ghost_columns = nullptr;
  Mat diagonal = nullptr, off_diagonal = nullptr;
  PetscInt ghosts = 0, local = 0;
  PetscLayout layout = nullptr;
  PetscMPIInt size = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm(object_of(a), &comm));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatMPIAIJGetSeqAIJ(a, &diagonal, &off_diagonal, &ghost_columns));
  PetscCall(MatGetSize(off_diagonal, nullptr, &ghosts));
  PetscCall(MatGetLocalSize(a, nullptr, &local));
  PetscCall(MatGetLayouts(a, nullptr, &layout));
  const PetscInt* begins = nullptr;
  PetscCall(PetscLayoutGetRanges(layout, &begins));
  std::vector<PetscInt> leadings;
  PetscCall(guarded([&] { leadings.resize(static_cast<std::size_t>(size)); }));
  PetscCallMPI(MPI_Allgather(&leading, 1, MPIU_INT, leadings.data(), 1, MPIU_INT, comm));

  PetscSFNode* remote = nullptr;
  PetscCall(PetscMalloc1(ghosts * columns, &remote));
  for (PetscInt g = 0; g < ghosts; ++g) {
    PetscMPIInt owner = 0;
    PetscCall(PetscLayoutFindOwner(layout, ghost_columns[g], &owner));
    for (PetscInt j = 0; j < columns; ++j) {
      remote[g + j * ghosts].rank = owner;
      remote[g + j * ghosts].index = ghost_columns[g] - begins[owner] + j * leadings[owner];
    }
  }
  const PetscInt roots = columns > 0 ? leading * (columns - 1) + local : 0;
  exchange->columns = columns;
  exchange->leading = leading;
  PetscCall(PetscSFCreate(comm, &exchange->forest));
  PetscCall(PetscSFSetFromOptions(exchange->forest));
  PetscCall(PetscSFSetGraph(exchange->forest, roots, ghosts * columns, nullptr, PETSC_OWN_POINTER,
                            remote, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(exchange->forest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The exchange for so many columns, or null. On all ranks alike.
Exchange* known_exchange(MpiLanky* held, PetscInt columns) {
  auto found = std::find_if(held->exchanges.begin(), held->exchanges.end(),
                            [&](const auto& e) { return e->columns == columns; });
  return found == held->exchanges.end() ? nullptr : found->get();
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

/// The blocks of a distributed matrix, their plans, and the exchange for a product.
struct Parts {
  Mat diagonal_block = nullptr;
  Mat off_diagonal_block = nullptr;
  LocalMatrix* diagonal = nullptr;
  LocalMatrix* off_diagonal = nullptr;
  Exchange* exchange = nullptr;
  PetscInt ghosts = 0;
  PetscObjectState state = 0;
};

/// Collective where no such exchange is known.
PetscErrorCode parts_of(Mat a, const Columns& exchanged, Parts* parts) {
  MpiLanky* held = nullptr;
  Pattern pattern;
  PetscFunctionBegin;
  PetscCall(held_by(a, &held));
  PetscCall(pattern_of(a, &pattern));
  if (pattern != held->pattern || !known_exchange(held, exchanged.columns())) {
    PetscCall(prepare_exchange(a, exchanged.columns(), exchanged.leading()));
  }
  parts->exchange = known_exchange(held, exchanged.columns());
  PetscCall(PetscObjectStateGet(object_of(a), &parts->state));
  PetscCall(MatMPIAIJGetSeqAIJ(a, &parts->diagonal_block, &parts->off_diagonal_block, nullptr));
  PetscCall(local_matrix_of(parts->diagonal_block, &parts->diagonal));
  PetscCall(local_matrix_of(parts->off_diagonal_block, &parts->off_diagonal));
  PetscCall(MatGetSize(parts->off_diagonal_block, nullptr, &parts->ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns with the leading dimension of an exchange: the caller's own, or a copy where theirs is
/// another.
class Staged {
 public:
  Staged(Exchange* exchange, const Columns& columns)
      : exchange_(exchange),
        columns_(columns),
        copies_(columns.columns() > 1 && columns.leading() != exchange->leading) {}

  PetscErrorCode open() {
    PetscFunctionBegin;
    if (copies_) {
      const PetscInt size = exchange_->leading * columns_.columns();
      PetscCall(exchange_->staged.get(columns_, size, &memory_));
      PetscCall(VecGetArrayWriteAndMemType(memory_, &data_, nullptr));
      PetscCall(copy_columns(columns_.on_device(), columns_.rows(), columns_.columns(),
                             columns_.data(), columns_.leading(), data_, exchange_->leading));
    } else {
      data_ = columns_.data();
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode close(bool changed) {
    PetscFunctionBegin;
    if (copies_ && changed) {
      PetscCall(copy_columns(columns_.on_device(), columns_.rows(), columns_.columns(), data_,
                             exchange_->leading, columns_.data(), columns_.leading()));
    }
    if (copies_) PetscCall(VecRestoreArrayWriteAndMemType(memory_, &data_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscScalar* data() const { return data_; }

 private:
  Exchange* exchange_;
  const Columns& columns_;
  bool copies_;
  Vec memory_ = nullptr;
  PetscScalar* data_ = nullptr;
};

}  // namespace

PetscErrorCode prepare_exchange(Mat a, PetscInt columns, PetscInt leading) {
  MpiLanky* held = nullptr;
  Pattern pattern;
  PetscFunctionBegin;
  PetscCall(held_by(a, &held));
  PetscCall(pattern_of(a, &pattern));
  if (pattern != held->pattern) {
    held->exchanges.clear();
    held->pattern = pattern;
  }
  Exchange* known = known_exchange(held, columns);
  // One rank's leading dimension is a part of every rank's exchange.
  PetscMPIInt stale = known == nullptr || (columns > 1 && known->leading != leading);
  if (known && columns > 1) {
    PetscCallMPI(
        MPI_Allreduce(MPI_IN_PLACE, &stale, 1, MPI_INT, MPI_MAX, PetscObjectComm(object_of(a))));
  }
  if (!stale) PetscFunctionReturn(PETSC_SUCCESS);
  if (known) {
    held->exchanges.erase(std::find_if(held->exchanges.begin(), held->exchanges.end(),
                                       [&](const auto& e) { return e.get() == known; }));
  }
  constexpr std::size_t kKept = 8;
  if (held->exchanges.size() >= kKept) held->exchanges.erase(held->exchanges.begin());
  Exchange* exchange = nullptr;
  PetscCall(guarded([&] {
    held->exchanges.push_back(std::make_unique<Exchange>());
    exchange = held->exchanges.back().get();
  }));
  PetscCall(make_exchange(a, columns, leading, exchange));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_distributed(Mat a, lanky::Op op, Columns* x, PetscScalar beta, Columns* y) {
  const bool forward = op == lanky::Op::none;
  const Columns& exchanged = forward ? *x : *y;
  Parts parts;
  Vec memory = nullptr;
  PetscFunctionBegin;
  PetscCall(parts_of(a, exchanged, &parts));
  PetscCall(parts.exchange->ghosts.get(exchanged, parts.ghosts * exchanged.columns(), &memory));
  Columns ghosts(memory, parts.ghosts, exchanged.columns());
  Staged staged(parts.exchange, exchanged);
  const PetscSF forest = parts.exchange->forest;
  const PetscLogEvent event = events().exchange;
  PetscCall(ghosts.open(Access::write));
  if (forward) {
    PetscCall(PetscLogEventBegin(event, a, 0, 0, 0));
    PetscCall(staged.open());
    PetscCall(PetscSFBcastWithMemTypeBegin(forest, MPIU_SCALAR, x->type(), staged.data(),
                                           ghosts.type(), ghosts.data(), MPI_REPLACE));
    PetscCall(PetscLogEventEnd(event, a, 0, 0, 0));
    PetscCall(parts.diagonal->multiply(parts.diagonal_block, op, *x, beta, y, parts.state));
    PetscCall(PetscLogEventBegin(event, a, 0, 0, 0));
    PetscCall(PetscSFBcastEnd(forest, MPIU_SCALAR, staged.data(), ghosts.data(), MPI_REPLACE));
    PetscCall(staged.close(false));
    PetscCall(PetscLogEventEnd(event, a, 0, 0, 0));
    if (parts.ghosts > 0) {
      PetscCall(
          parts.off_diagonal->multiply(parts.off_diagonal_block, op, ghosts, 1.0, y, parts.state));
    }
  } else {
    if (parts.ghosts > 0) {
      PetscCall(parts.off_diagonal->multiply(parts.off_diagonal_block, op, *x, 0.0, &ghosts,
                                             parts.state));
    }
    PetscCall(parts.diagonal->multiply(parts.diagonal_block, op, *x, beta, y, parts.state));
    PetscCall(PetscLogEventBegin(event, a, 0, 0, 0));
    PetscCall(staged.open());
    PetscCall(PetscSFReduceWithMemTypeBegin(forest, MPIU_SCALAR, ghosts.type(), ghosts.data(),
                                            y->type(), staged.data(), MPIU_SUM));
    PetscCall(PetscSFReduceEnd(forest, MPIU_SCALAR, ghosts.data(), staged.data(), MPIU_SUM));
    PetscCall(staged.close(true));
    PetscCall(PetscLogEventEnd(event, a, 0, 0, 0));
  }
  PetscCall(ghosts.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_mpiaijlanky(Mat a) {
  PetscFunctionBegin;
  PetscCall(MatSetType(a, MATMPIAIJ));
  PetscCall(mpiaij_to_lanky(a, MATMPIAIJLANKY, MAT_INPLACE_MATRIX, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace lanky_petsc
