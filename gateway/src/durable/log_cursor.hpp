#pragma once

#include "durable/sample_page.hpp"
#include "encode/labels.hpp"

#include "core/channel_table.hpp"
#include "store/log_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// Reads selected samples of one epoch from the log, in pages.
///
/// Threads: one.
/// Limits:  one block and the index of one segment in memory; the names of the epoch's channels.
/// Failure: functions throw std::system_error if the log cannot be read, and std::bad_alloc.
class LogCursor {
  public:
    struct Options {
        std::string directory;
        std::int64_t epoch_ms = 0;
        std::shared_ptr<const SampleSelection> selection;
        SampleText* present_text = nullptr;  // of the running epoch, if this is the one: the log uses its channel ids
        SharedLabels labels = nullptr;       // otherwise
    };
    // A page ends at one of these limits: samples, blocks that are read, samples that are decoded.
    static constexpr std::size_t page_samples_max = 1'024;
    static constexpr std::size_t page_blocks_max = 256;
    static constexpr std::size_t page_decoded_max = 65'536;
    enum class Result : std::uint8_t { page_full, log_end, epoch_end };

    /// Starts with the block at `start`, which has to be one of the epoch.
    LogCursor(store::FileSystem& files, Options options, store::Position start);
    LogCursor(const LogCursor&) = delete;
    LogCursor& operator=(const LogCursor&) = delete;

    /// Whether the cursor can continue at a position with this selection.
    [[nodiscard]] bool can_continue(std::int64_t epoch_ms, std::uint64_t position,
                                    const SampleSelection& selection) const;
    /// Continues at a position, or at the next one that the log has. Without it, the cursor starts with its first
    /// block.
    void move_to(std::uint64_t position);
    /// Adds samples before the position `until` to a page that ends where the cursor is.
    [[nodiscard]] Result fill(SamplePage& page, std::uint64_t until = UINT64_MAX);
    /// Reports everything up to `position`, which was published, as missing: the log will not have it. To continue
    /// there without that, see move_to().
    void pass(std::uint64_t position, SamplePage& page);

    [[nodiscard]] std::uint64_t position() const noexcept { return std::max(position_, skip_to_); }
    /// Whether the epoch, which has been read to its end, ended cleanly.
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
    [[nodiscard]] const std::shared_ptr<SampleText>& text() const noexcept { return text_; }

  private:
    enum class Want : std::uint8_t { unknown, no, yes };
    struct Channel {
        Want want = Want::unknown;
        ChannelId id{};  // in the table of text_
        SampleSelection::Seqs seqs;
    };
    struct Names;

    [[nodiscard]] bool is_wanted(const store::BlockHead& head, const std::vector<store::SegmentChannel>& definitions);
    [[nodiscard]] const Channel& channel(ChannelId id, const std::vector<store::SegmentChannel>& definitions);
    void learn(const store::SegmentChannel& definition);
    [[nodiscard]] std::optional<Result> next_block(SamplePage& page);
    void begin_block() noexcept;
    [[nodiscard]] bool has_rest() const noexcept;
    void end_block(SamplePage& page);
    [[nodiscard]] std::size_t next_place() const noexcept;
    [[nodiscard]] std::uint64_t next_position() const noexcept;
    void approach(SamplePage& page, std::uint64_t until);
    void add_gap(SamplePage& page);
    void add_sample(SamplePage& page);

    const Options options_;
    store::LogReader reader_;
    std::shared_ptr<SampleText> text_;
    std::shared_ptr<Names> names_;   // null: those of the gateway
    std::vector<Channel> channels_;  // by id in the log
    store::LogBatch batch_;          // the current block
    std::size_t next_sample_ = 0;
    std::size_t next_gap_ = 0;
    std::size_t next_skip_ = 0;
    std::uint64_t row_position_ = 0;    // of a sample of the block, minus its index, up to the next skip
    std::uint64_t batch_position_ = 0;  // of the block's first entry
    std::uint64_t position_ = 0;
    std::uint64_t skip_to_ = 0;                          // entries before this position are not wanted
    store::GapReason loss_ = store::GapReason::damaged;  // why samples before the next block are missing
    bool is_position_known_ = false;                     // otherwise it is that of the first block
    bool is_at_epoch_end_ = false;
    bool has_ended_ = false;
};

}  // namespace telegate
