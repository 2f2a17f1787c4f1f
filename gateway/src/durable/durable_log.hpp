#pragma once

#include "line/sample_consumer.hpp"
#include "log/log.hpp"
#include "recording/recorder_buffer.hpp"

#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "store/file_system.hpp"
#include "store/sample_log.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

namespace telegate {

/// The settings of [log].
struct DurableLogOptions {
    std::string path;  // "": no log
    store::LogLimits limits{};
    std::chrono::milliseconds sync_interval{1'000};

    bool operator==(const DurableLogOptions&) const = default;
};

/// Counters of the reads of the log since the start; see LogHistory.
struct LogReadCounts {
    std::uint64_t pages = 0;
    std::uint64_t samples = 0;  // returned
    std::uint64_t refused = 0;  // because too many requests were pending
    std::uint64_t late = 0;     // pages that the log had not been written for in time
    std::uint64_t failed = 0;   // pages that could not be read
};

struct DurableLogStatus {
    std::string path;
    store::LogStatus log;
    std::optional<std::uint64_t> capacity_bytes;  // limit on the size; none: no limit
    std::uint64_t pending = 0;                    // samples not handed to the log yet
    std::uint64_t lost = 0;                       // samples that the disk was too slow for
    LogReadCounts reads;
    std::int64_t oldest_utc_ns = 0;  // when the oldest segment began; 0: unknown
    std::string error;               // why nothing can be written now; "": it can
};

/// Writes all published samples and gaps to the durable log, on its own thread (tg-log). Publishing never waits for the
/// disk, unless the log is full and set to block.
///
/// Threads: take(), gap(), must_wait(), ledger(): the I/O thread. change(), status(): any. close(): one.
/// Limits: RecorderBuffer's in memory, then samples are dropped, counted, and named in the log as gaps. On disk those
/// of the options. close() waits for the disk. Failure: the constructor throws SettingsError if another process has
/// locked the directory, and std::system_error if access is denied or no thread can be created. A disk that cannot be
/// written is retried after 1 to 30 seconds; status() and the log lines name the reason.
class DurableLog final : public SampleConsumer {
  public:
    static constexpr std::chrono::milliseconds retry_min{1'000};
    static constexpr std::chrono::milliseconds retry_max{30'000};

    struct Parts {
        const ChannelTable& channels;
        const Clock& clock;
        Log& log;
        std::int64_t epoch_ms = 0;
        /// Returns what else is known of an epoch that did not end cleanly.
        store::SampleLog::KnownSeqs known;
        /// Called on tg-log when must_wait() has become false.
        std::function<void()> wake_pump;
        store::FileSystem& files = store::real_file_system();
    };
    DurableLog(Parts parts, DurableLogOptions options);
    ~DurableLog() override;
    DurableLog(const DurableLog&) = delete;
    DurableLog& operator=(const DurableLog&) = delete;

    /// Applies all options but the path.
    void change(const DurableLogOptions& options);
    /// Writes what is pending, ends the epoch in the log, and waits for both. Nothing is taken afterwards.
    void close();

    [[nodiscard]] std::string_view name() const noexcept override { return "log"; }
    void take(std::span<const TelemetrySample> samples) noexcept override;
    void gap(const SampleGap& gap) noexcept override;
    [[nodiscard]] bool must_wait() override { return is_blocking_.load(std::memory_order_relaxed); }
    [[nodiscard]] ConsumerLedger ledger() const noexcept override { return ledger_; }

    [[nodiscard]] DurableLogStatus status() const;
    /// Returns when the oldest segment began, in UTC; 0: unknown. Threads: any.
    [[nodiscard]] std::int64_t oldest_utc_ns() const noexcept { return oldest_utc_ns_; }
    /// Returns a number of samples published in this epoch that can be read from the log, or never will be. Threads:
    /// any.
    [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
    /// Waits until more than `published` samples are written(), which does not wait for the next regular write. Returns
    /// false if that takes longer than `time_max` or the log cannot be written. Threads: any but the io thread.
    [[nodiscard]] bool write_now(std::uint64_t published, std::chrono::milliseconds time_max);

  private:
    [[nodiscard]] std::unique_ptr<store::SampleLog> open() const;
    void report_recovery(const store::RecoveryReport& report) const;
    void run();
    [[nodiscard]] std::optional<std::chrono::milliseconds> idle_max() const;
    void open_until_closed();
    void append_load();
    void append_lost();
    void sync_until_closed();
    void write_once();
    void end();
    void note_state();
    void note_written();
    [[nodiscard]] std::int64_t began_at(store::Position first_position) const;
    void note_failure(const std::string& what);
    void note_success();
    [[nodiscard]] DurableLogOptions options() const;

    const Parts parts_;
    RecorderBuffer buffer_;
    ConsumerLedger ledger_;  // used by the I/O thread
    std::atomic<bool> is_blocking_{false};
    std::atomic<std::uint64_t> written_{0};
    std::atomic<std::int64_t> oldest_utc_ns_{0};

    // Used by tg-log.
    std::unique_ptr<store::SampleLog> log_;
    RecorderLoad load_;
    MonoTime synced_at_{};
    std::chrono::milliseconds retry_{0};

    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable state_changed_;
    DurableLogOptions options_;
    DurableLogStatus status_;
    std::thread thread_;
};

}  // namespace telegate
