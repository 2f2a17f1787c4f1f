#pragma once

#include "core/channel_table.hpp"
#include "device/recording/recording_encoder.hpp"
#include "recording/recorder_buffer.hpp"

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
    /// The file of the piece is gone: what the piece holds of the load comes next again.
    void put_back() noexcept;
    /// Samples of the load that no piece has had.
    [[nodiscard]] std::size_t samples_left() const noexcept;

  private:
    void add_samples();
    void add_gap(const recording::Gap& gap);
    void declare(ChannelId channel);

    const ChannelTable& channels_;
    recording::RecordingEncoder encoder_;
    std::vector<bool> declared_;  // in this file, by channel
    /// Where in the load: the next of each kind.
    struct Place {
        std::size_t sample = 0;
        std::size_t gap = 0;
        std::size_t lost = 0;  // in lost_channels
    };

    const RecorderLoad* load_ = nullptr;
    Place next_;
    Place piece_begin_;
    std::size_t samples_ = 0;
};

}  // namespace telegate
