#include "interpose/mpi/prepared_collective.hpp"

#include "interpose/mpi/errors.hpp"
#include "runtime/datatype/layout.hpp"

namespace sluice {

UserBuffer PreparedBuffers::read(const BufferArgument& buffer) {
  buffer.settle(Access::read);
  const UserBuffer own = buffer.user_buffer();
  if (!is_on_device(buffer)) [[likely]]
    return own;
  kept.push_back(std::make_unique_for_overwrite<std::byte[]>(own.bytes()));
  copy_aside({.from = own, .is_on_device = true, .to = kept.back().get()});
  return {kept.back().get(), own.bytes(), byte_layout()};
}

UserBuffer PreparedBuffers::copied(const UserBuffer& buffer) {
  kept.push_back(std::make_unique_for_overwrite<std::byte[]>(buffer.bytes()));
  copy_aside({.from = buffer, .to = kept.back().get()});
  return {kept.back().get(), buffer.bytes(), byte_layout()};
}

void PreparedBuffers::CopiedAside::copy(const char* call) const {
  if (is_on_device)
    copy_from_device(to, from, call);
  else
    LayoutCursor(from).pack({to, from.bytes()});
}

void PreparedBuffers::copy_aside(const CopiedAside& what) {
  what.copy(site.function());
  copied_aside.push_back(what);
}

UserBuffer PreparedBuffers::write(const BufferArgument& buffer) {
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

UserBuffer PreparedBuffers::exchange(const BufferArgument& buffer) {
  const UserBuffer here = write(buffer);
  if (is_on_device(buffer)) [[unlikely]]
    copy_aside({.from = buffer.user_buffer(), .is_on_device = true, .to = here.base});
  return here;
}

int PreparedCollective::carry_out() {
  const std::size_t bytes = order.bytes;
  order.kept = std::move(kept);
  const int code = sluice::carry_out(communicator, std::move(order), site);
  if (staged && code == MPI_SUCCESS) staged->deliver(bytes);
  return code;
}

int concluded(PreparedBuffers& call, const std::optional<Mismatch>& mismatch, std::size_t bytes, bool is_odd) {
  if (mismatch) [[unlikely]]
    return tell_mismatch(call.communicator, *mismatch, call.site.function());
  if (call.staged) [[unlikely]]
    call.staged->deliver(bytes);
  return is_odd ? raise_error(call.communicator, MPI_ERR_TRUNCATE, call.site.function()) : MPI_SUCCESS;
}

bool PreparedCollective::is_worth_repeating() const {
  const std::size_t short_bytes = Engine::Collectives::most_bytes(2, Description::Kind::bcast);  // as lanes have it
  return can_be_started() && (communicator.carries_all_collectives() || agreed_bytes >= short_bytes);
}

int PreparedCollective::start(MPI_Request* request) {
  order.kept = std::move(kept);
  return start_collective(communicator, std::move(order), std::move(staged), site, request);
}

}  // namespace sluice
