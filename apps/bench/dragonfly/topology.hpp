// Who is joined with whom in a balanced dragonfly (Kim, Dally, Scott, Abts, ISCA '08): each two routers of a group, and each two
// groups, by one link. Ports of a router: its nodes, the other routers of its group, its global links.
#pragma once

#include <cstdint>

#include "apps/bench/dragonfly/settings.hpp"

namespace sluice::dragonfly {

class Topology {
 public:
  explicit Topology(const Settings& settings)
      : h_(settings.global_links),
        local_ticks_(settings.local_cycles * ticks_per_cycle),
        global_ticks_(settings.global_cycles * ticks_per_cycle),
        node_ticks_(settings.node_cycles * ticks_per_cycle),
        pipeline_ticks_(settings.pipeline_cycles * ticks_per_cycle) {}

  [[nodiscard]] unsigned nodes_of_router() const { return h_; }
  [[nodiscard]] unsigned routers_of_group() const { return 2 * h_; }
  [[nodiscard]] unsigned groups() const { return 2 * h_ * h_ + 1; }
  [[nodiscard]] unsigned routers() const { return groups() * routers_of_group(); }
  [[nodiscard]] unsigned nodes() const { return routers() * nodes_of_router(); }
  [[nodiscard]] unsigned nodes_of_group() const { return routers_of_group() * nodes_of_router(); }
  [[nodiscard]] unsigned ports() const { return 4 * h_ - 1; }

  [[nodiscard]] unsigned router_of(unsigned node) const { return node / h_; }
  [[nodiscard]] unsigned group_of(unsigned router) const { return router / routers_of_group(); }
  [[nodiscard]] unsigned port_of(unsigned node) const { return node % h_; }
  [[nodiscard]] bool is_node_port(unsigned port) const { return port < h_; }
  [[nodiscard]] bool is_global_port(unsigned port) const { return port >= first_global(); }
  [[nodiscard]] unsigned local_port(unsigned router, unsigned other) const {
    const unsigned to = other % routers_of_group();
    return h_ + to - (to > router % routers_of_group() ? 1 : 0);
  }
  /// Which router of `group` has the link to `other`, and at which port.
  [[nodiscard]] unsigned gate(unsigned group, unsigned other) const {
    return group * routers_of_group() + channel(group, other) / h_;
  }
  [[nodiscard]] unsigned gate_port(unsigned group, unsigned other) const { return first_global() + channel(group, other) % h_; }

  struct End {
    unsigned router;
    unsigned port;
  };
  /// Of a port that leads to a router.
  [[nodiscard]] End other_end(unsigned router, unsigned port) const {
    const unsigned group = group_of(router);
    if (!is_global_port(port)) {
      const unsigned index = port - h_;
      const unsigned own = router % routers_of_group();
      const unsigned other = group * routers_of_group() + index + (index >= own ? 1 : 0);
      return {other, local_port(other, router)};
    }
    const unsigned leaving = (router % routers_of_group()) * h_ + port - first_global();
    const unsigned other = (group + leaving + 1) % groups();
    return {gate(other, group), gate_port(other, group)};
  }
  [[nodiscard]] Tick link_ticks(unsigned port) const {
    return is_node_port(port) ? node_ticks_ : is_global_port(port) ? global_ticks_ : local_ticks_;
  }
  /// From the start of a packet at its source until its head is at its destination, if it meets nobody and takes the minimal way.
  [[nodiscard]] Tick head_ticks(unsigned source, unsigned destination) const {
    const unsigned from = router_of(source);
    const unsigned to = router_of(destination);
    Tick ticks = 2 * node_ticks_ + pipeline_ticks_;
    if (from == to) return ticks;
    if (group_of(from) == group_of(to)) return ticks + local_ticks_ + pipeline_ticks_;
    ticks += global_ticks_ + pipeline_ticks_;
    if (gate(group_of(from), group_of(to)) != from) ticks += local_ticks_ + pipeline_ticks_;
    if (gate(group_of(to), group_of(from)) != to) ticks += local_ticks_ + pipeline_ticks_;
    return ticks;
  }

 private:
  [[nodiscard]] unsigned first_global() const { return 3 * h_ - 1; }
  /// Global links of a group are numbered by how far the other group is.
  [[nodiscard]] unsigned channel(unsigned group, unsigned other) const { return (other + groups() - group - 1) % groups(); }

  unsigned h_;
  Tick local_ticks_;
  Tick global_ticks_;
  Tick node_ticks_;
  Tick pipeline_ticks_;
};

}  // namespace sluice::dragonfly
