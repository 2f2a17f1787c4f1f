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

/// The options of a recorder: the settings record, record_bytes_max and record_files_max.
struct RecorderOptions {
    static constexpr std::uint64_t bytes_least = 1'048'576;

    std::string path;
    std::string device = {};                     // "": all devices
    std::uint64_t bytes_max = 1'073'741'824;     // per file, at least bytes_least; 0: no limit
    std::size_t files_max = 2;                   // at least 1
    std::chrono::milliseconds retry_min{1'000};  // after a failure; doubled each time, up to retry_max

    bool operator==(const RecorderOptions&) const = default;
};

struct RecorderStatus {
    std::string path;
    std::string device;         // "": all devices
    std::uint64_t samples = 0;  // written
    std::uint64_t lost = 0;     // by the recorder
    std::uint64_t pending = 0;  // neither written nor lost yet
    std::uint64_t bytes = 0;    // written, to all files together
    std::string error;          // why writing currently fails; "": it does not
};

/// Writes the samples of one or all devices to a file, on its own thread (tg-record-NAME). put() never waits for the
/// disk: samples that arrive while the disk is slow, full or missing may be lost. They are counted, and marked in the
/// file when it is writable again.
///
/// Threads: put(), put_gap() the I/O thread; close() any one; status() any.
/// Limits: those of RecorderBuffer; bytes_max and files_max on disk. A disk that does not respond blocks close().
/// Failure: failed writes are retried after retry_min, with exponential backoff; status() and the log report the
/// reason. The constructor throws std::system_error if no thread can be created.
class Recorder {
  public:
    static constexpr std::chrono::milliseconds retry_max{30'000};
    /// Limit of the data that a power failure can destroy, in addition to samples that are not written yet.
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
    /// Writes pending samples if possible and ends the recording; waits until this is done. No samples are accepted
    /// after that.
    void close();

    [[nodiscard]] const RecorderOptions& options() const noexcept { return options_; }
    [[nodiscard]] RecorderStatus status() const;

  private:
    enum class Wanted : std::uint8_t { unknown, yes, no };

    [[nodiscard]] bool wants(ChannelId channel) noexcept;
    void run();
    [[nodiscard]] bool write_until_closed();
    /// Returns whether the whole load is on disk.
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
    std::vector<Wanted> wanted_;  // used by the I/O thread; by channel; empty: all channels are wanted
    RecorderBuffer buffer_;

    // The members below are used by the recorder thread.
    const std::unique_ptr<RecordingOutput> output_;
    RecorderLoad load_;
    RecordingPieces pieces_;
    bool is_open_ = false;
    bool is_ended_ = false;         // the end record of the open file has been created
    bool is_torn_ = false;          // the last data could not be written
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
