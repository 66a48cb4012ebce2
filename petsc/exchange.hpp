// Entries of X that the product of a distributed matrix needs from other ranks: its ghosts. On a
// GPU the rank packs what others need and goes on with the diagonal block; the host waits for the
// packing alone, and messages travel while the GPU multiplies.
#pragma once

#include <vector>

#include "memory.hpp"
#include "packed_rows.hpp"

namespace lanky_petsc {

/// Who needs which entries, a matter of the matrix's pattern.
struct Neighbours {
  struct Peer {
    PetscMPIInt rank;
    PetscInt begin;  // of the ghosts that come from this rank, or of `wanted` that go there
    PetscInt count;
  };
  std::vector<Peer> owners{};     // of this rank's ghosts, in the order of these
  std::vector<Peer> borrowers{};  // of this rank's entries
  PackedRows wanted{};            // this rank's rows of X, borrower after borrower
  PetscInt ghosts = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  PetscMPIInt tag = 0;
};

/// Collective.
PetscErrorCode find_neighbours(Mat mpiaij, Neighbours* neighbours);

/// The messages of products with so many columns, on the host or on a GPU, in both directions.
/// Packed entries and ghosts stand by rows, so that those of one rank are together.
class Exchange {
 public:
  /// `stream` is the one that columns are computed by. Throws lanky::Error.
  Exchange(Neighbours* neighbours, PetscInt columns, const lanky::Stream& stream);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  /// Makes the requests, before the first message.
  PetscErrorCode connect();

  bool serves(PetscInt columns, const lanky::Stream& stream) const {
    return columns == columns_ && stream == columns_stream_;
  }

  /// A product is between these two, and in this stream: that of the columns or, where that is
  /// CUDA's legacy default stream and MPI copies between GPUs, which may have to wait for it,
  /// another one.
  PetscErrorCode enter();
  PetscErrorCode leave();
  const lanky::Stream& stream() const { return stream_; }

  /// Entries of X set off to be others' ghosts...
  PetscErrorCode bcast_begin(const Columns& x);
  /// ...and are in ghosts(), for work that beside() is given from now on.
  PetscErrorCode bcast_end();
  /// What was written to ghosts() sets off to its owners...
  PetscErrorCode reduce_begin();
  /// ...and is added to Y.
  PetscErrorCode reduce_end(Columns* y);

  /// [ghosts, columns] by rows.
  Columns ghosts() const;
  /// The stream that products with ghosts are to be given: on a GPU, beside that of the product.
  const lanky::Stream& beside() const { return beside_; }

 private:
  /// What messages come from or go to: memory where columns are and, where MPI takes none of a GPU,
  /// a copy on the host.
  struct Side {
    Side(const lanky::Stream& stream, std::int64_t size);
    std::int64_t size;
    Memory here;
    Memory on_host{Memory::Kind::pinned};

    bool staged() const { return on_host.data() != nullptr; }
    Element* message() const { return staged() ? on_host.data() : here.data(); }
  };
  /// One of the two directions.
  struct Messages {
    const Side& from;
    const Side& to;
    std::vector<MPI_Request> receives{};  // persistent, as those of PetscSF
    std::vector<MPI_Request> sends{};
  };

  template <class Init>
  PetscErrorCode make_requests(Init* init, const std::vector<Neighbours::Peer>& peers,
                               const Side& side, std::vector<MPI_Request>* requests) const;
  PetscErrorCode start(Messages* messages) const;
  PetscErrorCode begin(Messages* messages);
  PetscErrorCode end(Messages* messages);
  bool on_device() const { return columns_stream_.device().is_cuda(); }

  Neighbours& neighbours_;
  PetscInt columns_;
  lanky::Stream columns_stream_;
  lanky::Stream stream_;
  lanky::Stream beside_;
  Side packed_;
  Side ghosts_;
  Messages bcast_{packed_, ghosts_};
  Messages reduce_{ghosts_, packed_};
  Mark mark_;  // what end() waits for, on a GPU
};

}  // namespace lanky_petsc
