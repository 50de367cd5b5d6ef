// The one message that two processes of a node send each other over their socket: who they are, and their descriptors.
#pragma once

#include <array>
#include <cstdint>

#include "shmem/inbox.hpp"

namespace sluice {

struct Hello {
  std::uint64_t magic = 0;
  std::uint64_t token_address = 0;  // of InboxIdentity::token in the sender's memory
  Token sender{};
  Token receiver{};         // shows that the sender was given the receiver's address by the job
  std::uint32_t index = 0;  // of the sender among the processes of the node
  std::uint32_t has_alias_file = 0;

  static constexpr std::uint64_t expected_magic = 0x31656369756c73;  // "sluice1"
};

struct HelloDescriptors {
  Descriptor inbox;
  Descriptor helper_bell;
  Descriptor alias_file;
};

/// Sends `hello` with the descriptors; alias_file may be -1. Throws when the socket does not take it at once.
void send_hello(const Descriptor& socket, const Hello& hello, int inbox, int helper_bell, int alias_file);

/// False when nothing has come yet. Throws when the peer is gone or what came is no hello.
bool receive_hello(const Descriptor& socket, Hello& hello, HelloDescriptors& descriptors);

}  // namespace sluice
