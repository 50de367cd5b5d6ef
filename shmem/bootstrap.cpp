#include "shmem/bootstrap.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "runtime/process/descriptor_room.hpp"
#include "shmem/hello.hpp"

namespace sluice {

namespace {

using std::chrono::steady_clock;

Token random_token() {
  Token token{};
  if (::getrandom(token.data(), sizeof token, 0) != static_cast<ssize_t>(sizeof token)) throw_errno("getrandom");
  return token;
}

std::array<char, 40> random_name() {
  const Token token = random_token();
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "sluice-%016llx%016llx", static_cast<unsigned long long>(token[0]),
                static_cast<unsigned long long>(token[1]));
  return name;
}

struct AbstractName {
  explicit AbstractName(const std::array<char, 40>& name) {
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  static constexpr socklen_t bytes = offsetof(sockaddr_un, sun_path) + 1 + 40;
  sockaddr_un address{};
};

Descriptor unix_socket() {
  return Descriptor(checked(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket"));
}

/// Process at the other end of a socket; throws when it belongs to another user.
pid_t check_user(const Descriptor& socket) {
  ucred other{};
  socklen_t bytes = sizeof other;
  checked(::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &other, &bytes), "getsockopt(SO_PEERCRED)");
  if (other.uid != ::getuid()) throw std::runtime_error("it belongs to user " + std::to_string(other.uid));
  return other.pid;
}

}  // namespace

/// Phase 2. Toward an earlier process: call → greet → wait for its greeting. Toward a later one: accept → wait for its greeting →
/// greet.
class ShmemBootstrap::Handshake {
 public:
  Handshake(ShmemBootstrap& bootstrap, std::span<const ShmemAddress> addresses)
      : b_(bootstrap), addresses_(addresses), stages_(addresses.size(), Stage::expected) {
    std::fill_n(stages_.begin(), b_.self_, Stage::to_call);
    stages_[b_.self_] = Stage::met;
  }

  void run() {
    for (std::size_t index = 0; index < addresses_.size(); index++) attempt(index, [&] { check_address(index); });
    while (auto missing = first_missing()) {
      if (steady_clock::now() > b_.options_.deadline) fail(*missing, "it did not answer in time");
      call_all();
      wait();
      accept_all();
      hear_unauthenticated();
      hear_called();
    }
  }

 private:
  enum class Stage : std::uint8_t { to_call, expected, called, met };

  [[nodiscard]] std::optional<std::size_t> first_missing() const {
    const auto found = std::find_if(stages_.begin(), stages_.end(), [](Stage stage) { return stage != Stage::met; });
    if (found == stages_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - stages_.begin());
  }

  [[noreturn]] void fail(std::size_t index, const std::string& cause) const {
    throw std::runtime_error("rank " + std::to_string(static_cast<int>(b_.options_.local[index])) + " (process " +
                             std::to_string(addresses_[index].pid) + "): " + cause);
  }

  template <typename Step>
  void attempt(std::size_t index, Step&& step) const {
    std::string cause;
    try {
      return step();
    } catch (const std::exception& error) {
      cause = error.what();
    }
    fail(index, cause);
  }

  void check_address(std::size_t index) const {
    const ShmemAddress& its = addresses_[index];
    if (its.layout == 0) throw std::runtime_error("it cannot share memory");
    if (its.layout != b_.address_.layout) throw std::runtime_error("it runs another version of Sluice");
    if (its.uid != b_.address_.uid) throw std::runtime_error("it belongs to user " + std::to_string(its.uid));
  }

  void call_all() {
    for (std::size_t index = 0; index < b_.self_; index++) {
      if (stages_[index] == Stage::to_call) attempt(index, [&] { call(index); });
    }
  }

  void call(std::size_t index) {
    Descriptor socket = unix_socket();
    if (::connect(socket.get(), AbstractName(addresses_[index].name).get(), AbstractName::bytes) != 0) {
      if (errno == EAGAIN || errno == EINTR) return;  // its queue is full: again in the next round
      if (errno != ECONNREFUSED) throw_errno("connect");
      throw std::runtime_error("nobody listens there: it ended, or it is on another host or in another network namespace");
    }
    b_.peers_[index].pid = check_user(socket);
    greet(socket, index);
    b_.peers_[index].socket = DescriptorRoom::moved_up(std::move(socket));
    stages_[index] = Stage::called;
  }

  void greet(const Descriptor& socket, std::size_t index) const {
    Hello hello;
    hello.magic = Hello::expected_magic;
    hello.token_address = reinterpret_cast<std::uintptr_t>(&b_.inbox_.identity().token);
    hello.sender = b_.address_.token;
    hello.receiver = addresses_[index].token;
    hello.index = static_cast<std::uint32_t>(b_.self_);
    hello.has_alias_file = b_.options_.alias_file >= 0 ? 1 : 0;
    send_hello(socket, hello, b_.inbox_file_.get(), b_.helper_bell_.get(), b_.options_.alias_file);
  }

