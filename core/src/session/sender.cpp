#include "session/sender.hpp"

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "zmtp/frame.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace telegate {
namespace {

/// Calls `each(frame)` for every frame of encoded bytes.
template <class Each>
void for_each_frame(Bytes wire, const Each& each) {
    const std::byte* const end = wire.data() + wire.size();
    for (const std::byte* at = wire.data(); at != end;) {
        const zmtp::Frame frame = zmtp::frame_at(at);
        each(frame);
        at = frame.end();
    }
}

std::size_t sealed_bytes_of(Bytes wire) noexcept {
    std::size_t bytes = 0;
    for_each_frame(wire,
                   [&](const zmtp::Frame& frame) { bytes += zmtp::CurveCipher::sealed_bytes(frame.body.size()); });
    return bytes;
}

}  // namespace

void Sender::begin_messages(zmtp::CurveCipher* cipher) noexcept {
    messages_ = true;
    cipher_ = cipher;
}

void Sender::add_raw(Bytes wire) {
    control_.insert(control_.end(), wire.begin(), wire.end());
}

bool Sender::add_control(Bytes wire) {
    if (control_.size() - control_sent_ + commands_.size() + wire.size() > limits::control_bytes_max) {
        return false;
    }
    if (control_sent_ >= limits::control_bytes_max) {  // a peer that never lets it become empty must not make it grow
        control_.erase(control_.begin(), control_.begin() + static_cast<std::ptrdiff_t>(control_sent_));
        control_sent_ = 0;
    }
    std::vector<std::byte>& waiting = cipher_ != nullptr ? commands_ : control_;
    waiting.insert(waiting.end(), wire.begin(), wire.end());
    return true;
}

bool Sender::empty() const noexcept {
    return !has_control() && sealed_bytes_ == 0 && outbox_.backlog().empty();
}

bool Sender::is_within_message() const noexcept {
    if (cipher_ == nullptr) {
        return messages_ && !outbox_.backlog().at_boundary();
    }
    const std::size_t begin =
        sealed_messages_sent_ > 0 ? sealed_messages_[sealed_messages_sent_ - 1].end : sealed_commands_bytes_;
    return sealed_messages_sent_ < sealed_messages_.size() && sealed_sent_ > begin;
}

Sender::Status Sender::write(Stream& stream, std::size_t budget) {
    std::array<StreamPart, parts_max> parts;
    for (;;) {
        outbox_.write_notices();
        if (cipher_ != nullptr && sealed_bytes_ == 0) {
            seal_next();
        }
        std::size_t count = gather(parts);
        if (count == 0) {
            if (sealed_capacity_ > sealed_bytes_kept) {
                sealed_.reset();
                sealed_capacity_ = 0;
            }
            return Status::done;
        }
        if (budget == 0) {
            return Status::partial;
        }
        std::size_t offered = 0;
        for (std::size_t i = 0; i < count; ++i) {
            offered += parts[i].bytes;
            count = offered < budget ? count : i + 1;  // the fewest whole parts that use it up
        }
        const StreamWrite result = stream.write(std::span(parts).first(count));
        if (result.status == IoStatus::would_block) {
            return Status::full;
        }
        if (result.status != IoStatus::ok) {
            error_ = result.status == IoStatus::end ? EPIPE : result.error;
            return Status::failed;
        }
        TELEGATE_ASSERT(result.bytes <= offered);
        bytes_written_ += result.bytes;
        written(result.bytes);
        if (result.bytes < offered) {
            return Status::full;
        }
        budget -= std::min(budget, result.bytes);
    }
}

/// Gathers the data to send next. While a message is in flight and a command is pending or losses are to be reported,
/// this is only the rest of that message.
std::size_t Sender::gather(std::span<StreamPart> parts) const noexcept {
    std::size_t count = 0;
    const bool inside_message = messages_ && cipher_ == nullptr && !outbox_.backlog().at_boundary();
    if (!control_.empty() && !inside_message) {
        parts[count++] = {control_.data() + control_sent_, control_.size() - control_sent_, nullptr};
    }
    if (cipher_ != nullptr) {
        if (sealed_bytes_ > 0) {
            parts[count++] = {sealed_.get() + sealed_sent_, sealed_bytes_ - sealed_sent_, nullptr};
        }
    } else if (messages_ && inside_message && !control_.empty()) {
        count = outbox_.backlog().gather(parts.first(1));
        parts[0].bytes = outbox_.backlog().bytes_to_boundary();
    } else if (messages_) {
        count += outbox_.gather(parts.subspan(count));
    }
    return count;
}

