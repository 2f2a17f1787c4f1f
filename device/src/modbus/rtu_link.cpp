#include "core/clock.hpp"
#include "device/cancel_signal.hpp"
#include "modbus/link.hpp"
#include "modbus/modbus_driver.hpp"
#include "path_fault.hpp"

#include <modbus/modbus.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <span>
#include <utility>

namespace telegate::modbus {
namespace {

constexpr int character_bits = 11;       // start bit, 8 data bits, parity or second stop bit, stop bit
constexpr int request_frame_bytes = 8;   // of request_bytes() with a checksum
constexpr std::size_t answer_extra = 5;  // unit, function, length and checksum around the values
constexpr std::size_t answer_bytes_max = 256;
/// Above 19200 baud, the specification fixes the silent interval between frames.
constexpr auto silence_min = std::chrono::microseconds(1'750);

Duration time_of(std::int64_t half_characters, int baud) noexcept {
    return std::chrono::nanoseconds(std::chrono::seconds(1)) * character_bits * half_characters /
           (2 * std::int64_t{baud});
}

char letter_of(ModbusParity parity) noexcept {
    switch (parity) {
        case ModbusParity::even: return 'E';
        case ModbusParity::odd: return 'O';
        case ModbusParity::none: break;
    }
    return 'N';
}

using Context = std::unique_ptr<modbus_t, decltype(&::modbus_free)>;

/// Threads, Limits, Failure: those of Link. The timeout of a response is that of the options plus its transmission
/// time. Bytes received before a request are dropped. After a timeout, the same unit is not requested again until its
/// late response could no longer be mistaken for the next one, because RTU responses have no numbers.
class RtuLink final : public Link {
  public:
    RtuLink(const RtuPlace& place, const ModbusDriverOptions& options)
        : place_(place),
          options_{options.baud, options.stop_bits, letter_of(options.parity)},
          timeout_(options.timeout),
          timeout_words_(std::to_string(options.timeout.count()) + " ms"),
          silence_(std::max({Duration(options.pause), time_of(7, options.baud), Duration(silence_min)})) {}
    ~RtuLink() override { close(); }
    RtuLink(const RtuLink&) = delete;
    RtuLink& operator=(const RtuLink&) = delete;

    [[nodiscard]] bool is_open() const noexcept override { return tty_ >= 0; }

    [[nodiscard]] LinkResult open(const CancelSignal* /*cancel*/) override {
        close();
        context_.reset(::modbus_new_rtu(place_.path.c_str(), options_.baud, options_.parity, 8, options_.stop_bits));
        if (context_ == nullptr || ::modbus_connect(context_.get()) != 0) {
            return lose(errno);
        }
        tty_ = ::modbus_get_socket(context_.get());
        ::ioctl(tty_, TIOCEXCL);  // a second master would corrupt the responses of both
        quiet_until_ = std::chrono::steady_clock::now() + silence_;
        late_until_ = {};
        return {};
    }

    [[nodiscard]] LinkResult exchange(const AddressRange& request, const CancelSignal* cancel) override {
        const MonoTime begin = std::max(quiet_until_, late_until_[request.unit]);
        if (wait_for(-1, 0, cancel, begin).woken == Woken::canceled) {
            return {LinkStatus::canceled};
        }
        filled_ = 0;
        ::modbus_flush(context_.get());
        const auto frame = request_bytes(request);
        if (::modbus_send_raw_request(context_.get(), frame.data(), static_cast<int>(frame.size())) < 0) {
            return lose(errno);
        }
        const MonoTime sent = std::chrono::steady_clock::now();
        const auto characters = request_frame_bytes + static_cast<std::int64_t>(answer_extra + value_bytes_of(request));
        const MonoTime until = sent + timeout_ + time_of(2 * characters, options_.baud);
        LinkResult result = await(request, cancel, until);
        const MonoTime now = std::chrono::steady_clock::now();
        quiet_until_ = now + silence_;
        if (result.status == LinkStatus::timed_out || result.status == LinkStatus::canceled) {
            late_until_[request.unit] =
                std::max(now, until) + (result.status == LinkStatus::timed_out ? timeout_ : Duration{});
        }
        return result;
    }

    void close() noexcept override {
        if (tty_ >= 0) {
            ::ioctl(tty_, TIOCNXCL);
            ::modbus_close(context_.get());
            tty_ = -1;
        }
        context_.reset();
        filled_ = 0;
    }

    /// Opening a line again may reset attached devices, and a removed line is reported by the system.
    [[nodiscard]] bool may_be_dead() const noexcept override { return false; }

  private:
    struct Line {
        int baud;
        int stop_bits;
        char parity;
    };

    LinkResult await(const AddressRange& request, const CancelSignal* cancel, MonoTime until) {
        std::size_t came = 0;
        for (bool is_last = false;;) {
            if (is_last) {  // a line that is never silent
                return {LinkStatus::timed_out, silence_words(came)};
            }
            is_last = std::chrono::steady_clock::now() >= until;
            const WaitResult waited = wait_for(tty_, POLLIN, cancel, until);
            if (waited.woken == Woken::canceled) {
                return {LinkStatus::canceled};
            }
            if (waited.woken == Woken::timed_out) {
                return {LinkStatus::timed_out, silence_words(came)};
            }
            if (filled_ == input_.size()) {  // keep the last bytes: a response that began earlier would be complete
                filled_ = answer_bytes_max;
                std::copy(input_.end() - static_cast<std::ptrdiff_t>(filled_), input_.end(), input_.begin());
            }
            const ssize_t got = ::read(tty_, input_.data() + filled_, input_.size() - filled_);
            const bool is_hung_up = (waited.events & (POLLHUP | POLLERR | POLLNVAL)) != 0;
            if (got < 0 && errno != EAGAIN && errno != EINTR) {
                return lose(errno);
            }
            if (got <= 0 && is_hung_up) {
                return lose(EIO);
            }
            if (got > 0) {
                came += static_cast<std::size_t>(got);
                filled_ += static_cast<std::size_t>(got);
                const Scan scan = scan_rtu(std::span(input_).first(filled_), request);
                if (scan.found == Scan::Found::answer) {
                    return {LinkStatus::ok, {}, scan.answer};
                }
            }
        }
    }

    [[nodiscard]] std::string silence_words(std::size_t came) const {
        if (came == 0) {
            return "no response within " + timeout_words_;
        }
        return "no valid response within " + timeout_words_ + "; received " + std::to_string(came) +
               " bytes with a wrong checksum, unit or length";
    }

    LinkResult lose(int error) {
        close();
        return {LinkStatus::lost, error > MODBUS_ENOBASE ? ::modbus_strerror(error) : error_words(error)};
    }

    const RtuPlace place_;
    const Line options_;
    const Duration timeout_;
    const std::string timeout_words_;
    const Duration silence_;
    Context context_{nullptr, &::modbus_free};
    int tty_ = -1;
    MonoTime quiet_until_{};
    std::array<MonoTime, 256> late_until_{};  // by unit: until then, a late response may arrive
    std::array<std::uint8_t, 2 * answer_bytes_max> input_{};
    std::size_t filled_ = 0;
};

}  // namespace

std::unique_ptr<Link> make_rtu_link(const RtuPlace& place, const ModbusDriverOptions& options) {
    return std::make_unique<RtuLink>(place, options);
}

}  // namespace telegate::modbus
