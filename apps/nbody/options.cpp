#include "apps/nbody/options.hpp"

namespace nbody {

Options parse_options(int argc, char** argv, apps::World world) {
  Options options;
  apps::OptionTable table("nbody", world.rank);
  table.number("--particles", options.particles, "of all ranks together (1024)");
  table.number("--properties", options.properties,
               "numbers that a particle carries along beside position, mass and velocity, 8 bytes each (0)");
  table.common(options);
  table.parse(argc, argv);
  if (options.particles < static_cast<std::size_t>(world.ranks)) table.reject("every rank needs a particle of its own");
  return options;
}

}  // namespace nbody
