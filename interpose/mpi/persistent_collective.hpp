// A persistent collective call: prepared once, started again and again as a nonblocking one.
//
// All members make the same calls in one order, so each counts them alike, and messages of the call have that number
// (collective_tags.hpp). In which order a rank starts what it has made is its own affair.
//
// Threading: that of the handle.
#pragma once

#include <cstdint>
#include <memory>

#include "interpose/mpi/handles.hpp"
#include "interpose/mpi/prepared_collective.hpp"

namespace sluice {

class PersistentCollective final : public PersistentOperation {
 public:
  PersistentCollective(PreparedCollective prepared, std::uint32_t number);
  ~PersistentCollective() override;
  PersistentCollective(const PersistentCollective&) = delete;
  PersistentCollective& operator=(const PersistentCollective&) = delete;

  int start(Handle& handle, CallSite site) override;
  [[nodiscard]] bool must_end() const override { return !prepared_.kept.empty(); }
  void take_back(std::unique_ptr<StagedReceive> delivered) override;

 private:
  PreparedCollective prepared_;
};

}  // namespace sluice
