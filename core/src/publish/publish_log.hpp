#pragma once

#include "buffers/segment_log.hpp"
#include "core/publisher.hpp"
#include "peers/peer_table.hpp"
#include "publish/free_capacity.hpp"
#include "publish/lag_limit.hpp"
#include "publish/lane.hpp"
#include "publish/topic_table.hpp"
#include "session/tail.hpp"
#include "zmtp/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace telegate {

/// What a publisher has published: each message once, as wire bytes, in a log that all subscribers read from. Gives it
/// to the readers of its topic, keeps them within their limits and has them flushed.
///
/// A message for the same readers as the one before goes to the log's tail: that costs the same however many they are.
///
/// Threads: the reactor's.
/// Limits:  backlog_bytes_max of the log, and see limits::held_bytes_max; whoever is further behind loses the oldest.
/// Failure: send() and prepare() may throw as SegmentLog::prepare(), publishing nothing; send() and commit()
///          std::bad_alloc, where some readers may have the message and others not.
class PublishLog {
  public:
    /// The tail must outlive the sessions of `peers`.
    PublishLog(Reactor& reactor, PeerTable& peers, Tail& tail, const PublisherOptions& options);

    /// To readers on other threads. Once, before any message.
    void share(std::span<const std::unique_ptr<Lane>> lanes) noexcept;
    /// Before it is a reader of any topic.
    void join(Session& session) noexcept { session.outbox()->share(tail_); }
    /// Before any topic's readers change.
    void settle() noexcept { tail_.settle(); }

    /// Publishes in few steps, where the topic's readers are those of the message before and nothing else is to be
    /// done. False, and nothing is done, otherwise.
    [[nodiscard]] bool send_on(const Topic& topic, std::string_view payload) noexcept {
        return payload.size() > zmtp::short_body_bytes_max ? send_on<zmtp::frame_header_bytes_max>(topic, payload)
                                                           : send_short_on(topic, payload);
    }
    /// The same of a payload with a short header; false for any other, and an empty one, which may have no address.
    [[nodiscard]] bool send_short_on(const Topic& topic, std::string_view payload) noexcept {
        return payload.size() - 1 < zmtp::short_body_bytes_max && send_on<zmtp::frame_header_bytes(1)>(topic, payload);
    }
    /// The topic is fresh and has readers. Flushes when enough has come together, or has it done later.
    void send(Topic& topic, std::string_view payload);

    /// Room for a payload in the log; commit() follows. The topic is fresh.
    [[nodiscard]] std::byte* prepare(Topic& topic, std::size_t payload_bytes_max);
    /// The same in few steps, of any topic, where its readers are those of the message before and the segment has room:
    /// the topic is fresh then and has readers. Null, and nothing is done, otherwise.
    [[nodiscard]] std::byte* prepare_on(Topic& topic, std::size_t payload_bytes_max) noexcept {
        const std::size_t header_bytes = zmtp::frame_header_bytes(payload_bytes_max);
        if (topic.readers.get() != readers_ || !tail_.fits(topic.frame.size() + header_bytes + payload_bytes_max)) {
            return nullptr;
        }
        topic_ = &topic;
        payload_header_bytes_ = header_bytes;
        room_ = tail_.next();
        topic.frame.copy_to(room_);
        return room_ + topic.frame.size() + header_bytes;
    }
    /// The topic that prepare() was called for.
    [[nodiscard]] Topic& prepared() const noexcept { return *topic_; }
    /// The prepared topic is fresh. flush() is left to the caller.
    void commit(std::size_t payload_bytes);
    /// The same in few steps, where nothing has changed since prepare() and the message follows the one before. False,
    /// and nothing is done, otherwise. Whoever changes a topic's readers has settled the tail.
    [[nodiscard]] bool commit_on(std::size_t payload_bytes) noexcept {
        if (room_ != tail_.next() || topic_->readers.get() != readers_) {
            return false;
        }
        tail_.add(write_header(payload_bytes));
        return true;
    }
    void skip() noexcept { ++messages_; }

