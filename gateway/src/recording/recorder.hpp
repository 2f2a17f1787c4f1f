#pragma once

#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "log/log.hpp"
#include "recording/recorder_buffer.hpp"
#include "recording/recording_file.hpp"
#include "recording/recording_pieces.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace telegate {

/// What one recorder is to do: the settings record, record_bytes_max and record_files_max.
struct RecorderOptions {
    static constexpr std::uint64_t bytes_least = 1'048'576;

    std::string path;
    std::string device = {};                     // "": all
    std::uint64_t bytes_max = 1'073'741'824;     // of a file, bytes_least or more; 0: no limit
    std::size_t files_max = 2;                   // 1 or more
    std::chrono::milliseconds retry_min{1'000};  // after a failure; doubled each time, up to retry_max

    bool operator==(const RecorderOptions&) const = default;
};

struct RecorderStatus {
    std::string path;
    std::string device;         // "": all
    std::uint64_t samples = 0;  // written
    std::uint64_t lost = 0;     // by the recorder
    std::uint64_t pending = 0;  // neither yet
    std::uint64_t bytes = 0;    // written, to all files together
    std::string error;          // why nothing can be written just now; "": it can
};

/// Writes the samples of a device, or of all, to a file, on a thread of its own (tg-record-NAME). put() never waits for
/// the disk: what comes while the disk is too slow, full or gone is lost, counted, and marked in the file when it can
/// be written again.
///
/// Threads: put(), put_gap() the io thread; close() any one; status() any.
/// Limits:  RecorderBuffer's; bytes_max and files_max on disk. A disk that does not answer holds up close().
/// Failure: what cannot be written is tried again, after retry_min, then more and more seldom; status() and the log say
///          why. The constructor throws std::system_error when there is no thread.
class Recorder {
  public:
    static constexpr std::chrono::milliseconds retry_max{30'000};
    /// So much may be lost with the power, besides what still waits to be written.
    static constexpr std::size_t unsynced_bytes_max = 1'048'576;

    struct Parts {
        ChannelTable& channels;
        const Clock& clock;
        Log& log;
        std::int64_t epoch_ms = 0;
    };
    Recorder(const RecorderOptions& options, Parts parts);
    Recorder(RecorderOptions options, Parts parts, std::unique_ptr<RecordingOutput> output);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void put(std::span<const TelemetrySample> samples) noexcept;
    void put_gap(const recording::Gap& gap) noexcept;
    /// Writes what waits, if that can be, ends the recording and waits for that. Nothing is taken from then on.
    void close();

    [[nodiscard]] const RecorderOptions& options() const noexcept { return options_; }
    [[nodiscard]] RecorderStatus status() const;

  private:
    enum class Wanted : std::uint8_t { unknown, yes, no };

    [[nodiscard]] bool wants(ChannelId channel) noexcept;
    void run();
    [[nodiscard]] bool write_until_closed();
    /// Whether all of the load is on disk.
    [[nodiscard]] bool write_out();
    void write_load();
    [[nodiscard]] bool is_full(std::uint64_t file_bytes) const noexcept;
    void prepare_file();
    void open();
    void rotate();
    void write_piece();
    void sync();
    void end();
    void make_end();
    void note_failure(const std::string& what);
    void note_success();

    const RecorderOptions options_;
    const Parts parts_;
    std::vector<Wanted> wanted_;  // the io thread's, by channel; empty: all are
    RecorderBuffer buffer_;

    // The recorder thread's.
    const std::unique_ptr<RecordingOutput> output_;
    RecorderLoad load_;
    RecordingPieces pieces_;
    bool is_open_ = false;
    bool is_ended_ = false;         // the end record of the open file is made
    bool is_torn_ = false;          // what came last could not be written
    std::uint64_t file_bytes_ = 0;  // of the open file
    std::size_t unsynced_bytes_ = 0;
    std::uint64_t samples_before_ = 0;  // written before the last start record
    std::uint64_t lost_before_ = 0;     // lost before the last end record
    std::chrono::milliseconds retry_{0};

    std::atomic<std::uint64_t> samples_{0};
    std::atomic<std::uint64_t> given_up_{0};  // samples that could not be written at the end
    std::atomic<std::uint64_t> bytes_{0};
    mutable std::mutex mutex_;  // guards error_
    std::string error_;
    std::thread thread_;
};

}  // namespace telegate
