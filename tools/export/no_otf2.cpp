// In place of otf2.cpp in a build without the OTF2 library.
#include <stdexcept>

#include "tools/export/formats.hpp"

namespace sluice {

std::string_view why_no_otf2() { return "this sluice was built without the OTF2 library (Debian: libotf2-trace-dev)"; }

void export_otf2(const Trace&, const std::filesystem::path&, Progress&) { throw std::logic_error(std::string(why_no_otf2())); }

}  // namespace sluice
