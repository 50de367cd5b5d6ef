#include "net/frame.hpp"

#include <algorithm>
#include <cstdio>

#include "net/wire.hpp"

namespace sluice::frame {
namespace {

constexpr std::uint8_t mark = 0xd0;
constexpr std::uint8_t version_bits = 0x0f;
constexpr std::uint8_t control_kinds = 128;

/// What a header of one kind may say.
struct Rule {
  const char* name = nullptr;  // nullptr: there is no such kind
  std::uint8_t flags = 0;
  std::size_t min = 0;
  std::size_t max = 0;
  bool matching = false;  // has a context, a source and a tag
};

Rule rule_of(std::uint8_t kind, std::uint8_t flags, std::size_t max_payload) {
  switch (kind) {
    case static_cast<std::uint8_t>(MessageKind::eager):
      // A synchronous message ends with the number of its request.
      return {"eager", flag_synchronous, (flags & flag_synchronous) != 0 ? sizeof(std::uint64_t) : 0, max_payload, true};
    case static_cast<std::uint8_t>(MessageKind::rts):
      return {"rts", flag_sender_waits | flag_contiguous | flag_block | flag_rdma | flag_registered | flag_buffered,
              sizeof(ReadyToSend), max_payload, true};
    case static_cast<std::uint8_t>(MessageKind::cts):
      return {"cts", 0, sizeof(ClearToSend), sizeof(ClearToSend), false};
    case static_cast<std::uint8_t>(MessageKind::refuse):
      return {"refuse", 0, sizeof(Refusal), sizeof(Refusal), false};
    case static_cast<std::uint8_t>(MessageKind::data):
      return {"data", 0, 1, max_data_bytes, false};
    case static_cast<std::uint8_t>(MessageKind::fin):
      return {"fin", flag_of_chunks | flag_announces, 0, sizeof(PutEnd), false};
    case static_cast<std::uint8_t>(MessageKind::ack):
      return {"ack", 0, 0, 0, false};
    case static_cast<std::uint8_t>(MessageKind::rtr):
      return {"rtr", 0, sizeof(ReadyToReceive), sizeof(ReadyToReceive), true};
    case static_cast<std::uint8_t>(MessageKind::withdraw):
      return {"withdraw", 0, 0, 0, false};
    case static_cast<std::uint8_t>(MessageKind::withdrawn):
      return {"withdrawn", 0, 0, 0, false};
    case control_kinds + static_cast<std::uint8_t>(Control::goodbye):
      return {"goodbye", 0, 0, 0, false};
    case control_kinds + static_cast<std::uint8_t>(Control::ping):
      return {"ping", 0, 0, 0, false};
    case control_kinds + static_cast<std::uint8_t>(Control::pong):
      return {"pong", 0, 0, 0, false};
    default:
      return {};
  }
}

/// The fields as they stand there, possible or not.
struct Fields {
  explicit Fields(std::span<const std::byte, header_bytes> bytes)
      : first(wire::get<0, std::uint8_t>(bytes)),
        kind(wire::get<1, std::uint8_t>(bytes)),
        flags(wire::get<2, std::uint8_t>(bytes)),
        payload(wire::get<3, std::uint16_t>(bytes) | std::uint32_t{wire::get<5, std::uint8_t>(bytes)} << 16),
        rtrs(wire::get<6, std::uint16_t>(bytes)),
        subject(wire::get<8, std::uint64_t>(bytes)),
        tag(wire::get<16, std::int32_t>(bytes)) {}

  [[nodiscard]] unsigned version() const { return first & version_bits; }
  [[nodiscard]] std::uint64_t context() const { return subject % context_limit; }
  [[nodiscard]] Rank source() const { return static_cast<Rank>(subject / context_limit); }

