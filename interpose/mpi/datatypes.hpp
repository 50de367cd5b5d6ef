// Datatypes of the host as the engine sees them: a handle leads to the layout of its type.
//
// A type is decoded on its first use in a message and remembered until MPI_Type_free. Whether a type may be used at all
// (committed, available in this build, not null) has no public query, so the host is asked the only way there is: by a
// send of it to MPI_PROC_NULL. Types that it refuses are not remembered; the call goes to the host, which raises the error.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "runtime/datatype/layout.hpp"

namespace sluice {

struct FlatType {
  std::size_t size = 0;  // packed bytes of one element
  /// Any count is a gapless range that starts at the address of the buffer.
  bool simple = false;
  std::shared_ptr<const Layout> layout;
};

/// Before the first flat_type, after the host's MPI_Init: makes the private communicator that the host is asked on.
void open_datatypes();
/// In MPI_Finalize. From here on (and before open_datatypes) flat_type knows no type that it has not seen yet.
void close_datatypes();

/// nullptr when the type can't be used in a message: the host must see the call. [any thread]
///
/// Lock-free for types used before, about 2 ns. The result is valid during the MPI call that asked: only MPI_Type_free of
/// this very type ends it, and a program may not free a handle that another thread is passing to a call. What outlives the
/// call (a pending or persistent request) keeps `layout`.
const FlatType* flat_type(MPI_Datatype type);

/// MPI_Type_free, while the host frees the type, after which the handle may name another one. The host calls the program's
/// delete callbacks, in which the type can be used as ever, but the host has forgotten how it was made. So the calling thread
/// keeps what is known of it until then, and the table does not. [any thread]
class TypeFree {
 public:
  explicit TypeFree(MPI_Datatype type);
  ~TypeFree();
  TypeFree(const TypeFree&) = delete;
  TypeFree& operator=(const TypeFree&) = delete;

  /// Of the calling thread; nullptr when it is not about to free the type.
  static TypeFree* find(MPI_Datatype type);
  [[nodiscard]] FlatType& flat() { return flat_; }

 private:
  MPI_Datatype type_;
  FlatType flat_;  // without a layout as long as the type was in no message
  TypeFree* outer_;
};

}  // namespace sluice
