// The arguments of sends and receives, checked once for the blocking, nonblocking and persistent forms.
#pragma once

#include "interpose/mpi/arguments.hpp"

namespace sluice {

class SendArguments {
 public:
  SendArguments(const void* buffer, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
      : communicator_(adopted(comm)), buffer_(buffer, count, type), to_(to), tag_(tag) {}

  /// Sluice carries this send: everything is in order, and there is a receiver.
  [[nodiscard]] bool carried() const { return in_order() && communicator_->has_rank(to_); }
  /// Everything is in order and nothing is to be sent.
  [[nodiscard]] bool to_no_process() const { return to_ == MPI_PROC_NULL && in_order(); }

  [[nodiscard]] Communicator& communicator() const { return *communicator_; }
  [[nodiscard]] const BufferArgument& buffer() const { return buffer_; }
  [[nodiscard]] Rank to() const { return Rank{to_}; }
  [[nodiscard]] Tag tag() const { return Tag{tag_}; }

 private:
  [[nodiscard]] bool in_order() const { return communicator_ && buffer_.valid() && valid_send_tag(tag_); }

  Communicator* communicator_;
  BufferArgument buffer_;
  int to_;
  int tag_;
};

/// A blocking send that Sluice carries.
inline void send_now(const SendArguments& send, SendMode mode, CallSite site) {
  Context& context = *send.communicator().context;
  const BufferArgument& buffer = send.buffer();
  if (buffer.simple()) {
    engine().send(context, send.to(), send.tag(), buffer.address(), buffer.bytes(), mode, site);
  } else {
    engine().send(context, send.to(), send.tag(), buffer.user_buffer(), mode, site);
  }
}

class ReceiveArguments {
 public:
  ReceiveArguments(void* buffer, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm)
      : communicator_(adopted(comm)), buffer_(buffer, count, type), from_(from), tag_(tag) {}

  [[nodiscard]] bool carried() const { return in_order() && valid_source(*communicator_, from_); }
  [[nodiscard]] bool from_no_process() const { return from_ == MPI_PROC_NULL && in_order(); }

  [[nodiscard]] Communicator& communicator() const { return *communicator_; }
  [[nodiscard]] const BufferArgument& buffer() const { return buffer_; }
  [[nodiscard]] Rank from() const { return Rank{from_}; }
  [[nodiscard]] Tag tag() const { return Tag{tag_}; }

 private:
  [[nodiscard]] bool in_order() const { return communicator_ && buffer_.valid() && valid_receive_tag(tag_); }

  Communicator* communicator_;
  BufferArgument buffer_;
  int from_;
  int tag_;
};

}  // namespace sluice
