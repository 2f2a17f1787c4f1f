#include "publish_log.hpp"

#include "core/assert.hpp"
#include "core/limits.hpp"

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

constexpr std::string_view reads_too_slowly = "reads too slowly";

}  // namespace

PublishLog::PublishLog(Reactor& reactor, PeerTable& peers, Tail& tail, const PublisherOptions& options)
    : tail_(tail),
      peers_(peers),
      options_(options),
      log_(peers.segments()),
      headroom_(log_, tail, peers, options.backlog_bytes_max),
      later_close_(reactor, [this] { close_too_slow(); }),
      flushes_(peers.flushes()) {}

void PublishLog::send(Topic& topic, std::string_view payload) {
    if (send_on(topic, payload) || (share_readers(topic) && send_on(topic, payload))) {
        return;
    }
    std::byte* const room = prepare(topic, payload.size());
    if (!payload.empty()) {
        std::memcpy(room, payload.data(), payload.size());
    }
    tail_.settle();
    zmtp::write_frame_header(room_ + topic.frame.size(), 0, payload.size());
    give(topic.frame.size() + payload_header_bytes_ + payload.size());
    if (unflushed_bytes_ >= options_.flush_bytes) {
        peers_.flush();
    } else {
        peers_.flush_soon();
        open_tail(options_.flush_bytes - unflushed_bytes_);
    }
}

std::byte* PublishLog::prepare(Topic& topic, std::size_t payload_bytes_max) {
    topic_ = &topic;
    payload_header_bytes_ = zmtp::frame_header_bytes(payload_bytes_max);
    const std::size_t bytes_max = topic.frame.size() + payload_header_bytes_ + payload_bytes_max;
    if (is_in_tail(topic) && tail_.fits(bytes_max)) {
        room_ = tail_.next();
    } else {
        tail_.settle();
        room_ = log_.prepare(bytes_max);
        if (segments_seen_ != log_.segments_opened()) {
            enforce_backlog_limit();
        }
    }
    topic.frame.copy_to(room_);
    return room_ + topic.frame.size() + payload_header_bytes_;
}

void PublishLog::commit(std::size_t payload_bytes) {
    std::byte* const header = room_ + topic_->frame.size();
    const std::size_t header_bytes = zmtp::write_frame_header(header, 0, payload_bytes);
    if (header_bytes != payload_header_bytes_) {  // shorter than it might have been: close the gap
        std::memmove(header + header_bytes, header + payload_header_bytes_, payload_bytes);
    }
    const std::size_t bytes = topic_->frame.size() + header_bytes + payload_bytes;
    if (is_in_tail(*topic_) && room_ == tail_.next()) {
        return tail_.add(bytes);
    }
    tail_.settle();
    give(bytes);
    if (!topic_->readers->sessions.empty()) {
        open_tail(0);
    }
}

/// Has the topic share the reader set of the tail when that is equal, so that its messages go there. Whether it does
/// now.
bool PublishLog::share_readers(Topic& topic) const noexcept {
    if (!tail_.is_open() || topic.readers.get() == readers_) {
        return false;
    }
    const std::vector<Session*>& sessions = topic.readers->sessions;
    // Most that differ do so in the first.
    if (sessions.front() != readers_->sessions.front() || sessions != readers_->sessions) {
        return false;
    }
    topic.readers = tail_topic_->readers;
    return true;
}

/// The message in room_, of so many bytes, to each reader of topic_.
void PublishLog::give(std::size_t bytes) {
    ++messages_;
    ++given_;
    const Slice message = log_.commit(bytes);
    TELEGATE_ASSERT(message.segment->bytes.get() + message.begin == room_);
    unflushed_bytes_ += bytes + static_cast<std::size_t>(tail_.bytes() - tail_bytes_seen_);
    tail_bytes_seen_ = tail_.bytes();
    if (flushes_seen_ != flushes_) {
        flushes_seen_ = flushes_;
        unflushed_bytes_ = bytes;
    }
    ReaderSet& readers = *topic_->readers;
    for (Outbox* const outbox : readers.outboxes) {
        outbox->add(message);
    }
    if (readers.marked_at != flushes_) {  // once per batch, not per message
        for (Session* const session : readers.sessions) {
            peers_.mark(*session);
        }
        readers.marked_at = flushes_;
    }
}

/// For more of topic_, which has just got one.
void PublishLog::open_tail(std::size_t bytes_max) noexcept {
    tail_topic_ = topic_;
    readers_ = topic_->readers.get();
    tail_.open(log_, readers_->outboxes, bytes_max);
}

/// A segment was opened: whoever is too far behind gives up what lies before the limit.
void PublishLog::enforce_backlog_limit() {
    segments_seen_ = log_.segments_opened();
    if (log_.end() <= options_.backlog_bytes_max) {
        return;
    }
    for (const auto& session : peers_.sessions()) {
        session->outbox()->give_up_before(log_.end() - options_.backlog_bytes_max);
    }
    enforce_held_limit();
}

/// Whoever is in the middle of a large message that the log gave up keeps its segment. The farthest behind are cut off
/// at once, however long this turn lasts; never those who are in the latest of these messages, or a single one over the
/// limit would reach nobody.
void PublishLog::enforce_held_limit() {
    const std::size_t held_bytes_max = std::max(limits::held_bytes_max, options_.backlog_bytes_max);
    while (peers_.segments().held_bytes() > held_bytes_max) {
        Session* farthest = nullptr;
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        for (const auto& session : peers_.sessions()) {
            const auto position = session->outbox()->backlog().held_position();
            if (!position) {
                continue;
            }
            last = std::max(last, *position);
            if (farthest == nullptr || *position < first) {
                farthest = session.get();
                first = *position;
            }
        }
        if (farthest == nullptr || first == last) {
            return;
        }
        too_slow_.push_back(farthest->id());
        later_close_.ask();
        farthest->cut_off();
    }
}

void PublishLog::close_too_slow() {
    for (const std::uint64_t id : std::exchange(too_slow_, {})) {
        if (Session* session = peers_.find(id)) {
            session->close(reads_too_slowly);
        }
    }
}

}  // namespace telegate