  void wait() {
    std::vector<pollfd> watched{{b_.listener_.get(), POLLIN, 0}};
    for (const Descriptor& caller : unauthenticated_) watched.push_back({caller.get(), POLLIN, 0});
    for (std::size_t index = 0; index < stages_.size(); index++) {
      if (stages_[index] == Stage::called) watched.push_back({b_.peers_[index].socket.get(), POLLIN, 0});
    }
    constexpr std::chrono::milliseconds retry{5};
    constexpr std::chrono::milliseconds look_at_deadline{100};
    const bool again = std::find(stages_.begin(), stages_.end(), Stage::to_call) != stages_.end();
    ::poll(watched.data(), watched.size(), static_cast<int>((again ? retry : look_at_deadline).count()));
  }

  void accept_all() {
    int fd = -1;
    while ((fd = ::accept4(b_.listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
      unauthenticated_.emplace_back(fd);
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) throw_errno("accept");
  }

  /// Accepted connections say who they are. One that is none of ours is dropped.
  void hear_unauthenticated() {
    std::erase_if(unauthenticated_, [&](Descriptor& caller) {
      Hello hello;
      HelloDescriptors descriptors;
      pid_t pid = 0;
      try {
        pid = check_user(caller);
        if (!receive_hello(caller, hello, descriptors)) return false;
      } catch (const std::exception&) {
        return true;
      }
      if (hello.index >= stages_.size() || stages_[hello.index] != Stage::expected || !is_genuine(hello)) return true;
      attempt(hello.index, [&] {
        greet(caller, hello.index);
        b_.peers_[hello.index].socket = DescriptorRoom::moved_up(std::move(caller));
        b_.peers_[hello.index].pid = pid;
        meet(hello, std::move(descriptors));
      });
      return true;
    });
  }

  void hear_called() {
    for (std::size_t index = 0; index < b_.self_; index++) {
      if (stages_[index] != Stage::called) continue;
      attempt(index, [&] {
        Hello hello;
        HelloDescriptors descriptors;
        if (!receive_hello(b_.peers_[index].socket, hello, descriptors)) return;
        if (hello.index != index || !is_genuine(hello)) throw std::runtime_error("it does not know the job's tokens");
        meet(hello, std::move(descriptors));
      });
    }
  }

  [[nodiscard]] bool is_genuine(const Hello& hello) const {
    return hello.sender == addresses_[hello.index].token && hello.receiver == b_.address_.token;
  }

  void meet(const Hello& hello, HelloDescriptors descriptors) {
    ShmemPeer& peer = b_.peers_[hello.index];
    peer.inbox = Inbox::open(descriptors.inbox, addresses_.size(), hello.sender);
    peer.helper_bell = DescriptorRoom::moved_up(std::move(descriptors.helper_bell));
    if (hello.has_alias_file != 0) peer.alias_file = DescriptorRoom::moved_up(std::move(descriptors.alias_file));
    peer.token_address = hello.token_address;
    stages_[hello.index] = Stage::met;
  }

  ShmemBootstrap& b_;
  std::span<const ShmemAddress> addresses_;
  std::vector<Stage> stages_;
  std::vector<Descriptor> unauthenticated_;
};

ShmemBootstrap::ShmemBootstrap(Options options) : options_(std::move(options)) {
  const auto& local = options_.local;
  const auto own = std::find(local.begin(), local.end(), options_.self);
  if (own == local.end()) throw std::runtime_error("this process is not in the list of the processes of its node");
  self_ = static_cast<std::size_t>(own - local.begin());
  address_ = {layout_fingerprint(), ::getpid(), ::getuid(), random_token(), random_name()};
  inbox_ = Inbox::create(local.size(), address_.token, inbox_file_);
  helper_bell_ = DescriptorRoom::moved_up(Descriptor(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")));
  listener_ = unix_socket();
  checked(::bind(listener_.get(), AbstractName(address_.name).get(), AbstractName::bytes), "bind of an abstract socket");
  checked(::listen(listener_.get(), static_cast<int>(local.size())), "listen");
}

ShmemBootstrap::~ShmemBootstrap() = default;

void ShmemBootstrap::connect(std::span<const ShmemAddress> addresses) {
  if (addresses.size() != options_.local.size()) throw std::runtime_error("addresses do not match the list of processes");
  peers_.clear();
  for (const Peer peer : options_.local) peers_.emplace_back().peer = peer;
  Handshake(*this, addresses).run();
  listener_.reset();
  inbox_file_.reset();
}

}  // namespace sluice
