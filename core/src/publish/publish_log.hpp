#pragma once

#include "buffers/segment_log.hpp"
#include "core/publisher.hpp"
#include "peers/peer_table.hpp"
#include "publish/deliveries.hpp"
#include "publish/free_capacity.hpp"
#include "publish/lag_limit.hpp"
#include "publish/shard_queue.hpp"
#include "publish/topic_table.hpp"
#include "session/write_cursor.hpp"
#include "zmtp/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace telegate {

/// The messages of a publisher, each stored once as wire bytes in a log that all subscribers read from. Adds each
/// message to the backlogs of its topic's readers, keeps the readers within their limits and has them flushed.
///
/// A message for the same readers as the previous one goes to the log's write cursor, which costs the same for any
/// number of readers.
///
/// Threads: the reactor's.
/// Limits: backlog_bytes_max of the log, and see limits::held_bytes_max; a reader that is further behind loses its
/// oldest messages.
/// Failure: send() and prepare() may throw as SegmentLog::prepare(), publishing nothing. send() and commit() may throw
/// std::bad_alloc, after which some readers may have the message and others not.
class PublishLog final : public SharedLog {
  public:
    /// The cursor must outlive the sessions of `peers`.
    PublishLog(Reactor& reactor, PeerTable& peers, WriteCursor& cursor, const PublisherOptions& options);

    /// Adds readers on other threads. Called once, before the first message.
    void share(std::span<const std::unique_ptr<ShardQueue>> queues) noexcept;
    /// Called before the session is a reader of any topic.
    void join(Session& session) noexcept { session.outbox()->share(cursor_); }
    /// Called before the readers of any topic change.
    void settle() noexcept { cursor_.settle(); }

    /// Publishes in a few steps if the topic's readers are those of the previous message and nothing else is to be
    /// done. Otherwise does nothing and returns false.
    [[nodiscard]] bool send_on(const Topic& topic, std::string_view payload) noexcept {
        return payload.size() > zmtp::short_body_bytes_max ? send_on<zmtp::frame_header_bytes_max>(topic, payload)
                                                           : send_short_on(topic, payload);
    }
    /// Like send_on(), for a payload with a short header. Returns false for any other payload, and for an empty one,
    /// which may have no address.
    [[nodiscard]] bool send_short_on(const Topic& topic, std::string_view payload) noexcept {
        return payload.size() - 1 < zmtp::short_body_bytes_max && send_on<zmtp::frame_header_bytes(1)>(topic, payload);
    }
    /// Publishes a message of a topic whose readers are up to date and not empty. Flushes if enough bytes are pending;
    /// otherwise requests a flush for later.
    void send(Topic& topic, std::string_view payload);

    /// Returns space for a payload in the log; commit() follows. The readers of the topic must be up to date.
    [[nodiscard]] std::byte* prepare(Topic& topic, std::size_t payload_bytes_max);
    /// Like prepare(), in a few steps and for any topic, if its readers are those of the previous message and the
    /// segment has space. Such a topic has readers, and they are up to date. Otherwise does nothing and returns null.
    [[nodiscard]] std::byte* prepare_on(Topic& topic, std::size_t payload_bytes_max) noexcept {
        const std::size_t header_bytes = zmtp::frame_header_bytes(payload_bytes_max);
        if (topic.readers.get() != readers_ ||
            !cursor_.fits(topic.frame.size() + header_bytes + payload_bytes_max + sizeof(LoggedSamples))) {
            return nullptr;
        }
        topic_ = &topic;
        payload_header_bytes_ = header_bytes;
        room_ = cursor_.next();
        topic.frame.copy_to(room_);
        return room_ + topic.frame.size() + header_bytes;
    }
    /// Returns the topic that prepare() was called for.
    [[nodiscard]] Topic& prepared() const noexcept { return *topic_; }
    /// Publishes the prepared message, which contains `samples` if given. The readers of its topic must be up to date.
    /// Does not flush.
    template <class... Samples>
    void commit(std::size_t payload_bytes, const Samples&... samples) {
        if (commit_on(payload_bytes, samples...)) {
            return;
        }
        const std::size_t bytes = write_header(payload_bytes);
        cursor_.settle();
        add_to_outboxes(log_.commit(bytes, samples...));
        if (!topic_->readers->keys.empty()) {
            open_cursor(0);
        }
    }
    /// Like commit(), in a few steps, if nothing has changed since prepare() and the message follows the previous one.
    /// Otherwise does nothing and returns false. Every change of a topic's readers settles the cursor.
    template <class... Samples>
    [[nodiscard]] bool commit_on(std::size_t payload_bytes, const Samples&... samples) noexcept {
        if (room_ != cursor_.next() || topic_->readers.get() != readers_) {
            return false;
        }
        cursor_.add(write_header(payload_bytes), samples...);
        return true;
    }
    void skip() noexcept { ++messages_; }

