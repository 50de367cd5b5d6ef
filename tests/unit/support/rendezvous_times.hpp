// The tables of docs/results/rendezvous-model.md: what one exchange takes with each protocol, at the sizes of RV's figures.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "tests/unit/support/model_exchange.hpp"

namespace sluice {

/// A value is computed when it is first asked for.
class RendezvousTimes {
 public:
  enum Column : std::size_t { rput, getcqe, get, putnr_worst, put_worst, put };
  static constexpr std::array<std::size_t, 6> sizes{1024, 2048, 4096, 8192, 16384, 32768};
  static constexpr std::size_t columns = 6;

  /// Protocol, size and last bytes of `exchange` are those of the columns.
  explicit RendezvousTimes(const ModelExchange& exchange, const AdapterKnobs& knobs = machine_of_rv())
      : exchange_(exchange), knobs_(knobs) {}

  /// ns, at a size of that number.
  double at(Column column, std::size_t size);
  std::string table();
  /// A line of it.
  std::string row(std::size_t size);
  /// A line of the table of gains: how much less time the fast one takes, at most.
  std::string gain(const char* claim, const char* paper, Column slow, Column fast);

 private:
  const ModelExchange exchange_;
  const AdapterKnobs knobs_;
  std::array<std::array<double, sizes.size()>, columns> times_{};  // 0: not known yet
};

/// Of section 4.1, figures 6, 7, 8 and 11.
RendezvousTimes bowtie_times();
std::string bowtie_tables(RendezvousTimes& times);

/// BOWTIE with receives that are posted ahead: what is taken without being asked for, beside what is forced.
double ahead_time(Rendezvous protocol, std::size_t bytes);
std::string ahead_table();

/// Of section 4.2.2, figure 9. The paper does not say what carries messages between processes of one adapter.
enum class InsideANode : bool { by_the_adapter, beside_it };
RendezvousTimes alltoall_times(InsideANode inside = InsideANode::by_the_adapter);
std::string alltoall_tables(RendezvousTimes& by_the_adapter, RendezvousTimes& beside_it);

}  // namespace sluice
