// putnr and put: the receiver announces its buffer, the sender writes, and the receiver sees the end in the last byte. The two
// differ in what is in that byte before.
#pragma once

#include "runtime/rendezvous/rdma_way.hpp"

namespace sluice {

class Putnr : public RdmaProtocol {
 public:
  [[nodiscard]] Rendezvous kind() const override { return Rendezvous::putnr; }
  void begin(RdmaWay& way, Request& receive) const override;
  void cleared(RdmaWay& way, Request& send) const override;
  void all_posted(RdmaWay& way, Request& send) const override;
  void all_complete(RdmaWay& way, Request& send) const override;

 protected:
  ~Putnr() = default;

 private:
  /// What the last byte of a receive buffer is to be before the message.
  [[nodiscard]] virtual std::byte first_value(RdmaWay& way) const;
};

}  // namespace sluice
