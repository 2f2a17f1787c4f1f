#pragma once

#include "core/channel_table.hpp"
#include "device/recording/recording_encoder.hpp"
#include "recording/recorder_buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace telegate {

/// Splits the data that a recorder has taken into pieces of a recording, and declares each channel before its first
/// sample. A piece stays until it is written.
///
/// Threads: one, the recorder's; channels may be added concurrently.
/// Limits: piece_bytes_max per piece.
/// Failure: std::bad_alloc.
class RecordingPieces {
  public:
    /// The size of the largest record plus a reserve.
    static constexpr std::size_t piece_bytes_max = 131'072;

    explicit RecordingPieces(const ChannelTable& channels) : channels_(channels) {}

    /// Starts a recording with a piece: a start record in an existing file, or the file header and a start record in a
    /// new one.
    void begin(const recording::Start& start, std::uint32_t next_number, bool is_new);
    void end(const recording::End& end) { encoder_.end(end); }

    /// Sets the load to split. It must stay valid until next() returns false.
    void give(const RecorderLoad& load) noexcept;
    /// Creates the next piece of the load. Returns false if there is none.
    [[nodiscard]] bool next();

    [[nodiscard]] Bytes piece() const noexcept { return encoder_.bytes(); }
    /// Returns the number of samples in the piece.
    [[nodiscard]] std::size_t samples() const noexcept { return samples_; }
    /// Discards the piece after it has been written.
    void clear() noexcept;
    /// Handles the loss of the piece's file: the part of the load in the piece is used again next.
    void put_back() noexcept;
    /// Returns the number of samples of the load that are not in a piece yet.
    [[nodiscard]] std::size_t samples_left() const noexcept;

  private:
    void add_samples();
    void add_gap(const recording::Gap& gap);
    void declare(ChannelId channel);

    const ChannelTable& channels_;
    recording::RecordingEncoder encoder_;
    std::vector<bool> declared_;  // in this file, by channel
    /// The position in the load: the next item of each kind.
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
