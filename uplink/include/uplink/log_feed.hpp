#pragma once

#include "uplink/delivery.hpp"
#include "uplink/quarantine.hpp"

#include "core/clock.hpp"
#include "core/telemetry_sample.hpp"
#include "store/file_system.hpp"
#include "store/log_reader.hpp"
#include "store/segment_format.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace telegate::uplink {

/// Appends the samples and gaps of a block, or of a part of one, as messages, in order. Sets the payload, the counts,
/// the time and `begin` of each. A gap has the time of the next sample or, if there is none, `end_utc_ns`.
using EncodeBlock =
    std::function<void(const store::LogBatch& batch, std::int64_t end_utc_ns, std::vector<OutgoingMessage>& messages)>;

/// Changes the order of the samples and gaps of a block, so that those of a message are in a row. Those of each channel
/// stay in order.
using ArrangeBlock = std::function<void(store::LogBatch& batch)>;

/// Appends a block as one message in the form in which the log has it, without decoding it. Returns false, and appends
/// nothing, if that is impossible; then it is decoded and encoded.
using PassOnBlock = std::function<bool(const store::LogBatch& batch, std::vector<OutgoingMessage>& messages)>;

/// How blocks of the log become messages.
struct BlockEncoding {
    std::string format;  // of the payloads
    EncodeBlock encode;
    ArrangeBlock arrange = {};  // empty: nothing to do
    PassOnBlock pass_on = {};   // empty: all blocks are encoded
};

/// Reads the log for a delivery, block by block, and divides what the back end has refused: a message into halves, down
/// to the single sample, which moves to the quarantine and is replaced by a gap notice. The same content always becomes
/// the same messages with the same ids, whether it is divided now or was before the process restarted.
///
/// Threads: one.
/// Limits:  one block in memory, and the ranges that were refused of blocks that are not delivered.
/// Failure: fill() throws std::system_error if the log or the quarantine cannot be used, and can be called again.
class LogFeed {
  public:
    struct Parts {
        store::FileSystem& files;
        std::string log_directory;
        const Clock& clock;
        BlockEncoding encoding;
        Quarantine& quarantine;
        bool is_historical = false;  // of all messages
    };
    explicit LogFeed(Parts parts);

    void set_log(const store::LogId& id) noexcept { log_id_ = id; }
    /// Continues at a position, or at the oldest one after it that the log has, and ends before the block at `end`.
    void seek(store::Position position, store::Position end = store::position_max);
    /// Adds messages with synced samples and gaps to the delivery, up to its capacity.
    void fill(Delivery& delivery, store::Position synced);
    /// Divides a message when it is read again. A single gap notice, which the back end will never store, is omitted.
    /// Returns false for a single sample or notice while the quarantine has no capacity, because then the settings of
    /// the back end may be wrong.
    bool divide(const OutgoingMessage& message, const std::string& reason);
    /// Forgets what was divided before a position.
    void forget_before(store::Position position);
    /// Whether the log has synced entries that no delivery has.
    [[nodiscard]] bool has_more(store::Position synced) const noexcept;
    /// Whether the delivery has everything up to the end.
    [[nodiscard]] bool is_finished() const noexcept;

  private:
    /// A range of a block.
    struct Range {
        store::Position block_end = 0;
        BlockPlace begin;
        BlockPlace end;

        auto operator<=>(const Range&) const = default;
        [[nodiscard]] std::size_t entries() const noexcept { return end.sample - begin.sample + end.gap - begin.gap; }
        [[nodiscard]] bool is_sample() const noexcept { return entries() == 1 && end.sample != begin.sample; }
    };

    [[nodiscard]] bool read_block(Delivery& delivery, store::Position synced);
    void keep_gaps_before_end();
    void encode_block();
    [[nodiscard]] bool is_divided() const noexcept;
    void add_divided(OutgoingMessage message);
    void add_half(const Range& range);
    void add_refused(OutgoingMessage message, const std::string& reason);
    void copy_slice(const Range& range);
    void complete(OutgoingMessage& message) const;
    [[nodiscard]] BlockPlace middle(const Range& range) const noexcept;
    [[nodiscard]] std::int64_t end_utc_ns(std::uint32_t sample) const noexcept;
    void find_quarantined();
    [[nodiscard]] bool has_quarantined(const Range& range) const;
    [[nodiscard]] std::string topic_of(const TelemetrySample& sample) const;

    const Parts parts_;
    store::LogReader reader_;
    store::LogId log_id_{};
    store::LogBatch batch_;
    store::LogBatch slice_;                 // a part of batch_
    bool has_batch_ = false;                // read, but not encoded, because it is not synced
    std::vector<OutgoingMessage> encoded_;  // memory that encode_block() reuses
    std::deque<OutgoingMessage> outgoing_;  // of the block, not handed to the delivery yet
    store::Position read_to_end_at_ = 0;    // the synced position when the log had nothing more
    store::Position end_ = store::position_max;
    bool is_at_end_ = false;                 // the block at the end was read
    std::set<std::uint32_t> quarantined_;    // samples of the block, by index
    std::map<Range, std::string> rejected_;  // with the reason
    std::set<Range> unnamed_;                // gap notices that are omitted
};

}  // namespace telegate::uplink
