#include "durable/durable_log.hpp"

#include "config/load.hpp"
#include "device/recording/recording_format.hpp"
#include "encode/time_text.hpp"
#include "log/log_line.hpp"

#include "core/start_thread.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

std::uint64_t segment_bytes_for(const store::LogLimits& limits) {
    using store::SampleLog;
    const std::uint64_t share =
        limits.bytes_max == 0 ? SampleLog::segment_bytes : limits.bytes_max / SampleLog::segments_min;
    return std::clamp(share, SampleLog::segment_bytes_min, SampleLog::segment_bytes);
}

store::LogId random_id() {
    store::LogId id{};
    randombytes_buf(id.data(), id.size());
    return id;
}

std::string thread_name(LogKind kind, const std::string& device) {
    return kind == LogKind::log ? "tg-log" : "tg-record-" + (device.empty() ? "all" : device);
}

constexpr std::chrono::milliseconds sync_interval_min{1};

}  // namespace

DurableLog::DurableLog(Parts parts, DurableLogOptions options)
    : parts_(std::move(parts)),
      path_(options.path),
      device_(options.device),
      kind_(options.kind),
      wanted_(device_.empty() ? 0 : ChannelTable::channels_max),
      options_(std::move(options)) {
    status_.path = path_;
    status_.device = device_;
    try {
        if (kind_ == LogKind::log) {
            log_ = open();
            last_seqs_ = log_->take_last_seqs();
            note_state();
        }
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::resource_unavailable_try_again) {
            throw SettingsError({{{},
                                  "[log] path",
                                  path_ + " is in use by another gateway: each gateway needs its own directory",
                                  "log.path"}});
        }
        if (error.code() == std::errc::permission_denied) {
            throw;
        }
        note_failure(error.what());
    }
    thread_ = start_thread(thread_name(kind_, device_), [this] { run(); });
}

DurableLog::~DurableLog() {
    close();
}

/// Recordings of format version 1 are files. Renames one that has the name of the directory.
void DurableLog::set_aside_version_1() const {
    if (!std::filesystem::is_regular_file(path_)) {
        return;
    }
    std::ifstream file(path_, std::ios::binary);
    std::array<char, recording::file_header_bytes> head{};
    file.read(head.data(), head.size());
    if (file && recording::file_header_fault(std::as_bytes(std::span(head))).empty()) {
        const std::string renamed = path_ + ".v1";
        if (parts_.files.exists(renamed)) {
            throw std::runtime_error(path_ + " is a recording of format version 1, to be renamed to " + renamed +
                                     ": must not exist yet");
        }
        parts_.files.rename(path_, renamed);
        parts_.log.warn(LogLine("recording of format version 1 renamed; starting a new one").add("file", renamed));
    }
}

std::unique_ptr<store::SampleLog> DurableLog::open() {
    if (kind_ == LogKind::recording) {
        set_aside_version_1();
    }
    const store::LogLimits limits = options().limits;
    auto log = std::make_unique<store::SampleLog>(
        store::SampleLog::Parts{parts_.files, parts_.channels, parts_.clock},
        store::SampleLog::Options{path_, parts_.epoch_ms, random_id(), limits, segment_bytes_for(limits),
                                  kind_ == LogKind::recording},
        parts_.known);
    report_recovery(log->recovery());
    return log;
}

void DurableLog::report_recovery(const store::RecoveryReport& report) {
    if (report.last_epoch_ms > 0) {
        const std::lock_guard lock(mutex_);
        status_.previous_run = {report.last_epoch_ms, report.last_captured, report.crash_samples,
                                report.last_sample_ns};
    }
    if (report.last_epoch_ms > 0 && !report.last_epoch_ended) {
        parts_.log.warn(LogLine("previous run did not close the log")
                            .add("log", path_)
                            .add("epoch", report.last_epoch_ms)
                            .add("last_sample", report.last_sample_ns == 0 ? "none" : to_iso8601(report.last_sample_ns))
                            .add("captured", report.last_captured)
                            .add("lost", report.crash_samples));
    }
    if (report.truncated_bytes > 0) {
        parts_.log.warn(
            LogLine("segment ended within a record; truncated").add("log", path_).add("bytes", report.truncated_bytes));
    }
    for (const std::string& name : report.renamed) {
        parts_.log.error(LogLine("segment is damaged and was renamed").add("file", path_ + '/' + name + ".damaged"));
    }
    if (!report.damaged.empty()) {
        parts_.log.error(LogLine("last segment is damaged").add("log", path_).add("ranges", report.damaged.size()));
    }
    if (!report.not_sealed.empty()) {
        parts_.log.warn(LogLine("cannot repair last segment").add("log", path_).quote("reason", report.not_sealed));
    }
}

void DurableLog::change(const DurableLogOptions& options) {
    const std::lock_guard lock(mutex_);
    options_.limits = options.limits;
    options_.sync_interval = options.sync_interval;
}

