#include "durable/durable_log.hpp"

#include "encode/time_text.hpp"
#include "log/log_line.hpp"

#include "core/start_thread.hpp"

#include <sodium.h>

#include <algorithm>
#include <exception>
#include <future>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace telegate {
namespace {

store::LogId random_id() {
    store::LogId id{};
    randombytes_buf(id.data(), id.size());
    return id;
}

constexpr std::chrono::milliseconds sync_interval_min{1};
/// A sync that is faster needs no mark.
constexpr std::chrono::milliseconds sync_fast_max{10};

}  // namespace

bool DurableLogOptions::has_device(std::string_view device) const noexcept {
    return devices.empty() || std::any_of(devices.begin(), devices.end(), [&](std::string_view each) {
               return each.ends_with('*') ? device.starts_with(each.substr(0, each.size() - 1)) : device == each;
           });
}

DurableLog::DurableLog(Parts parts, DurableLogOptions options)
    : parts_(std::move(parts)),
      path_(options.path),
      buffer_(parts_.wake_pump),
      wanted_(options.devices.empty() ? 0 : ChannelTable::channels_max),
      options_(std::move(options)) {
    status_.path = path_;
    try {
        log_ = open();
        last_seqs_ = log_->take_last_seqs();
        update_state();
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
        record_failure(error.what());
    }
    thread_ = start_thread("tg-log", [this] { run(); });
}

DurableLog::~DurableLog() {
    close();
}

std::unique_ptr<store::SampleLog> DurableLog::open() {
    const DurableLogOptions now = options();
    store::SampleLog::Parts parts{parts_.files, parts_.channels, parts_.clock};
    if (has_marks()) {
        parts.sync = [this](const std::function<void()>& sync) {
            sync_and_mark(sync);
        };
    }
    auto log = std::make_unique<store::SampleLog>(
        parts, store::SampleLog::Options{path_, parts_.epoch_ms, random_id(), now.limits}, [&](std::int64_t epoch_ms) {
            store::LastSeqs seqs = parts_.known ? parts_.known(epoch_ms) : store::LastSeqs();
            std::erase_if(seqs, [&](const auto& each) { return !now.has_topic(each.first); });
            return seqs;
        });
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
    for (const std::string& name : report.repaired) {
        parts_.log.error(LogLine("header of a segment was damaged and was rebuilt").add("file", path_ + '/' + name));
    }
    for (const std::string& name : report.renamed) {
        parts_.log.error(LogLine("segment is damaged and was renamed").add("file", path_ + '/' + name + ".damaged"));
    }
    for (const std::string& why : report.left) {
        parts_.log.error(LogLine("segment cannot be used").add("log", path_).quote("reason", why));
    }
    if (!report.damaged.empty()) {
        parts_.log.error(LogLine("last segment is damaged").add("log", path_).add("ranges", report.damaged.size()));
    }
    if (report.unnamed > 0) {
        parts_.log.error(
            LogLine("names of channels in last segment are damaged").add("log", path_).add("channels", report.unnamed));
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

std::vector<SettingsProblem> DurableLog::removals(const store::LogLimits& wanted) const {
    constexpr std::int64_t ns_per_ms = 1'000'000;
    const std::lock_guard lock(mutex_);
    const store::LogLimits& now = options_.limits;
    std::vector<SettingsProblem> problems;
    const auto add = [&](const char* pointer, std::uint64_t value, const std::string& why) {
        problems.push_back({{},
                            pointer,
                            '"' + std::to_string(value) + "\" would remove data from the log: " + why +
                                "; change it in the settings file, or confirm it with remove_data=1"});
    };
    const bool drops_oldest = wanted.when_full == store::WhenFull::drop_oldest;
    const bool is_policy_new = now.when_full != wanted.when_full;
    if (drops_oldest && wanted.bytes_max > 0 && status_.log.bytes > wanted.bytes_max &&
        (is_policy_new || now.bytes_max == 0 || wanted.bytes_max < now.bytes_max)) {
        add("/log/bytes_max", wanted.bytes_max, "it has " + std::to_string(status_.log.bytes) + " bytes");
    }
    if (drops_oldest && free_bytes_ && *free_bytes_ < wanted.free_bytes_min && status_.log.segments > 1 &&
        (is_policy_new || wanted.free_bytes_min > now.free_bytes_min)) {
        add("/log/free_bytes_min", wanted.free_bytes_min,
            "the file system has " + std::to_string(*free_bytes_) + " free bytes");
    }
    if (wanted.age_max_ns > 0 && (now.age_max_ns == 0 || wanted.age_max_ns < now.age_max_ns) && oldest_utc_ns_ > 0 &&
        oldest_utc_ns_ < parts_.clock.utc_now_ns() - wanted.age_max_ns) {
        add("/log/age_max", static_cast<std::uint64_t>(wanted.age_max_ns / ns_per_ms),
            "it begins at " + to_iso8601(oldest_utc_ns_));
    }
    return problems;
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

void DurableLog::consume(std::span<const TelemetrySample> samples) noexcept {
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
        is_wanted ? buffer_.put(samples.first(count)) : buffer_.skip(count);
        samples = samples.subspan(count);
    }
}

/// The pump may have woken up for samples that it must leave in the queue, because a subscriber or this log blocks it.
/// Marks then name them.
void DurableLog::flush() {
    if (std::exchange(flushed_, ledger_.taken) == ledger_.taken && has_marks()) {
        buffer_.request_call();
    }
    buffer_.flush();
}

/// Threads: any.
bool DurableLog::wants(ChannelId channel) noexcept {
    if (wanted_.empty()) {
        return true;
    }
    std::atomic<Wanted>& known = wanted_[to_index(channel)];
    Wanted wanted = known.load(std::memory_order_relaxed);
    if (wanted == Wanted::unknown) {
        wanted = options_.has_device(parts_.channels.at(channel).device) ? Wanted::yes : Wanted::no;
        known.store(wanted, std::memory_order_relaxed);
    }
    return wanted == Wanted::yes;
}

void DurableLog::gap(const SampleGap& gap) noexcept {
    ledger_.missing += gap.samples();
    if (wants(gap.channel)) {
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
        while (buffer_.wait_for_load(idle_max(), on_pending, delay_max())) {
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
    const std::uint64_t lost = last.lost + last.log.dropped_full;
    const LogLine line = LogLine("log closed").add("log", path_).add("samples", last.log.samples).add("lost", lost);
    lost > 0 ? parts_.log.warn(line) : parts_.log.info(line);
}

/// How long the thread may sleep if there are no samples.
std::chrono::milliseconds DurableLog::idle_max() const {
    if (retry_.count() > 0) {
        return retry_;
    }
    const store::LogStatus now = log_->status();
    if (now.is_full) {
        return retry_min;
    }
    return now.synced < now.next ? std::min(until_sync(), idle_time_max) : idle_time_max;
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
            record_success();
        } catch (const std::exception& error) {
            record_failure(error.what());
        }
    }
}

bool DurableLog::has_marks() const noexcept {
    return static_cast<bool>(parts_.captured);
}

/// Records how far the channels were captured whose samples are not in a file.
void DurableLog::mark(bool is_last) noexcept {
    marked_at_ = std::chrono::steady_clock::now();
    try {
        log_->mark([this](ChannelId channel) { return wants(channel) ? parts_.captured(channel) : 0; }, is_last);
    } catch (const std::exception&) {
        return;  // the next write fails as well, and that is reported
    }
}

/// Syncs on another thread, and records meanwhile how far the channels are captured.
void DurableLog::sync_and_mark(const std::function<void()>& sync) {
    std::packaged_task<void()> task(sync);
    std::future<void> done = task.get_future();
    std::thread thread;
    try {
        thread = start_thread("tg-log-sync", [&task] { task(); });
    } catch (const std::system_error&) {
        task();
    }
    while (done.wait_until(std::max(marked_at_ + LogBuffer::call_interval,
                                    std::chrono::steady_clock::now() + sync_fast_max)) != std::future_status::ready) {
        mark();
    }
    if (thread.joinable()) {
        thread.join();
    }
    done.get();
}

/// Moves what is pending into the log.
void DurableLog::append_load() {
    buffer_.drain(*log_);
}

/// Writes the load, and retries after failures until the log has capacity for another one.
void DurableLog::sync_until_closed() {
    bool is_open = true;
    for (;;) {
        try {
            write_once();
            is_disk_full_ = false;
            record_success();
        } catch (const std::system_error& error) {
            is_disk_full_ = store::is_disk_full(error);
            record_failure(error.what());
        } catch (const std::exception& error) {
            record_failure(error.what());
        }
        update_state();
        if (has_marks() && !log_->is_written()) {
            mark();  // nothing else may arrive for a long time
        }
        if (log_->has_capacity() || !is_open) {
            return;
        }
        is_open = wait_for_retry();
    }
}

/// Waits until the next attempt, and records meanwhile how far the channels are captured. Returns false if the log is
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
    record_written();
}

void DurableLog::record_written() {
    const std::lock_guard lock(mutex_);
    const store::LogStatus now = log_->status();
    written_ = now.published;
    left_out_ = now.left_out;
    state_changed_.notify_all();
}

DurableLog::Written DurableLog::written_parts() const {
    const std::lock_guard lock(mutex_);
    return {written_, left_out_};
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
        record_success();
    } catch (const std::exception& error) {
        record_failure(error.what());
        if (has_marks()) {
            mark(true);
        }
    }
    update_state();
    log_.reset();
}