    /// Returns true if one more message of `bytes` bytes causes no loss. Otherwise requests one flush for the next
    /// iteration, so that a waiting publisher neither waits for its own unflushed messages nor keeps the event loop
    /// awake.
    [[nodiscard]] bool has_room(std::size_t bytes) {
        const bool room = free_capacity_.has_room(bytes, added_);
        if (!room && flush_requested_at_ != messages()) {
            peers_.flush_soon();
            flush_requested_at_ = messages();
        }
        return room;
    }
    void set_limits(std::size_t least, std::size_t largest) noexcept override {
        free_capacity_.set_backlog_bytes_max(least);
        lag_limit_.set_largest(largest);
    }
    void enforce_kept_limit() override { lag_limit_.enforce_kept_limit(); }
    [[nodiscard]] bool others_must_wait(std::uint64_t log_end) override;
    [[nodiscard]] std::uint64_t end() const noexcept override { return log_.end(); }
    [[nodiscard]] std::uint64_t position() override {
        cursor_.settle();
        return log_.position();
    }
    /// Returns the number of messages published and skipped so far.
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_ + cursor_.messages(); }

  private:
    /// The implementation of send_on(), for a payload header of `header_bytes` bytes.
    template <std::size_t header_bytes>
    [[nodiscard]] bool send_on(const Topic& topic, std::string_view payload) noexcept {
        const std::size_t topic_bytes = topic.frame.size();
        const std::size_t bytes = topic_bytes + header_bytes + payload.size();
        if (topic.readers.get() != readers_ || !cursor_.has_room(bytes)) {
            return false;
        }
        std::byte* const out = cursor_.next();
        cursor_.add(bytes);
        topic.frame.copy_to(out);
        if constexpr (header_bytes == zmtp::frame_header_bytes(1)) {
            zmtp::write_short_frame_header(out + topic_bytes, 0, payload.size());
        } else {
            zmtp::write_frame_header(out + topic_bytes, 0, payload.size());
        }
        std::memcpy(out + topic_bytes + header_bytes, payload.data(), payload.size());
        return true;
    }
    /// Writes the header between the prepared topic and its payload. Returns the size of all three in bytes.
    std::size_t write_header(std::size_t payload_bytes) noexcept {
        std::byte* const header = room_ + topic_->frame.size();
        const std::size_t header_bytes = zmtp::write_frame_header(header, 0, payload_bytes);
        if (header_bytes != payload_header_bytes_) {  // shorter than reserved: close the gap
            std::memmove(header + header_bytes, header + payload_header_bytes_, payload_bytes);
        }
        return topic_->frame.size() + header_bytes + payload_bytes;
    }
    [[nodiscard]] bool share_readers(Topic& topic) const noexcept;
    void add_to_outboxes(const Slice& message);
    void open_cursor(std::size_t bytes_max) noexcept;
    void begin(ReaderSet& readers);
    void enforce_limits();

    WriteCursor& cursor_;
    const ReaderSet* readers_ = nullptr;  // of the open cursor, and of cursor_topic_
    const Topic* cursor_topic_ = nullptr;
    std::uint64_t messages_ = 0;  // except those added to the cursor
    PeerTable& peers_;
    const PublisherOptions& options_;
    SegmentLog log_;
    LagLimit lag_limit_;
    FreeCapacity free_capacity_;
    std::span<const std::unique_ptr<ShardQueue>> queues_;
    std::uint64_t added_ = 0;               // messages added to outboxes one by one; each may have begun a range
    std::uint64_t flush_requested_at_ = 0;  // messages() when a full log last requested a flush

    // Between prepare() and commit().
    Topic* topic_ = nullptr;
    std::byte* room_ = nullptr;
    std::size_t payload_header_bytes_ = 0;

    const std::uint64_t& flushes_;
    std::uint64_t flushes_seen_ = 0;
    std::size_t unflushed_bytes_ = 0;  // except those in the cursor
    std::uint64_t tail_bytes_seen_ = 0;
    std::uint64_t segments_seen_ = 0;
};

}  // namespace telegate