DurableLogOptions DurableLog::options() const {
    const std::lock_guard lock(mutex_);
    return options_;
}

void DurableLog::close() {
    buffer_.close();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void DurableLog::take(std::span<const TelemetrySample> samples) noexcept {
    ledger_.taken += samples.size();
    if (wanted_.empty()) {
        return buffer_.put(samples);
    }
    while (!samples.empty()) {  // in runs of wanted and of unwanted samples
        const bool is_wanted = wants(samples.front().channel);
        const auto end = std::find_if(samples.begin() + 1, samples.end(), [&](const TelemetrySample& sample) {
            return wants(sample.channel) != is_wanted;
        });
        const auto count = static_cast<std::size_t>(end - samples.begin());
        if (is_wanted) {
            buffer_.put(samples.first(count));
        }
        samples = samples.subspan(count);
    }
}

bool DurableLog::wants(ChannelId channel) noexcept {
    Wanted& wanted = wanted_[to_index(channel)];
    if (wanted == Wanted::unknown) {
        wanted = parts_.channels.at(channel).device == device_ ? Wanted::yes : Wanted::no;
    }
    return wanted == Wanted::yes;
}

void DurableLog::gap(const SampleGap& gap) noexcept {
    ledger_.missing += gap.samples();
    if (wanted_.empty() || wants(gap.channel)) {
        buffer_.put_gap(
            {gap.channel, gap.first_seq, gap.last_seq,
             gap.reason == DropReason::shutdown ? store::GapReason::shutdown : store::GapReason::queue_overflow});
    }
}

DurableLogStatus DurableLog::status() const {
    const std::lock_guard lock(mutex_);
    DurableLogStatus status = status_;
    if (options_.limits.bytes_max > 0) {
        status.capacity_bytes = options_.limits.bytes_max;
    }
    if (free_bytes_) {
        const std::uint64_t free = *free_bytes_ - std::min(*free_bytes_, options_.limits.free_bytes_min);
        status.capacity_bytes = std::min(status.capacity_bytes.value_or(UINT64_MAX), status.log.bytes + free);
    }
    status.lost = buffer_.lost();
    const std::uint64_t settled = status.log.samples + status.log.dropped_full + status.lost;
    status.pending = std::max(buffer_.offered(), settled) - settled;
    if (is_over_) {
        status.lost += std::exchange(status.pending, 0);
    }
    return status;
}

void DurableLog::run() {
    lower_priority();
    open_until_closed();
    std::function<void()> on_pending;
    if (has_marks()) {
        on_pending = [this] {
            mark();
        };
    }
    if (log_ != nullptr) {
        sync_until_closed();
        while (buffer_.take(load_, idle_max(), on_pending, delay_max())) {
            append_load();
            sync_until_closed();
        }
        end();
    }
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    const DurableLogStatus last = status();
    const LogLine line =
        LogLine("log closed").add("log", path_).add("samples", last.log.samples).add("lost", last.lost);
    last.lost > 0 ? parts_.log.warn(line) : parts_.log.info(line);
}

/// How long the thread may sleep if there are no samples; nullopt: until there are some.
std::optional<std::chrono::milliseconds> DurableLog::idle_max() const {
    if (retry_.count() > 0) {
        return retry_;
    }
    const store::LogStatus now = log_->status();
    if (now.is_full) {
        return retry_min;
    }
    return now.synced < now.next ? std::optional(until_sync()) : std::nullopt;
}

/// How long pending samples may wait for more of them: written samples must not wait longer for a sync because of that.
std::chrono::milliseconds DurableLog::delay_max() const {
    const store::LogStatus now = log_->status();
    return now.synced < now.next ? std::min(until_sync(), LogBuffer::write_delay_max) : LogBuffer::write_delay_max;
}

/// The time until the next sync is due.
std::chrono::milliseconds DurableLog::until_sync() const {
    const auto left = synced_at_ + options().sync_interval - parts_.clock.mono_now();
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), sync_interval_min);
}

/// Opens the log, if the constructor has not, with a last attempt when close() is called.
void DurableLog::open_until_closed() {
    bool is_open = true;
    while (log_ == nullptr && is_open) {
        is_open = buffer_.wait(retry_);
        try {
            log_ = open();
            note_success();
        } catch (const std::exception& error) {
            note_failure(error.what());
        }
    }
}

/// A recording learns from the log where a killed run ended.
bool DurableLog::has_marks() const noexcept {
    return kind_ == LogKind::log && parts_.published;
}

/// Records how far the pending channels were published.
void DurableLog::mark() noexcept {
    try {
        log_->mark(parts_.published);
    } catch (const std::exception&) {
        return;  // the next write fails as well, and that is reported
    }
}

/// Moves the load into the log, in order.
void DurableLog::append_load() {
    const auto samples = std::span<const TelemetrySample>(load_.samples);
    std::size_t next = 0;
    for (const auto& [before_sample, gap] : load_.gaps) {
        log_->append(samples.subspan(next, before_sample - next));
        next = before_sample;
        log_->append(gap);
    }
    log_->append(samples.subspan(next));
    append_lost();
    load_.clear();
}

