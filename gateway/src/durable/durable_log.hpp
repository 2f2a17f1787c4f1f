#pragma once

#include "config/load.hpp"
#include "durable/log_buffer.hpp"
#include "line/sample_consumer.hpp"
#include "log/log.hpp"

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
#include <vector>

namespace telegate {

/// The settings of [log].
struct DurableLogOptions {
    std::string path;  // "": no log
    store::LogLimits limits{};
    std::chrono::milliseconds sync_interval{1'000};
    std::vector<std::string> devices = {};  // that are logged: names, or beginnings of names and "*"; none: all devices

    [[nodiscard]] bool has_device(std::string_view device) const noexcept;
    [[nodiscard]] bool has_topic(std::string_view topic) const noexcept {
        return has_device(topic.substr(0, topic.find('/')));
    }
    bool operator==(const DurableLogOptions&) const = default;
};

/// The end of the previous run, as the log shows it.
struct LoggedRun {
    std::int64_t epoch_ms = 0;
    std::uint64_t captured = 0;       // samples up to the end of the log: logged, or in a gap
    std::uint64_t lost = 0;           // of these: in a gap because that run did not stop cleanly
    std::int64_t last_sample_ns = 0;  // time of the newest logged sample; 0: unknown
};

/// Counters of the reads of the log since the start; see LogHistory.
struct LogReadCounts {
    std::uint64_t pages = 0;
    std::uint64_t samples = 0;  // returned
    std::uint64_t refused = 0;  // because too many requests were pending
    std::uint64_t late = 0;     // pages that were late because the log was not written in time
    std::uint64_t failed = 0;   // pages that could not be read
};

struct DurableLogStatus {
    std::string path;
    std::optional<LoggedRun> previous_run;  // none: this is the first one, or the log is not open yet
    store::LogStatus log;
    std::optional<std::uint64_t> capacity_bytes;  // size at which the log or its disk is full; none: unknown
    std::uint64_t pending = 0;                    // samples that are not in a file yet
    std::uint64_t lost = 0;                       // samples that the disk was too slow for, or failed at the end
    LogReadCounts reads;
    std::int64_t oldest_utc_ns = 0;  // when the oldest segment began; 0: unknown
    std::string error;               // why nothing can be written now; "": it can
};

/// Writes published samples and gaps to the durable log, on its own thread (tg-log). Each sync has another one
/// (tg-log-sync), so that tg-log can write marks until the disk is ready. Publishing never waits for the disk, unless
/// the log is full and set to block. Devices that the options leave out are not lost: the log only counts their
/// samples, so that it knows the position of each logged one.
///
/// Threads: consume(), gap(), flush(), must_wait(), ledger(): the I/O thread. change(), status(): any. close(): one.
/// Limits: LogBuffer's in memory, then samples are dropped, counted, and named in the log as gaps. On disk those
/// of the options. close() waits for the disk. Failure: the constructor throws std::system_error if no thread can be
/// created or access is denied, and SettingsError if another process has locked the directory. A disk that cannot be
/// written is retried after 1 to 30 seconds; status() and the log lines name the reason.
class DurableLog final : public SampleConsumer {
  public:
    static constexpr std::chrono::milliseconds retry_min{1'000};
    static constexpr std::chrono::milliseconds retry_max{30'000};
    /// The limits are applied at least this often.
    static constexpr std::chrono::milliseconds idle_time_max{60'000};
    /// How long after a removal of segments the disk counts as lacking space.
    static constexpr std::chrono::minutes removing_time{60};

    struct Parts {
        const ChannelTable& channels;
        const Clock& clock;
        Log& log;
        std::int64_t epoch_ms = 0;
        /// Returns what else is known of an epoch that did not end cleanly.
        store::SampleLog::KnownSeqs known;
        /// Called on the thread of the log when must_wait() has become false or flush() has something to do.
        std::function<void()> wake_pump;
        /// Called on tg-log, and in the constructor, with the position before which everything is synced.
        std::function<void(store::Position)> note_synced = {};
        /// Called on tg-log. Returns the position from which on age_max does not remove segments.
        std::function<store::Position()> keep_from = {};
        store::FileSystem& files = store::real_file_system();
        /// Returns the last sequence number of a channel that was captured. Threads: any.
        std::function<std::uint64_t(ChannelId)> captured = {};
        /// Called on the thread of the log when its disk begins or ceases to lack space.
        std::function<void(bool is_lacking, LogFields fields)> note_space = {};
    };
    DurableLog(Parts parts, DurableLogOptions options);
    ~DurableLog() override;
    DurableLog(const DurableLog&) = delete;
    DurableLog& operator=(const DurableLog&) = delete;

    /// Returns the last sequence numbers of the previous run as far as they are known, once, if it did not end cleanly
    /// and the constructor has opened the log.
    [[nodiscard]] store::LastSeqs take_last_seqs() noexcept { return std::move(last_seqs_); }
    /// Applies the limits and the sync interval.
    void change(const DurableLogOptions& options);
    /// Returns a problem for each limit that would make the log remove data that it keeps now.
    [[nodiscard]] std::vector<SettingsProblem> removals(const store::LogLimits& wanted) const;
    /// Writes what is pending, ends the epoch in the log, and waits for both. Nothing is taken afterwards.
    void close() override;

    [[nodiscard]] std::string_view name() const noexcept override { return "log"; }
    void consume(std::span<const TelemetrySample> samples) noexcept override;
    void gap(const SampleGap& gap) noexcept override;
    void flush() override;
    /// Samples reach the log as often as it writes marks, which name them if the process is killed.
    [[nodiscard]] std::chrono::milliseconds queue_delay_max() const noexcept override {
        return LogBuffer::call_interval;
    }
    [[nodiscard]] bool must_wait() override { return is_blocking_.load(std::memory_order_relaxed); }
    [[nodiscard]] ConsumerLedger ledger() const noexcept override { return ledger_; }

    [[nodiscard]] DurableLogStatus status() const;
    [[nodiscard]] DurableLogOptions options() const;
    /// Returns when the oldest segment began, in UTC; 0: unknown. Threads: any.
    [[nodiscard]] std::int64_t oldest_utc_ns() const noexcept { return oldest_utc_ns_; }
    /// Returns a number of samples published in this epoch that can be read from the log, or never will be. Threads:
    /// any.
    [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
    /// The same, and how many of the last ones are of devices that are not logged.
    struct Written {
        std::uint64_t published = 0;
        std::uint64_t left_out = 0;
    };
    [[nodiscard]] Written written_parts() const;
    /// Waits until more than `published` samples are written(), which does not wait for the next regular write. Returns
    /// false if that takes longer than `time_max` or the log cannot be written. Threads: any but the I/O thread.
    [[nodiscard]] bool write_now(std::uint64_t published, std::chrono::milliseconds time_max);

  private:
    [[nodiscard]] std::unique_ptr<store::SampleLog> open();
    void report_recovery(const store::RecoveryReport& report);
    void run();
    [[nodiscard]] std::chrono::milliseconds idle_max() const;
    void open_until_closed();
    [[nodiscard]] std::chrono::milliseconds delay_max() const;
    [[nodiscard]] std::chrono::milliseconds until_sync() const;
    [[nodiscard]] bool has_marks() const noexcept;
    void mark(bool is_last = false) noexcept;
    void sync_and_mark(const std::function<void()>& sync);
    [[nodiscard]] bool wait_for_retry();
    void append_load();
    void sync_until_closed();
    void write_once();
    void end();
    void update_state();
    void report_space(const store::LogStatus& now);
    void record_written();
    [[nodiscard]] std::optional<std::uint64_t> free_bytes() const;
    [[nodiscard]] std::int64_t began_at(store::Position first_position) const;
    void record_failure(const std::string& what);
    void record_success();

    enum class Wanted : std::uint8_t { unknown, yes, no };
    [[nodiscard]] bool wants(ChannelId channel) noexcept;

    const Parts parts_;
    const std::string path_;
    LogBuffer buffer_;
    store::LastSeqs last_seqs_;
    // Used by the I/O thread.
    ConsumerLedger ledger_;
    std::uint64_t flushed_ = 0;  // ledger_.taken at the last flush()

    std::vector<std::atomic<Wanted>> wanted_;  // by channel; empty: all channels are wanted
    std::atomic<bool> is_blocking_{false};
    std::atomic<std::uint64_t> written_{0};
    std::atomic<std::int64_t> oldest_utc_ns_{0};

    // Used by the thread of the log.
    std::unique_ptr<store::SampleLog> log_;
    MonoTime synced_at_{};
    store::Position reported_synced_ = 0;
    std::chrono::steady_clock::time_point marked_at_{};
    std::chrono::milliseconds retry_{0};
    bool is_disk_full_ = false;  // the last write failed because of that
    std::string space_;          // state that was reported last; "": the disk has space
    MonoTime removed_at_{};      // when segments were last removed because it had not

    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable state_changed_;
    DurableLogOptions options_;
    DurableLogStatus status_;
    std::uint64_t left_out_ = 0;               // see Written
    std::optional<std::uint64_t> free_bytes_;  // of the file system, at the last write; none: unknown
    bool is_over_ = false;                     // nothing more will be written
    std::thread thread_;
};

}  // namespace telegate
