#include "serial/serial_driver.hpp"

#include "device/cancel_signal.hpp"
#include "lines/line_reader.hpp"
#include "path_fault.hpp"
#include "serial/frame_reader.hpp"
#include "serial/serial_port.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate {
namespace {

std::unique_ptr<ByteReader> make_reader(const SerialDriverOptions& options) {
    if (const auto* frames = std::get_if<FrameFormat>(&options.format)) {
        return std::make_unique<FrameReader>(*frames);
    }
    return std::make_unique<LineReader>(std::get<LineFormat>(options.format), options.limits);
}

std::string duration_text(Duration duration) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
    constexpr std::int64_t ms_per_s = 1'000;
    return ms % ms_per_s == 0 ? std::to_string(ms / ms_per_s) + " s" : std::to_string(ms) + " ms";
}

/// Reads a tty and parses its bytes.
///
/// Threads: those of Driver.
/// Limits: read() waits for wait_max and takes buffer_bytes * chunks_max bytes; only a new field or an error allocates.
/// Failure: read() fails while the port cannot be opened, after it has disappeared, and while there was no valid line
/// or frame for silence_max_. Refused input is counted in a channel.
class SerialDriver final : public Driver {
  public:
    explicit SerialDriver(const SerialDriverOptions& options)
        : port_(options.port),
          reader_(make_reader(options)),
          unit_(std::holds_alternative<FrameFormat>(options.format) ? "frame" : "line"),
          skip_first_line_(options.skip_first_line),
          silence_max_(options.silence_max) {}

    [[nodiscard]] DriverTraits traits() const noexcept override { return {.own_thread = true, .streams = true}; }
    void cancel_with(const CancelSignal& signal) noexcept override { cancel_ = &signal; }
    void open(SampleBatch& batch) override { reader_->open(batch); }
    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const override {
        return reader_->later_channels();
    }

    [[nodiscard]] std::vector<MissingPart> missing_parts() const override {
        std::string fault = tty_fault(port_.path(), R_OK);
        return fault.empty() ? std::vector<MissingPart>() : std::vector<MissingPart>{{"port", std::move(fault)}};
    }

    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override {
        const ReadResult result = read_port(batch, now);
        reader_->report_counts(batch, result.status == ReadResult::Status::failed);
        left_at_ = batch.clock().mono_now();
        return result;
    }

    void reset() noexcept override { port_.close(); }

  private:
    static constexpr std::size_t buffer_bytes = 4'096;  // buffer size of a tty
    static constexpr std::size_t chunks_max = 16;       // then commands of the sampler can run
    /// A longer pause between reads means that the device was stopped or suspended. The time of bytes received
    /// meanwhile is unknown.
    static constexpr Duration pause_max = 2 * wait_max;

    ReadResult read_port(SampleBatch& batch, MonoTime now) {
        if (!port_.is_open()) {
            if (!port_.open()) {
                return failed(port_.fault());
            }
            reader_->restart(skip_first_line_);
            heard_at_ = now;
        } else if (now - left_at_ > pause_max) {
            drop_old_bytes(batch, now);
            if (!port_.is_open()) {
                return failed(port_.fault());
            }
        }
        const MonoTime until = std::chrono::steady_clock::now() + time_to_wait(now);
        const Woken woken = wait_for(port_.descriptor(), POLLIN, cancel_, until).woken;
        if (woken == Woken::canceled) {
            return {ReadResult::Status::interrupted, {}};
        }
        if (woken == Woken::ready && !read_bytes(batch)) {
            return failed(port_.fault());
        }
        return check_silence(batch.clock().mono_now());
    }

    /// Limits the wait to the end of silence_max_, unless that has already passed.
    [[nodiscard]] Duration time_to_wait(MonoTime now) const noexcept {
        const Duration left = heard_at_ + silence_max_ - now;
        const bool has_limit = silence_max_ > Duration::zero() && left > Duration::zero();
        return has_limit ? std::min(wait_max, left) : wait_max;
    }

    /// Returns false if the port has disappeared; earlier bytes are still in the batch.
    bool read_bytes(SampleBatch& batch) {
        batch.stamp_now();
        for (std::size_t chunk = 0; chunk < chunks_max; ++chunk) {
            const SerialPort::Bytes some = port_.read(buffer_);
            if (some.status != SerialPort::Bytes::Status::some) {
                return some.status == SerialPort::Bytes::Status::none;
            }
            if (reader_->feed(some.bytes, batch) > 0) {
                heard_at_ = batch.clock().mono_now();
            }
        }
        return true;
    }

    /// If there are bytes, the device is alive, although their time is unknown. Each line end counts as a lost reading.
    void drop_old_bytes(SampleBatch& batch, MonoTime now) {
        std::uint64_t lost = 0;
        char last = 0;
        for (std::size_t chunk = 0; chunk < chunks_max; ++chunk) {
            const SerialPort::Bytes some = port_.read(buffer_);
            if (some.status != SerialPort::Bytes::Status::some) {
                break;
            }
            last = some.bytes.back();
            lost += static_cast<std::uint64_t>(std::count(some.bytes.begin(), some.bytes.end(), '\n'));
            heard_at_ = now;
        }
        if (heard_at_ == now) {
            batch.lost_at_source(lost);
            reader_->restart(last != '\n' && last != '\r');
        }
    }

    ReadResult check_silence(MonoTime now) {
        if (silence_max_ == Duration::zero() || now - heard_at_ < silence_max_) {
            return {};
        }
        std::string what = port_.path() + ": no valid " + unit_ + " for " + duration_text(silence_max_);
        if (reader_->refused() > 0) {
            what += ", " + std::to_string(reader_->refused()) + " refused, last: ";
            what += reader_->why_refused();
        } else if (reader_->ignored() > 0) {
            what += ", " + std::to_string(reader_->ignored()) + " ignored";
        }
        return failed(std::move(what));
    }

    ReadResult failed(std::string what) {
        what_ = std::move(what);
        return {ReadResult::Status::failed, what_};
    }

    SerialPort port_;
    const std::unique_ptr<ByteReader> reader_;
    const std::string unit_;
    const bool skip_first_line_;
    const Duration silence_max_;
    const CancelSignal* cancel_ = nullptr;
    MonoTime heard_at_{};  // when the last valid line or frame arrived, or the port was opened
    MonoTime left_at_{};   // when the last read ended
    std::string what_;
    std::array<char, buffer_bytes> buffer_{};
};

}  // namespace

std::unique_ptr<Driver> make_serial_driver(const SerialDriverOptions& options) {
    return std::make_unique<SerialDriver>(options);
}

}  // namespace telegate
