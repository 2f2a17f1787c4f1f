#include "publish/publish_log.hpp"

#include "core/assert.hpp"
#include "core/limits.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

PublishLog::PublishLog(Reactor& reactor, PeerTable& peers, WriteCursor& cursor, const PublisherOptions& options)
    : cursor_(cursor),
      peers_(peers),
      options_(options),
      log_(peers.segments()),
      lag_limit_(reactor, peers, LagLimit::limits_of(options)),
      free_capacity_(log_, cursor, peers, options.backlog_bytes_max),
      flushes_(peers.flushes()) {}

void PublishLog::share(std::span<const std::unique_ptr<ShardQueue>> queues) noexcept {
    queues_ = queues;
    free_capacity_.share(queues);
    for (const auto& queue : queues) {
        queue->share(cursor_);
    }
}

void PublishLog::send(Topic& topic, std::string_view payload) {
    if (send_on(topic, payload) || (share_readers(topic) && send_on(topic, payload))) {
        return;
    }
    std::byte* const room = prepare(topic, payload.size());
    if (!payload.empty()) {
        std::memcpy(room, payload.data(), payload.size());
    }
    cursor_.settle();
    zmtp::write_frame_header(room_ + topic.frame.size(), 0, payload.size());
    const std::size_t bytes = topic.frame.size() + payload_header_bytes_ + payload.size();
    add_to_outboxes(log_.commit(bytes));
    const bool is_short = bytes <= limits::short_bytes_in_process;
    const std::size_t flush_bytes = is_short ? options_.flush_bytes : topic.readers->flush_bytes;
    if (unflushed_bytes_ >= flush_bytes) {
        peers_.flush();
    } else {
        peers_.flush_soon();
        open_cursor(flush_bytes - unflushed_bytes_);
    }
}

std::byte* PublishLog::prepare(Topic& topic, std::size_t payload_bytes_max) {
    std::byte* payload = prepare_on(topic, payload_bytes_max);
    if (payload == nullptr && share_readers(topic)) {
        payload = prepare_on(topic, payload_bytes_max);
    }
    if (payload != nullptr) {
        return payload;
    }
    topic_ = &topic;
    payload_header_bytes_ = zmtp::frame_header_bytes(payload_bytes_max);
    const std::size_t bytes_max = topic.frame.size() + payload_header_bytes_ + payload_bytes_max;
    cursor_.settle();
    room_ = log_.prepare(bytes_max, sizeof(LoggedSamples));
    if (segments_seen_ != log_.segments_opened()) {
        enforce_limits();
    }
    topic.frame.copy_to(room_);
    return room_ + topic.frame.size() + payload_header_bytes_;
}

/// Lets the topic share the cursor's reader set if both are equal, so that its messages go there. Returns true if it
/// shares it now.
bool PublishLog::share_readers(Topic& topic) const noexcept {
    if (!cursor_.is_open() || topic.readers.get() == readers_ || topic.readers->keys.empty()) {
        return false;
    }
    const std::vector<SubscriberKey>& keys = topic.readers->keys;
    // Most lists that differ do so in the first key.
    if (keys.front() != readers_->keys.front() || keys != readers_->keys) {
        return false;
    }
    topic.readers = cursor_topic_->readers;
    return true;
}

/// Adds the message in room_ to each reader of topic_.
void PublishLog::add_to_outboxes(const Slice& message) {
    ++messages_;
    ++added_;
    const std::size_t bytes = message.end - message.begin;
    TELEGATE_ASSERT(message.segment->bytes.get() + message.begin == room_);
    unflushed_bytes_ += bytes + static_cast<std::size_t>(cursor_.bytes() - tail_bytes_seen_);
    tail_bytes_seen_ = cursor_.bytes();
    if (flushes_seen_ != flushes_) {
        flushes_seen_ = flushes_;
        unflushed_bytes_ = bytes;
    }
    ReaderSet& readers = *topic_->readers;
    if (readers.begun_at != flushes_) {  // once per batch, not per message
        begin(readers);
    }
    for (Outbox* const outbox : readers.outboxes) {
        outbox->add(message);
    }
}

/// Prepares the readers for the first message of a batch. If other threads have some of them, prepares them for each
/// message that begins a range.
void PublishLog::begin(ReaderSet& readers) {
    for (const ShardReadersRef& share : readers.shards) {
        share.queue().begin(share.readers());
    }
    if (readers.marked_at != flushes_) {
        for (Session* const session : readers.sessions) {
            peers_.mark(*session);
        }
        readers.marked_at = flushes_;
    }
    if (readers.shards.empty()) {
        readers.begun_at = flushes_;
    }
}

/// Opens the cursor for more messages of topic_, whose readers have just received one.
void PublishLog::open_cursor(std::size_t bytes_max) noexcept {
    cursor_topic_ = topic_;
    readers_ = topic_->readers.get();
    cursor_.open(log_, readers_->outboxes, bytes_max);
}

bool PublishLog::others_must_wait(std::uint64_t log_end) {
    bool waits = false;
    for (const auto& queue : queues_) {
        waits = queue->must_wait(log_end) || waits;
    }
    return waits;
}

/// Called after a segment was opened: readers that are too far behind drop what lies before the limit.
void PublishLog::enforce_limits() {
    segments_seen_ = log_.segments_opened();
    lag_limit_.enforce(log_.end());
    for (const auto& queue : queues_) {
        queue->enforce(log_.end(), log_.position());
    }
}

}  // namespace telegate