  std::uint8_t first;
  std::uint8_t kind;
  std::uint8_t flags;
  std::uint32_t payload;
  std::uint16_t rtrs;
  std::uint64_t subject;
  std::int32_t tag;
};

Fault fault_of(const Fields& fields, const Rule& rule) {
  if ((fields.first & ~version_bits) != mark) return Fault::mark;
  if (fields.version() != format_version) return Fault::version;
  if (!rule.name) return Fault::kind;
  if ((fields.flags & ~rule.flags) != 0) return Fault::flags;
  if (fields.payload < rule.min || fields.payload > rule.max) return Fault::length;
  if (rule.matching ? fields.tag < 0 : fields.tag != 0) return Fault::tag;
  return !rule.matching && fields.rtrs != 0 ? Fault::reserved : Fault::none;
}

void encode(std::uint8_t kind, const WireHeader& message, std::span<std::byte, header_bytes> target) {
  wire::put<0>(target, static_cast<std::uint8_t>(mark | format_version));
  wire::put<1>(target, kind);
  wire::put<2>(target, message.flags);
  wire::put<3>(target, static_cast<std::uint16_t>(message.payload_bytes));
  wire::put<5>(target, static_cast<std::uint8_t>(message.payload_bytes >> 16));
  wire::put<6>(target, message.rtrs);
  // The subject of a kind without a source may have all bits.
  wire::put<8>(target, message.subject + context_limit * static_cast<std::uint32_t>(message.source));
  wire::put<16>(target, static_cast<std::int32_t>(message.tag));
}

}  // namespace

void encode(const WireHeader& message, std::span<std::byte, header_bytes> target) {
  encode(static_cast<std::uint8_t>(message.kind), message, target);
}

void encode(Control control, std::uint64_t subject, std::span<std::byte, header_bytes> target) {
  WireHeader message;
  message.subject = subject;
  encode(static_cast<std::uint8_t>(control_kinds + static_cast<std::uint8_t>(control)), message, target);
}

Decoded decode(std::span<const std::byte, header_bytes> bytes, std::size_t max_payload) {
  const Fields fields(bytes);
  Decoded decoded;
  const Rule rule = rule_of(fields.kind, fields.flags, max_payload);
  decoded.fault = fault_of(fields, rule);
  if (!decoded.good()) return decoded;
  if (fields.kind > control_kinds) {
    decoded.control = static_cast<Control>(fields.kind - control_kinds);
  } else {
    decoded.header.kind = static_cast<MessageKind>(fields.kind);
  }
  decoded.header.flags = fields.flags;
  decoded.header.rtrs = fields.rtrs;
  decoded.header.payload_bytes = fields.payload;
  decoded.header.subject = rule.matching ? fields.context() : fields.subject;
  if (rule.matching) decoded.header.source = fields.source();
  decoded.header.tag = static_cast<Tag>(fields.tag);
  return decoded;
}

std::string explain(std::span<const std::byte, header_bytes> bytes, std::size_t max_payload) {
  const Fields fields(bytes);
  const Rule rule = rule_of(fields.kind, fields.flags, max_payload);
  std::array<char, 160> text{};
  const auto say = [&text](const char* format, auto... values) {
    std::snprintf(text.data(), text.size(), format, values...);
    return std::string(text.data());
  };
  switch (fault_of(fields, rule)) {
    case Fault::mark:
      return say("a frame begins with %02x where %02x belongs", fields.first, mark | format_version);
    case Fault::version:
      return say("a frame is of version %u, this process speaks version %u", fields.version(), format_version);
    case Fault::kind:
      return say("a frame is of the unknown kind %u", fields.kind);
    case Fault::flags:
      return say("a frame of kind %s has the flags %#x, of which %#x are known", rule.name, fields.flags, rule.flags);
    case Fault::length:
      return say("a frame of kind %s announces %u bytes where %zu to %zu are possible", rule.name, fields.payload, rule.min,
                 rule.max);
    case Fault::tag:
      return say("a frame of kind %s has the tag %d", rule.name, fields.tag);
    case Fault::reserved:
      return say("a frame of kind %s has values where none belong", rule.name);
    case Fault::none:
      break;
  }
  return {};
}

}  // namespace sluice::frame
