#include "recording/recorder.hpp"

#include "log/log_line.hpp"

#include "core/start_thread.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace telegate {

Recorder::Recorder(const RecorderOptions& options, Parts parts)
    : Recorder(options, parts, std::make_unique<RecordingFile>(options.path, options.files_max)) {}

Recorder::Recorder(RecorderOptions options, Parts parts, std::unique_ptr<RecordingOutput> output)
    : options_(std::move(options)),
      parts_(parts),
      wanted_(options_.device.empty() ? 0 : ChannelTable::channels_max),
      output_(std::move(output)),
      pieces_(parts.channels) {
    thread_ = start_thread("tg-record-" + (options_.device.empty() ? "all" : options_.device), [this] { run(); });
}

Recorder::~Recorder() {
    close();
}

void Recorder::close() {
    buffer_.close();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void Recorder::put(std::span<const TelemetrySample> samples) noexcept {
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

void Recorder::put_gap(const recording::Gap& gap) noexcept {
    if (wanted_.empty() || wants(ChannelId{gap.channel})) {
        buffer_.put_gap(gap);
    }
}

bool Recorder::wants(ChannelId channel) noexcept {
    Wanted& wanted = wanted_[to_index(channel)];
    if (wanted == Wanted::unknown) {
        wanted = parts_.channels.at(channel).device == options_.device ? Wanted::yes : Wanted::no;
    }
    return wanted == Wanted::yes;
}

RecorderStatus Recorder::status() const {
    RecorderStatus status;
    status.path = options_.path;
    status.device = options_.device;
    status.samples = samples_.load(std::memory_order_relaxed);
    status.bytes = bytes_.load(std::memory_order_relaxed);
    status.lost = buffer_.lost() + given_up_.load(std::memory_order_relaxed);
    const std::uint64_t settled = status.samples + status.lost;
    status.pending = std::max(buffer_.offered(), settled) - settled;
    const std::lock_guard lock(mutex_);
    status.error = error_;
    return status;
}

void Recorder::run() {
    (void)write_until_closed();  // opens the file, so that a failure shows before the first sample
    while (buffer_.take(load_)) {
        pieces_.give(load_);
        if (is_torn_ || !write_until_closed()) {
            given_up_ += pieces_.samples() + pieces_.samples_left();
            is_torn_ = true;  // later pieces depend on this one
        }
        pieces_.clear();
        load_.clear();
        pieces_.give(load_);
    }
    end();
}

/// Retries until it succeeds, with a last attempt when close() is called.
bool Recorder::write_until_closed() {
    bool is_written = write_out();
    bool is_open = true;
    while (!is_written && is_open) {
        is_open = buffer_.wait(retry_);
        is_written = write_out();
    }
    return is_written;
}

bool Recorder::write_out() {
    try {
        write_load();
        note_success();
        return true;
    } catch (const std::exception& error) {
        note_failure(error.what());
        return false;
    }
}

void Recorder::write_load() {
    if (is_open_ && !output_->is_in_place()) {
        is_open_ = false;
        is_ended_ = false;
        pieces_.put_back();
        parts_.log.warn(LogLine("recording file was removed; starting a new one").add("file", options_.path));
    }
    for (;;) {
        prepare_file();
        if (!pieces_.next()) {
            return sync();
        }
        write_piece();
        if (unsynced_bytes_ >= unsynced_bytes_max) {
            sync();
        }
    }
}

/// Writes the rest of a failed attempt and provides capacity for a piece.
void Recorder::prepare_file() {
    if (is_open_) {
        write_piece();
    }
    if (is_ended_ || (is_open_ && is_full(file_bytes_))) {
        rotate();
    }
    if (!is_open_) {
        open();
        write_piece();
    }
}

bool Recorder::is_full(std::uint64_t file_bytes) const noexcept {
    return options_.bytes_max > 0 && file_bytes + RecordingPieces::piece_bytes_max > options_.bytes_max;
}

void Recorder::open() {
    RecordingOutput::Opened opened = output_->open();
    if (opened.bytes > 0 && is_full(opened.bytes)) {
        output_->rotate();
        opened = output_->open();
    }
    if (!opened.set_aside.empty()) {
        parts_.log.warn(LogLine("recording file was damaged and renamed; starting a new one")
                            .add("file", options_.path)
                            .quote("reason", opened.set_aside));
    }
    if (opened.cut_bytes > 0) {
        parts_.log.warn(LogLine("recording file ended within a record; truncated")
                            .add("file", options_.path)
                            .add("bytes", opened.cut_bytes));
    }
    is_open_ = true;
    file_bytes_ = opened.bytes;
    samples_before_ = samples_;
    const ClockPair now = read_both(parts_.clock);
    pieces_.begin({parts_.epoch_ms, now.utc_ns, now.mono_ns}, opened.next_number, opened.bytes == 0);
}

void Recorder::rotate() {
    if (!std::exchange(is_ended_, true)) {
        make_end();
    }
    write_piece();
    sync();
    output_->rotate();
    is_open_ = false;
    is_ended_ = false;
}

void Recorder::write_piece() {
    const std::size_t bytes = pieces_.piece().size();
    if (bytes == 0) {
        return;
    }
    output_->write(pieces_.piece());
    file_bytes_ += bytes;
    unsynced_bytes_ += bytes;
    bytes_ += bytes;
    samples_ += pieces_.samples();
    pieces_.clear();
}

void Recorder::sync() {
    if (unsynced_bytes_ > 0) {
        output_->sync();
        unsynced_bytes_ = 0;
    }
}

void Recorder::make_end() {
    const std::uint64_t lost = buffer_.lost() + given_up_;
    const ClockPair now = read_both(parts_.clock);
    pieces_.end({now.utc_ns, now.mono_ns, samples_ - samples_before_, lost - std::exchange(lost_before_, lost)});
}

/// If the end record cannot be written, the recording ends without one.
void Recorder::end() {
    try {
        if (is_open_ && !is_torn_ && pieces_.piece().empty()) {
            make_end();
            write_piece();
            sync();
        }
    } catch (const std::exception& error) {
        note_failure(error.what());
    }
    const RecorderStatus last = status();
    const LogLine line =
        LogLine("recording ended").add("file", options_.path).add("samples", last.samples).add("lost", last.lost);
    last.lost > 0 ? parts_.log.warn(line) : parts_.log.info(line);
}

void Recorder::note_failure(const std::string& what) {
    retry_ = retry_.count() == 0 ? options_.retry_min : std::min(retry_ * 2, retry_max);
    parts_.log.warn_limited("recorder " + options_.path, LogLine("cannot write recording").quote("reason", what));
    const std::lock_guard lock(mutex_);
    error_ = what;
}

void Recorder::note_success() {
    if (retry_.count() > 0) {
        parts_.log.info(LogLine("recording resumed").add("file", options_.path).add("lost", buffer_.lost()));
    }
    retry_ = std::chrono::milliseconds(0);
    const std::lock_guard lock(mutex_);
    error_.clear();
}

}  // namespace telegate
