// RDMA writes and reads: runtime/transport/rdma.hpp.

#include <algorithm>
#include <cerrno>

#include "runtime/alias/own_pins.hpp"
#include "verbs/transport.hpp"

namespace sluice {
namespace {

constexpr std::size_t max_transfer_bytes = std::size_t{1} << 30;

}  // namespace

std::size_t VerbsTransport::largest_transfer() const {
  return std::min<std::size_t>(device_.port().max_msg_sz, max_transfer_bytes);
}

bool VerbsTransport::register_memory(ByteRange bytes, Registration& registration) {
  if (!device_.register_memory(bytes, registration)) return false;
  own_pins::add(bytes);
  ++counts_.registrations;
  return true;
}

void VerbsTransport::deregister(const Registration& registration) {
  device_.deregister(registration);
  own_pins::remove(registration.bytes);
}

namespace {

SendQueue::Request transfer(ibv_wr_opcode operation, std::span<const std::byte> local, std::uint32_t local_key,
                            RemoteMemory remote, std::uint64_t token) {
  return {.operation = operation,
          .start = local.data(),
          .bytes = static_cast<std::uint32_t>(local.size()),
          .local_key = local_key,
          .remote_address = remote.address,
          .remote_key = remote.key,
          .token = token};
}

}  // namespace

Rdma* VerbsTransport::loopback(Peer peer) {
  const auto index = static_cast<std::size_t>(peer);
  if (index >= job_.shares_memory.size() || !job_.shares_memory[index] || peer == options_.self) return nullptr;
  return endpoint(peer).state == Endpoint::State::failed ? nullptr : this;
}

bool VerbsTransport::may_read(Peer peer) {
  Endpoint& target = endpoint(peer);
  if (target.state == Endpoint::State::none) call(target);
  return target.may_read();
}

bool VerbsTransport::write(Peer peer, std::span<const std::byte> local, std::uint32_t local_key, RemoteMemory remote,
                           std::uint64_t token) {
  Endpoint& target = endpoint(peer);
  if (!target.may_write()) return refuse(target, Endpoint::write_room);
  ++counts_.writes;
  counts_.bytes_written += local.size();
  post(target, transfer(IBV_WR_RDMA_WRITE, local, local_key, remote, token));
  return true;
}

bool VerbsTransport::read(Peer peer, std::span<std::byte> local, std::uint32_t local_key, RemoteMemory remote,
                          std::uint64_t token) {
  Endpoint& target = endpoint(peer);
  if (!target.may_read()) return refuse(target, Endpoint::read_room);
  ++target.reads;
  ++counts_.reads;
  counts_.bytes_read += local.size();
  post(target, transfer(IBV_WR_RDMA_READ, local, local_key, remote, token));
  return true;
}

}  // namespace sluice
