#include "tools/export/otf2_archive.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace sluice {

namespace {

/// The library tells errors on standard error as well, by its own source lines; check() tells the first that matters.
OTF2_ErrorCode silence(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*, va_list) { return code; }

OTF2_FlushType flush_when_full(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
const OTF2_FlushCallbacks flush_callbacks = {flush_when_full, nullptr};

OTF2_Paradigm paradigm_of(std::string_view region) {
  return region.starts_with("MPI_") ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_MEASUREMENT_SYSTEM;
}

/// Only calls that wait for messages of their own are carried; others are the host's.
OTF2_RegionRole role_of(std::string_view region) {
  if (!region.starts_with("MPI_")) return OTF2_REGION_ROLE_ARTIFICIAL;
  for (const std::string_view part : {"send", "recv", "Send", "Recv", "Wait", "Test", "robe", "Start"}) {
    if (region.find(part) != std::string_view::npos) return OTF2_REGION_ROLE_POINT2POINT;
  }
  return OTF2_REGION_ROLE_FUNCTION;
}

}  // namespace

Otf2Archive::Otf2Archive(const std::filesystem::path& directory) {
  OTF2_Error_RegisterCallback(silence, nullptr);
  archive_ = OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                               OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (!archive_) throw std::runtime_error(fmt::format("OTF2 cannot make an archive: {}", std::strerror(errno)));
  check(OTF2_Archive_SetFlushCallbacks(archive_, &flush_callbacks, nullptr));
  check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
  check(OTF2_Archive_SetCreator(archive_, "sluice export"));
  check(OTF2_Archive_OpenEvtFiles(archive_));
  check(OTF2_Archive_OpenDefFiles(archive_));
}

Otf2Archive::~Otf2Archive() {
  if (archive_) OTF2_Archive_Close(archive_);
}

void Otf2Archive::check(OTF2_ErrorCode code) const {
  if (code == OTF2_SUCCESS) return;
  throw std::runtime_error(fmt::format("OTF2: {} ({})", OTF2_Error_GetDescription(code), OTF2_Error_GetName(code)));
}

OTF2_EvtWriter* Otf2Archive::open_location(OTF2_LocationRef location) {
  // A reader wants a file of definitions for each location, though there are none that are its own.
  OTF2_DefWriter* const own = OTF2_Archive_GetDefWriter(archive_, location);
  if (!own) check(OTF2_ERROR_FILE_CAN_NOT_OPEN);
  check(OTF2_Archive_CloseDefWriter(archive_, own));
  OTF2_EvtWriter* const writer = OTF2_Archive_GetEvtWriter(archive_, location);
  if (!writer) check(OTF2_ERROR_FILE_CAN_NOT_OPEN);
  return writer;
}

std::uint64_t Otf2Archive::close_location(OTF2_EvtWriter* writer) {
  std::uint64_t events = 0;
  check(OTF2_EvtWriter_GetNumberOfEvents(writer, &events));
  check(OTF2_Archive_CloseEvtWriter(archive_, writer));
  return events;
}

OTF2_StringRef Otf2Archive::string(const std::string& text) {
  const OTF2_StringRef number = strings_.number_of(text);
  write_strings();
  return number;
}

void Otf2Archive::write_strings() {
  for (; definitions_ && strings_written_ < strings_.size(); ++strings_written_)
    check(OTF2_GlobalDefWriter_WriteString(definitions_, strings_written_, strings_[strings_written_].c_str()));
}

OTF2_RegionRef Otf2Archive::region(const std::string& name) { return regions_.number_of(name); }
OTF2_SourceCodeLocationRef Otf2Archive::place(const std::string& file, std::uint32_t line) {
  return places_.number_of({file, line});
}
OTF2_CommRef Otf2Archive::communicator(std::uint32_t context) { return communicators_.number_of(context); }

OTF2_GlobalDefWriter* Otf2Archive::definitions() {
  if (!definitions_) {
    check(OTF2_Archive_CloseEvtFiles(archive_));
    check(OTF2_Archive_CloseDefFiles(archive_));
    definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_);
    if (!definitions_) check(OTF2_ERROR_FILE_CAN_NOT_OPEN);
    write_strings();
  }
  return definitions_;
}

void Otf2Archive::close() {
  OTF2_GlobalDefWriter* const writer = definitions();
  for (OTF2_RegionRef number = 0; number < regions_.size(); ++number) {
    const std::string& name = regions_[number];
    check(OTF2_GlobalDefWriter_WriteRegion(writer, number, string(name), string(name), string(""), role_of(name),
                                           paradigm_of(name), OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
  }
  for (OTF2_SourceCodeLocationRef number = 0; number < places_.size(); ++number) {
    const auto& [file, line] = places_[number];
    check(OTF2_GlobalDefWriter_WriteSourceCodeLocation(writer, number, string(file), line));
  }
  for (OTF2_CommRef number = 0; number < communicators_.size(); ++number) {
    check(OTF2_GlobalDefWriter_WriteComm(writer, number, string(fmt::format("communicator {:#x}", communicators_[number])),
                                         ranks_group, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
  }
  check(OTF2_GlobalDefWriter_WriteAttribute(writer, place_attribute, string("place"), string("The line of the program"),
                                            OTF2_TYPE_SOURCE_CODE_LOCATION));
  check(OTF2_GlobalDefWriter_WriteAttribute(writer, site_attribute, string("site"), string("The call and the place"),
                                            OTF2_TYPE_STRING));
  check(OTF2_Archive_CloseGlobalDefWriter(archive_, definitions_));
  OTF2_Archive* const archive = std::exchange(archive_, nullptr);
  check(OTF2_Archive_Close(archive));
}

}  // namespace sluice