/// Adds gaps for the samples that the buffer had no capacity for; they follow all others.
void DurableLog::append_lost() {
    for (const ChannelId channel : load_.lost_channels) {
        const LogLoad::Lost& lost = load_.lost[to_index(channel)];
        log_->append(store::LogGap{channel, lost.first_seq, lost.last_seq, store::GapReason::log_slow});
    }
    log_->note_published(load_.lost_samples);
}

/// Writes the load, and retries after failures until the log has capacity for another one.
void DurableLog::sync_until_closed() {
    bool is_open = true;
    for (;;) {
        try {
            write_once();
            note_success();
        } catch (const std::exception& error) {
            note_failure(error.what());
        }
        note_state();
        if (log_->has_capacity() || !is_open) {
            return;
        }
        is_open = wait_for_retry();
    }
}

/// Waits until the next attempt, and records meanwhile how far the channels are published. Returns false if the log is
/// to be closed.
bool DurableLog::wait_for_retry() {
    if (!has_marks()) {
        return buffer_.wait(retry_);
    }
    for (std::chrono::milliseconds left = retry_; left.count() > 0; left -= LogBuffer::call_interval) {
        mark();
        if (!buffer_.wait(std::min(left, LogBuffer::call_interval))) {
            return false;
        }
    }
    return true;
}

void DurableLog::write_once() {
    DurableLogOptions now = options();
    if (parts_.keep_from) {
        now.limits.keep_from = parts_.keep_from();
    }
    log_->set_limits(now.limits);
    const MonoTime time = parts_.clock.mono_now();
    if (time - synced_at_ >= now.sync_interval || log_->status().is_full || !log_->has_capacity()) {
        log_->sync();
        synced_at_ = time;
    } else {
        log_->write();
    }
    note_written();
}

void DurableLog::note_written() {
    const std::lock_guard lock(mutex_);
    written_ = log_->status().published;
    state_changed_.notify_all();
}

bool DurableLog::write_now(std::uint64_t published, std::chrono::milliseconds time_max) {
    buffer_.hurry();
    std::unique_lock lock(mutex_);
    state_changed_.wait_for(lock, time_max, [&] { return written_ > published || !status_.error.empty(); });
    return written_ > published;
}

void DurableLog::end() {
    try {
        log_->close();
        note_success();
    } catch (const std::exception& error) {
        note_failure(error.what());
    }
    note_state();
    log_.reset();
}

void DurableLog::note_state() {
    const bool was_blocking = is_blocking_.exchange(log_->is_blocking());
    const store::LogStatus now = log_->status();
    // Only this thread changes status_.log, so it reads it without the mutex.
    if (now.directories_lost > status_.log.directories_lost) {
        parts_.log.error(
            LogLine("directory of the log was removed or replaced; continuing in the new one").add("log", path_));
    }
    if (oldest_utc_ns_ == 0 || now.oldest != status_.log.oldest) {
        oldest_utc_ns_ = began_at(now.oldest);
    }
    const std::optional<std::uint64_t> free = free_bytes();
    {
        const std::lock_guard lock(mutex_);
        free_bytes_ = free;
        status_.log = now;
        status_.oldest_utc_ns = oldest_utc_ns_;
    }
    if (was_blocking && !is_blocking_) {
        parts_.wake_pump();
    }
    if (parts_.note_synced && now.synced > noted_synced_) {
        noted_synced_ = now.synced;
        parts_.note_synced(now.synced);
    }
}

std::optional<std::uint64_t> DurableLog::free_bytes() const {
    try {
        return parts_.files.free_bytes(path_);
    } catch (const std::system_error&) {
        return std::nullopt;
    }
}

/// Returns 0 if the segment cannot be read.
std::int64_t DurableLog::began_at(store::Position first_position) const {
    try {
        const std::string path = status_.path + "/" + store::segment_name(first_position);
        const auto head = store::SegmentReader::head(parts_.files, path);
        return head ? head->utc_ns : 0;
    } catch (const std::system_error&) {
        return 0;
    }
}

void DurableLog::note_failure(const std::string& what) {
    retry_ = retry_.count() == 0 ? retry_min : std::min(retry_ * 2, retry_max);
    parts_.log.error(LogLine("cannot write log").add("log", path_).quote("reason", what));
    const std::lock_guard lock(mutex_);
    status_.error = what;
    state_changed_.notify_all();
}

void DurableLog::note_success() {
    if (retry_.count() > 0) {
        parts_.log.info(LogLine("log is being written again").add("log", path_).add("lost", buffer_.lost()));
    }
    retry_ = std::chrono::milliseconds(0);
    const std::lock_guard lock(mutex_);
    status_.error.clear();
}

}  // namespace telegate