void Sender::written(std::size_t bytes) {
    const bool inside_message = messages_ && cipher_ == nullptr && !outbox_.backlog().at_boundary();
    if (!control_.empty() && !inside_message) {
        const std::size_t part = std::min(bytes, control_.size() - control_sent_);
        control_sent_ += part;
        bytes -= part;
        if (control_sent_ == control_.size()) {
            control_.clear();
            control_sent_ = 0;
        }
    }
    if (bytes == 0) {
        return;
    }
    if (cipher_ != nullptr) {
        sealed_written(bytes);
    } else {
        outbox_.consume(bytes);
    }
}

/// A message counts as sent when the last of its sealed bytes is written.
void Sender::sealed_written(std::size_t bytes) {
    sealed_sent_ += bytes;
    std::size_t wire_bytes = 0;
    while (sealed_messages_sent_ < sealed_messages_.size() &&
           sealed_messages_[sealed_messages_sent_].end <= sealed_sent_) {
        wire_bytes += sealed_messages_[sealed_messages_sent_++].wire_bytes;
    }
    if (wire_bytes > 0) {
        outbox_.consume(wire_bytes);
    }
    if (sealed_sent_ == sealed_bytes_) {
        sealed_bytes_ = 0;
        sealed_sent_ = 0;
        sealed_messages_.clear();
        sealed_messages_sent_ = 0;
        if (sealed_capacity_ > sealed_bytes_usual) {
            sealed_.reset();
            sealed_capacity_ = 0;
        }
    }
}

/// Fills the empty buffer with the data to send next: commands, then messages.
void Sender::seal_next() {
    make_room(sealed_bytes_of(commands_));
    seal_frames(commands_);
    sealed_commands_bytes_ = sealed_bytes_;
    commands_.clear();
    Backlog& backlog = outbox_.backlog();
    std::array<StreamPart, parts_max> parts;
    const std::size_t count = outbox_.gather(parts);
    std::size_t claimed = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (!seal_run(Bytes(parts[i].data, parts[i].bytes), claimed)) {
            break;
        }
    }
    backlog.claim(claimed);
}

/// Returns false if the buffer accepts no more.
bool Sender::seal_run(Bytes wire, std::size_t& claimed) {
    while (!wire.empty()) {
        const Bytes message = wire.first(zmtp::message_bytes_at(wire.data()));
        const std::size_t bytes = sealed_bytes_of(message);
        if (sealed_bytes_ > 0 && sealed_bytes_ + bytes > sealed_bytes_usual) {
            return false;  // a larger message has a buffer to itself
        }
        make_room(bytes);
        seal_frames(message);
        sealed_messages_.push_back({sealed_bytes_, message.size()});
        claimed += message.size();
        wire = wire.subspan(message.size());
    }
    return true;
}

void Sender::seal_frames(Bytes wire) {
    for_each_frame(wire, [&](const zmtp::Frame& frame) {
        sealed_bytes_ += cipher_->seal(sealed_.get() + sealed_bytes_, frame.flags, frame.body);
    });
}

/// Doubles the buffer up to the usual size, so that a peer with little traffic has a small one.
void Sender::make_room(std::size_t bytes) {
    if (sealed_capacity_ - sealed_bytes_ >= bytes) {
        return;
    }
    const std::size_t capacity = std::max(sealed_bytes_ + bytes, std::min(2 * sealed_capacity_, sealed_bytes_usual));
    auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity);
    if (sealed_bytes_ > 0) {
        std::memcpy(larger.get(), sealed_.get(), sealed_bytes_);
    }
    sealed_ = std::move(larger);
    sealed_capacity_ = capacity;
}

}  // namespace telegate
