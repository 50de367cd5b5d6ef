// All ways of large messages: which one takes a message, and which one hears of what arrives for it.
//
// Owns the list. It moves nothing, and knows none of them by name.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/rendezvous/way.hpp"

namespace sluice {

class Ways {
 public:
  class Host {
   public:
    virtual void finish(Request& request) = 0;
    /// The receiver has read the message, or a part of it, and handed its lines back or not.
    virtual void read_by_peer(const Request& send, bool handed_back) = 0;

   protected:
    ~Host() = default;
  };

  /// Of two that ask for the same, the first one is taken. One of them is always possible.
  Ways(Host& host, std::vector<Way*> ways) : host_(host), ways_(std::move(ways)) {}

  /// The receive has met its message, or the way that had it could not go on.
  void begin(Request& receive, std::size_t coming);
  /// These three check nothing: wire_check.hpp has done that.
  void cleared(Request& send, const ClearToSend& clear);
  void refused(Request& receive, std::size_t offset);
  void ended(Request& request, std::uint8_t flags);

 private:
  [[nodiscard]] Way* carrier_of(const Request& request) const;

  Host& host_;
  const std::vector<Way*> ways_;
};

}  // namespace sluice