    /// Whether one more message of so many bytes costs no subscriber another one. While not, what there is, is flushed
    /// in the next turn, once, so that whoever waits for room neither waits for itself nor keeps the loop awake.
    [[nodiscard]] bool has_room(std::size_t bytes) {
        const bool room = free_capacity_.has_room(bytes, given_);
        if (!room && flush_asked_at_ != messages()) {
            peers_.flush_soon();
            flush_asked_at_ = messages();
        }
        return room;
    }
    /// What subscribers may be behind, from now on: the least of their limits, and the largest.
    void set_limits(std::size_t least, std::size_t largest) noexcept {
        free_capacity_.set_backlog_bytes_max(least);
        lag_limit_.set_largest(largest);
    }
    /// After something was given to one subscriber alone.
    void enforce_kept_limit() { lag_limit_.enforce_kept_limit(); }
    /// Where the log ends: that of whole segments, and that of messages.
    [[nodiscard]] std::uint64_t end() const noexcept { return log_.end(); }
    [[nodiscard]] std::uint64_t position() {
        tail_.settle();
        return log_.position();
    }
    /// Published and skipped so far.
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_ + tail_.messages(); }

  private:
    /// With a header of so many bytes in front of the payload.
    template <std::size_t header_bytes>
    [[nodiscard]] bool send_on(const Topic& topic, std::string_view payload) noexcept {
        const std::size_t topic_bytes = topic.frame.size();
        const std::size_t bytes = topic_bytes + header_bytes + payload.size();
        if (topic.readers.get() != readers_ || !tail_.has_room(bytes)) {
            return false;
        }
        std::byte* const out = tail_.next();
        tail_.add(bytes);
        topic.frame.copy_to(out);
        if constexpr (header_bytes == zmtp::frame_header_bytes(1)) {
            zmtp::write_short_frame_header(out + topic_bytes, 0, payload.size());
        } else {
            zmtp::write_frame_header(out + topic_bytes, 0, payload.size());
        }
        std::memcpy(out + topic_bytes + header_bytes, payload.data(), payload.size());
        return true;
    }
    /// Puts the header between the prepared topic and its payload. Returns the bytes of all three.
    std::size_t write_header(std::size_t payload_bytes) noexcept {
        std::byte* const header = room_ + topic_->frame.size();
        const std::size_t header_bytes = zmtp::write_frame_header(header, 0, payload_bytes);
        if (header_bytes != payload_header_bytes_) {  // shorter than it might have been: close the gap
            std::memmove(header + header_bytes, header + payload_header_bytes_, payload_bytes);
        }
        return topic_->frame.size() + header_bytes + payload_bytes;
    }
    [[nodiscard]] bool share_readers(Topic& topic) const noexcept;
    void give(std::size_t bytes);
    void open_tail(std::size_t bytes_max) noexcept;
    void begin(ReaderSet& readers);
    void enforce_limits();

    Tail& tail_;
    const ReaderSet* readers_ = nullptr;  // of the tail, while it is open, and of tail_topic_
    const Topic* tail_topic_ = nullptr;
    std::uint64_t messages_ = 0;  // but for those that came by the tail
    PeerTable& peers_;
    const PublisherOptions& options_;
    SegmentLog log_;
    LagLimit lag_limit_;
    FreeCapacity free_capacity_;
    std::span<const std::unique_ptr<Lane>> lanes_;
    std::uint64_t given_ = 0;           // to the readers' outboxes one by one; each may have begun a run
    std::uint64_t flush_asked_at_ = 0;  // messages, when a lack of room last asked for a flush

    // Between prepare() and commit().
    Topic* topic_ = nullptr;
    std::byte* room_ = nullptr;
    std::size_t payload_header_bytes_ = 0;

    const std::uint64_t& flushes_;
    std::uint64_t flushes_seen_ = 0;
    std::size_t unflushed_bytes_ = 0;  // but for those in the tail
    std::uint64_t tail_bytes_seen_ = 0;
    std::uint64_t segments_seen_ = 0;
};

}  // namespace telegate
