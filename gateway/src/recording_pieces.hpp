#pragma once

#include "core/channel_table.hpp"
#include "device/recording/recording_encoder.hpp"
#include "recorder_buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace telegate {

/// Turns what a recorder has taken into pieces of a recording, with each channel declared before its first sample.
/// A piece stays until it is written.
///
/// Threads: one, the recorder's; channels may be added meanwhile.
/// Limits:  piece_bytes_max a piece.
/// Failure: std::bad_alloc.
class RecordingPieces {
  public:
    /// The largest record, and some more.
    static constexpr std::size_t piece_bytes_max = 131'072;

    explicit RecordingPieces(const ChannelTable& channels) : channels_(channels) {}

    /// A file goes on with a recorder that begins; a new one begins with its head. It becomes a piece.
    void begin(const recording::Start& start, std::uint32_t next_number, bool is_new);
    void end(const recording::End& end) { encoder_.end(end); }

    /// What comes next. It must stay until next() is false.
    void give(const RecorderLoad& load) noexcept;
    /// Makes the next piece of it. False: there is none.
    [[nodiscard]] bool next();

    [[nodiscard]] Bytes piece() const noexcept { return encoder_.bytes(); }
    /// How many samples it has.
    [[nodiscard]] std::size_t samples() const noexcept { return samples_; }
    /// The piece has been written.
    void clear() noexcept;
    /// Samples of the load that no piece has had.
    [[nodiscard]] std::size_t samples_left() const noexcept;

  private:
    void add_samples();
    void add_gap(const recording::Gap& gap);
    void declare(ChannelId channel);

    const ChannelTable& channels_;
    recording::RecordingEncoder encoder_;
    std::vector<bool> declared_;  // in this file, by channel
    const RecorderLoad* load_ = nullptr;
    std::size_t next_sample_ = 0;
    std::size_t next_gap_ = 0;
    std::size_t next_lost_ = 0;  // in lost_channels
    std::size_t samples_ = 0;
};

}  // namespace telegate
