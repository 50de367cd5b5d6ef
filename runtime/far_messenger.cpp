#include "runtime/far_messenger.hpp"

#include <algorithm>
#include <utility>

#include "runtime/datatype/packed_buffer.hpp"

namespace sluice {
namespace {

constexpr CallSite window_site{};

}  // namespace

void FarMessenger::send(Rank to, Tag tag, std::span<const std::byte> bytes) {
  const auto tried = parts_.small_sends.send(context_, to, tag, bytes.data(), bytes.size());
  if (tried == SmallSends::AtOnce::has_left) return;
  auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  Request* const send = parts_.requests.new_send(context_, to, tag, SendMode::standard, window_site);
  send->data = copy.get();
  send->owned = std::move(copy);
  send->bytes = bytes.size();
  send->detached = true;
  parts_.sender.start(send, tried);
}

Request* FarMessenger::send(Rank to, Tag tag, const UserBuffer& buffer) {
  Request* const send = parts_.requests.new_send(context_, to, tag, SendMode::standard, window_site);
  send->describe(buffer);
  parts_.sender.start(send);
  return send;
}

Request* FarMessenger::receive(Rank from, Tag tag, const UserBuffer& buffer) {
  Request* const receive = parts_.requests.new_receive(context_, from, tag, window_site);
  receive->describe(buffer);
  parts_.requests.enter(*receive);
  if (!parts_.matcher.post(*receive)) parts_.put_receiver.send_rtr(*receive);
  return receive;
}

Request* FarMessenger::receive(Unexpected* message, const UserBuffer& buffer) {
  Request* const receive = parts_.requests.new_receive(context_, message->source, message->tag, window_site);
  receive->describe(buffer);
  parts_.requests.enter(*receive);
  parts_.matcher.consume(*receive, message);
  return receive;
}

std::optional<std::span<const std::byte>> FarInbox::first(FarMessenger& messenger) {
  if (!receive_ && !message_) {
    Context& context = messenger.context();
    Unexpected* const found = context.find_unexpected(from_, tag_);
    if (!found) return std::nullopt;
    context.remove_unexpected(found);
    if (found->kind == MessageKind::eager) {
      message_.reset(found);
    } else {
      bytes_ = found->message_bytes;
      copy_ = std::make_unique_for_overwrite<std::byte[]>(bytes_);
      ++messenger.announced_;
      receive_ = messenger.receive(found, packed_buffer(copy_.get(), bytes_));
    }
  }
  if (message_) return message_->payload().subspan(done_);
  if (!FarMessenger::is_over(*receive_)) return std::nullopt;
  return std::span<const std::byte>(copy_.get(), bytes_).subspan(done_);
}

void FarInbox::pop(FarMessenger& messenger, std::size_t bytes) {
  done_ += bytes;
  if (done_ < (message_ ? message_->payload().size() : bytes_)) return;
  done_ = 0;
  if (message_) {
    message_.reset();
  } else {
    --messenger.announced_;
    messenger.take(std::exchange(receive_, nullptr));
    copy_.reset();
  }
}

}  // namespace sluice
