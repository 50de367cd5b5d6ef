#include "shmem/hello.hpp"

#include <sys/socket.h>

#include <cstring>
#include <stdexcept>

namespace sluice {

namespace {

constexpr std::size_t max_descriptors = 3;

struct ControlBuffer {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(max_descriptors * sizeof(int))> bytes{};
};

/// Takes ownership of every descriptor that came with the message.
std::array<Descriptor, max_descriptors> take_descriptors(msghdr& message) {
  std::array<Descriptor, max_descriptors> taken;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; i++) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      Descriptor descriptor(fd);
      if (i < taken.size()) taken[i] = std::move(descriptor);
    }
  }
  return taken;
}

}  // namespace

void send_hello(const Descriptor& socket, const Hello& hello, int inbox, int helper_bell, int alias_file) {
  Hello copy = hello;
  iovec payload{&copy, sizeof copy};
  ControlBuffer control;
  const std::array<int, max_descriptors> descriptors{inbox, helper_bell, alias_file};
  const std::size_t descriptor_bytes = (alias_file < 0 ? 2 : 3) * sizeof(int);
  msghdr message{};
  message.msg_iov = &payload;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = CMSG_SPACE(descriptor_bytes);
  cmsghdr* part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(descriptor_bytes);
  std::memcpy(CMSG_DATA(part), descriptors.data(), descriptor_bytes);
  const ssize_t sent = checked(::sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT), "sendmsg");
  if (static_cast<std::size_t>(sent) != sizeof copy) throw std::runtime_error("sendmsg sent only a part of the greeting");
}

bool receive_hello(const Descriptor& socket, Hello& hello, HelloDescriptors& descriptors) {
  iovec payload{&hello, sizeof hello};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &payload;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  const ssize_t received = ::recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (received < 0) throw_errno("recvmsg");
  auto taken = take_descriptors(message);
  if (received == 0) throw std::runtime_error("it closed the connection");
  if (static_cast<std::size_t>(received) != sizeof hello || hello.magic != Hello::expected_magic) {
    throw std::runtime_error("it sent something else than a greeting");
  }
  if (!taken[0] || !taken[1] || (hello.has_alias_file != 0 && !taken[2])) {
    throw std::runtime_error("its descriptors did not arrive (is the limit of open files reached?)");
  }
  descriptors = {std::move(taken[0]), std::move(taken[1]), std::move(taken[2])};
  return true;
}

}  // namespace sluice
