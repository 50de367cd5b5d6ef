// rendezvous_model: the tables of docs/results/rendezvous-model.md, from the model of an adapter. The same figures in each run.

#include <cstdio>

#include "tests/unit/support/rendezvous_times.hpp"

int main() {
  using namespace sluice;
  RendezvousTimes bowtie = bowtie_times();
  std::printf("BOWTIE\n\n%s\n", bowtie_tables(bowtie).c_str());
  std::printf("receives posted ahead\n\n%s\n", ahead_table().c_str());
  RendezvousTimes by_the_adapter = alltoall_times(InsideANode::by_the_adapter);
  RendezvousTimes beside_it = alltoall_times(InsideANode::beside_it);
  std::printf("all-to-all\n\n%s", alltoall_tables(by_the_adapter, beside_it).c_str());
  return 0;
}
