#include "exchange.hpp"

namespace lanky_petsc {
namespace {

/// The forest from this rank's ghosts to the entries of X that they are copies of.
PetscErrorCode ghost_forest(Mat mpiaij, PetscSF* forest) {
  const PetscInt* columns = nullptr;
  Mat off_diagonal = nullptr;
  PetscInt ghosts = 0;
  PetscLayout layout = nullptr;
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(mpiaij, nullptr, &off_diagonal, &columns));
  PetscCall(MatGetSize(off_diagonal, nullptr, &ghosts));
  PetscCall(MatGetLayouts(mpiaij, nullptr, &layout));
  PetscCall(PetscSFCreate(PetscObjectComm(object_of(mpiaij)), forest));
  PetscCall(PetscSFSetGraphLayout(*forest, layout, ghosts, nullptr, PETSC_OWN_POINTER, columns));
  PetscCall(PetscSFSetUp(*forest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode find_neighbours(Mat mpiaij, Neighbours* neighbours) {
  SfCount owners = 0, borrowers = 0;
  const PetscMPIInt* ranks = nullptr;
  const PetscInt* begins = nullptr;
  const PetscInt* entries = nullptr;
  PetscSF forest = nullptr;
  PetscFunctionBegin;
  PetscCall(ghost_forest(mpiaij, &forest));
  *neighbours = Neighbours{};
  neighbours->comm = PetscObjectComm(object_of(mpiaij));
  PetscCall(PetscCommGetNewTag(neighbours->comm, &neighbours->tag));
  const auto peers = [&](SfCount count) {
    std::vector<Neighbours::Peer> found;
    found.reserve(static_cast<std::size_t>(count));
    for (SfCount k = 0; k < count; ++k)
      found.push_back({ranks[k], begins[k], begins[k + 1] - begins[k]});
    return found;
  };
  // Ghosts ascend by their global columns, and so do ranks: an owner's ghosts stand together.
  PetscCall(PetscSFGetRootRanks(forest, &owners, &ranks, &begins, nullptr, nullptr));
  PetscCall(guarded([&] { neighbours->owners = peers(owners); }));
  neighbours->ghosts = owners > 0 ? begins[owners] : 0;
  PetscCall(PetscSFGetLeafRanks(forest, &borrowers, &ranks, &begins, &entries));
  PetscCall(guarded([&] {
    neighbours->borrowers = peers(borrowers);
    if (borrowers > 0) {
      neighbours->wanted = PackedRows(std::vector<PetscInt>(entries, entries + begins[borrowers]));
    }
  }));
  PetscCall(PetscSFDestroy(&forest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Exchange::Exchange(Neighbours* neighbours, PetscInt columns, const lanky::Stream& stream)
    : neighbours_(*neighbours),
      columns_(columns),
      columns_stream_(stream),
      stream_(on_device() && use_gpu_aware_mpi && stream.native() == nullptr
                  ? own_stream(stream.device(), Urgency::normal)
                  : stream),
      beside_(on_device() ? own_stream(stream.device(), Urgency::urgent) : stream),
      packed_(stream, std::int64_t{neighbours_.wanted.size()} * columns),
      ghosts_(stream, std::int64_t{neighbours_.ghosts} * columns) {}

PetscErrorCode Exchange::connect() {
  const auto& owners = neighbours_.owners;
  const auto& borrowers = neighbours_.borrowers;
  PetscFunctionBegin;
  PetscCall(make_requests(MPI_Recv_init, owners, ghosts_, &bcast_.receives));
  PetscCall(make_requests(MPI_Send_init, borrowers, packed_, &bcast_.sends));
  PetscCall(make_requests(MPI_Recv_init, borrowers, packed_, &reduce_.receives));
  PetscCall(make_requests(MPI_Send_init, owners, ghosts_, &reduce_.sends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Exchange::enter() {
  PetscFunctionBegin;
  PetscCall(guarded([&] { order(columns_stream_, stream_); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Exchange::leave() {
  PetscFunctionBegin;
  PetscCall(guarded([&] { order(stream_, columns_stream_); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Exchange::~Exchange() {
  for (Messages* messages : {&bcast_, &reduce_}) {
    for (auto* requests : {&messages->receives, &messages->sends}) {
      for (MPI_Request& request : *requests)
        static_cast<void>(MPI_Request_free(&request));
    }
  }
}

Exchange::Side::Side(const lanky::Stream& stream, std::int64_t entries)
    : size(entries), here(stream.device().is_cuda() ? Memory::Kind::device : Memory::Kind::host) {
  here.at_least(size);
  if (stream.device().is_cuda() && !use_gpu_aware_mpi) on_host.at_least(size);
}

template <class Init>
PetscErrorCode Exchange::make_requests(Init* init, const std::vector<Neighbours::Peer>& peers,
                                       const Side& side, std::vector<MPI_Request>* requests) const {
  PetscFunctionBegin;
  for (const auto& peer : peers) {
    const std::int64_t size = std::int64_t{peer.count} * columns_;
    PetscCheck(size <= PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "lanky: %" PetscInt_FMT " rows of %" PetscInt_FMT
               " columns between two ranks; MPI takes at most 2^31 - 1 entries at once",
               peer.count, columns_);
    MPI_Request request = MPI_REQUEST_NULL;
    PetscCallMPI(init(side.message() + std::ptrdiff_t{peer.begin} * columns_,
                      static_cast<PetscMPIInt>(size), MPIU_SCALAR, peer.rank, neighbours_.tag,
                      neighbours_.comm, &request));
    PetscCall(guarded([&] { requests->push_back(request); }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

Columns Exchange::ghosts() const {
  return {ghosts_.here.data(), on_device() ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST,
          neighbours_.ghosts, columns_};
}

PetscErrorCode Exchange::start(Messages* messages) const {
  auto& receives = messages->receives;
  auto& sends = messages->sends;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Startall_irecv(static_cast<PetscInt>(messages->to.size), MPIU_SCALAR,
                                  static_cast<PetscMPIInt>(receives.size()), receives.data()));
  PetscCallMPI(MPI_Startall_isend(static_cast<PetscInt>(messages->from.size), MPIU_SCALAR,
                                  static_cast<PetscMPIInt>(sends.size()), sends.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On the host messages start at once. On a GPU they start in end(), when the stream beside has
/// come to the mark that is set here: what was given before it may still use the memory of either
/// side.
PetscErrorCode Exchange::begin(Messages* messages) {
  PetscFunctionBegin;
  if (!on_device()) {
    PetscCall(start(messages));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Side& from = messages->from;
  PetscCall(guarded([&] {
    if (from.staged()) copy_across(beside_, from.here.data(), from.size, from.on_host.data());
    mark_.record(beside_);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Exchange::end(Messages* messages) {
  PetscFunctionBegin;
  if (on_device()) {
    PetscCall(guarded([&] { mark_.synchronize(); }));
    PetscCall(start(messages));
  }
  for (auto* requests : {&messages->receives, &messages->sends}) {
    PetscCallMPI(MPI_Waitall(static_cast<PetscMPIInt>(requests->size()), requests->data(),
                             MPI_STATUSES_IGNORE));
  }
  const Side& to = messages->to;
  if (to.staged()) {
    PetscCall(guarded([&] { copy_across(beside_, to.on_host.data(), to.size, to.here.data()); }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// X is packed beside its stream, so that the diagonal block does not wait for that.
PetscErrorCode Exchange::bcast_begin(const Columns& x) {
  PetscFunctionBegin;
  PetscCall(guarded([&] {
    order(stream_, beside_);
    neighbours_.wanted.gather(x, packed_.here.data(), beside_);
  }));
  PetscCall(begin(&bcast_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Exchange::bcast_end() {
  return end(&bcast_);
}

PetscErrorCode Exchange::reduce_begin() {
  PetscFunctionBegin;
  PetscCall(guarded([&] { order(stream_, beside_); }));
  PetscCall(begin(&reduce_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Exchange::reduce_end(Columns* y) {
  PetscFunctionBegin;
  PetscCall(end(&reduce_));
  PetscCall(guarded([&] {
    order(beside_, stream_);
    neighbours_.wanted.add(packed_.here.data(), *y, stream_);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace lanky_petsc
