// Blocked sends over a network: what has not left yet is copied to a bounce buffer, and the call returns.
//
// A link takes a message slowly (160 KB in 1.3 ms at 1 Gbit/s), and its receiver may be slow to ask for it; a copy takes 20 µs.
// A send in standard mode may have been buffered, so nobody can tell. Done only after a wait that was as long as the copy: on a
// fast link the message is gone by then. Inside a node the copy would cost as much as the transfer; there sends can be released
// behind write protection (releases.hpp).
//
// The copy goes to memory that is new to the process, 4 MB in 2 ms, which is what a socket holds at 2 Gbit/s. So it is made
// segment by segment, with the engine's other work in between: requests for data are answered, and no link runs dry.
//
// The request goes on by itself, as a detached one, once its call has returned.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "runtime/engine/job.hpp"
#include "runtime/engine/lock.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/engine/statistics.hpp"

namespace sluice {

using Lock = std::unique_lock<EngineLock>;

class BouncedSends {
 public:
  class Host {
   public:
    /// All other work of the engine, once; may give the lock up.
    virtual void progress(Lock& lock) = 0;

   protected:
    ~Host() = default;
  };

  /// What all sends of the process may have in bounce buffers.
  static constexpr std::size_t max_bytes = std::size_t{16} << 20;

  /// `bytes`: of these buffers, counted down by who ends a send.
  BouncedSends(const Job& job, Host& host, std::size_t& bytes, EngineStatistics& statistics)
      : job_(job), host_(host), bytes_(bytes), statistics_(statistics) {}

  /// Those of the requests that are open and may be, after a wait of so long. Their call need not wait for them any longer.
  void bounce(Lock& lock, std::span<Request* const> requests, std::uint64_t waited_ns);

 private:
  [[nodiscard]] bool may_bounce(const Request& send, std::uint64_t waited_ns) const;
  void bounce(Lock& lock, Request& send);

  const Job& job_;
  Host& host_;
  std::size_t& bytes_;
  EngineStatistics& statistics_;
};

}  // namespace sluice