void DurableLog::update_state() {
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
    report_space(now);
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
    if (parts_.note_synced && now.synced > reported_synced_) {
        reported_synced_ = now.synced;
        parts_.note_synced(now.synced);
    }
}

/// Reports whether the disk lacks space. status_.log is still that of the last call.
void DurableLog::report_space(const store::LogStatus& now) {
    const MonoTime time = parts_.clock.mono_now();
    const bool has_removed = now.segments_removed_for_space > status_.log.segments_removed_for_space;
    removed_at_ = has_removed ? time : removed_at_;
    const bool is_removing = now.segments_removed_for_space > 0 && time - removed_at_ < removing_time;
    std::string_view space = is_removing ? "removing" : "";
    if (now.space_problem != store::SpaceProblem::none) {
        space = store::to_string(now.space_problem);
    } else if (is_disk_full_) {
        space = "full";
    }
    if (space != space_ && parts_.note_space) {
        LogFields fields = LogFields().add("log", path_);
        if (!space.empty()) {
            fields.add("state", space);
        }
        parts_.note_space(!space.empty(), fields.add("segments_removed", now.segments_removed_for_space));
    }
    space_ = space;
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

void DurableLog::record_failure(const std::string& what) {
    retry_ = retry_.count() == 0 ? retry_min : std::min(retry_ * 2, retry_max);
    parts_.log.error(LogLine("cannot write log").add("log", path_).quote("reason", what));
    const std::lock_guard lock(mutex_);
    status_.error = what;
    state_changed_.notify_all();
}

void DurableLog::record_success() {
    if (retry_.count() > 0) {
        parts_.log.info(LogLine("log is being written again").add("log", path_).add("lost", buffer_.lost()));
    }
    retry_ = std::chrono::milliseconds(0);
    const std::lock_guard lock(mutex_);
    status_.error.clear();
}

}  // namespace telegate
