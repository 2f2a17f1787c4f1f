#include "outbox.hpp"

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "zmtp/frame.hpp"

#include <cstring>

namespace telegate {

Outbox::Outbox(SegmentPool& pool) : log_(pool, SegmentLog::First::small), backlog_(limits::backlog_runs_max) {}

std::size_t Outbox::wire_bytes(std::span<const Bytes> frames) noexcept {
    std::size_t bytes = 0;
    for (const Bytes frame : frames) {
        bytes += zmtp::frame_header_bytes(frame.size()) + frame.size();
    }
    return bytes;
}

void Outbox::append(std::span<const Bytes> frames) {
    TELEGATE_ASSERT(!frames.empty());
    std::byte* const begin = log_.prepare(wire_bytes(frames));
    std::byte* out = begin;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const Bytes frame = frames[i];
        const std::uint8_t flags = i + 1 < frames.size() ? zmtp::frame_flag::more : std::uint8_t{0};
        out += zmtp::write_frame_header(out, flags, frame.size());
        if (!frame.empty()) {  // an empty one may have no address
            std::memcpy(out, frame.data(), frame.size());
            out += frame.size();
        }
    }
    add(log_.commit(static_cast<std::size_t>(out - begin)));
}

void Outbox::append_wire(Bytes wire) {
    TELEGATE_ASSERT(!wire.empty());
    std::memcpy(log_.prepare(wire.size()), wire.data(), wire.size());
    add(log_.commit(wire.size()));
}

bool Outbox::has_room(std::size_t message_bytes, std::size_t bytes_max) noexcept {
    const bool room = backlog_.empty() || (message_bytes <= bytes_max &&
                                           backlog_.bytes() <= bytes_max - message_bytes && backlog_.has_run());
    refused_ = refused_ || !room;
    return room;
}

std::uint64_t Outbox::consume(std::size_t bytes) {
    const std::uint64_t completed = backlog_.consume(bytes);
    sent_ += completed;
    cuts_ = completed > 0 ? 0 : cuts_;
    release_if_empty();
    return completed;
}

void Outbox::give_up_before(std::uint64_t log_position) {
    dropped_ += backlog_.give_up_before(log_position);
    release_if_empty();
}

void Outbox::give_up_all() noexcept {
    dropped_ += backlog_.give_up_all();
    cuts_ = 0;
    release_if_empty();
}

void Outbox::restart_partial(bool was_cut) noexcept {
    const std::uint64_t given_up = backlog_.restart();
    dropped_ += given_up;
    cuts_ = given_up > 0 || backlog_.empty() ? 0 : cuts_ + (was_cut ? 1 : 0);
    if (cuts_ >= limits::cuts_per_message_max) {
        dropped_ += backlog_.give_up_first_message();
        cuts_ = 0;
    }
    release_if_empty();
}

void Outbox::release_if_empty() noexcept {
    if (backlog_.empty()) {
        log_.release();
    }
}

}  // namespace telegate
