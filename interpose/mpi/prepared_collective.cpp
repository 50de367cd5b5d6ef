#include "interpose/mpi/prepared_collective.hpp"

#include <cstring>

namespace sluice {

UserBuffer PreparedCollective::read(const BufferArgument& buffer) {
  buffer.settle(Access::read);
  const UserBuffer own = buffer.user_buffer();
  if (!is_on_device(buffer)) [[likely]]
    return own;
  order.kept.push_back(copy_from_device(own, site.function()));
  return {order.kept.back().get(), own.bytes(), byte_layout()};
}

UserBuffer PreparedCollective::write(const BufferArgument& buffer) {
  buffer.settle(Access::write);
  const UserBuffer own = buffer.user_buffer();
  if (!is_on_device(buffer)) [[likely]]
    return own;
  auto block = std::make_unique<StagedReceive>(own, site.function());
  const UserBuffer here = block->buffer();
  block->add(std::move(staged));
  staged = std::move(block);
  return here;
}

UserBuffer PreparedCollective::exchange(const BufferArgument& buffer) {
  UserBuffer here = write(buffer);
  if (is_on_device(buffer)) [[unlikely]] {
    const auto copy = copy_from_device(buffer.user_buffer(), site.function());
    std::memcpy(here.base, copy.get(), here.bytes());
  }
  return here;
}

int PreparedCollective::carry_out() {
  const std::size_t bytes = order.bytes;
  const int code = sluice::carry_out(communicator, std::move(order), site);
  if (staged && code == MPI_SUCCESS) staged->deliver(bytes);
  return code;
}

int PreparedCollective::concluded(const std::optional<Mismatch>& mismatch, std::size_t bytes) {
  if (mismatch) [[unlikely]]
    return tell_mismatch(communicator, *mismatch, site.function());
  if (staged) [[unlikely]]
    staged->deliver(bytes);
  return MPI_SUCCESS;
}

int PreparedCollective::start(MPI_Request* request) {
  return start_collective(communicator, std::move(order), std::move(staged), site, request);
}

}  // namespace sluice
