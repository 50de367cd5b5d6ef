// rendezvous_model: the tables of docs/results/rendezvous-model.md, from the model of an adapter. The same figures in each run.

#include <cstdio>

#include "tests/unit/support/model_bowtie.hpp"

int main() {
  std::fputs(sluice::BowtieTimes().tables().c_str(), stdout);
  return 0;
}
