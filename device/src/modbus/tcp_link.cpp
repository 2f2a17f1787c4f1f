#include "core/unique_fd.hpp"
#include "device/cancel_signal.hpp"
#include "device/option_error.hpp"
#include "modbus/link.hpp"
#include "modbus/modbus_driver.hpp"
#include "network/host_finder.hpp"
#include "path_fault.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <span>
#include <utility>

namespace telegate::modbus {
namespace {

constexpr std::string_view tcp_prefix = "tcp://";
constexpr std::string_view rtu_prefix = "rtu://";
constexpr std::string_view default_port = "502";

bool has_several_units(const ModbusDriverOptions& options) {
    const auto unit_of = [&](const ModbusChannel& channel) {
        return channel.unit_id.value_or(options.unit_id);
    };
    const auto& channels = options.channels;
    return std::any_of(channels.begin(), channels.end(),
                       [&](const ModbusChannel& channel) { return unit_of(channel) != unit_of(channels.front()); });
}

/// Threads, Limits, Failure: those of Link. A late response is recognized by its transaction number and skipped.
class TcpLink final : public Link {
  public:
    TcpLink(const TcpPlace& place, const ModbusDriverOptions& options)
        : lookup_(place),
          timeout_(options.timeout),
          timeout_words_(std::to_string(options.timeout.count()) + " ms"),
          answering_unit_(has_several_units(options) ? AnsweringUnit::requested : AnsweringUnit::any) {}

    [[nodiscard]] bool is_open() const noexcept override { return socket_.get() >= 0; }

    [[nodiscard]] LinkResult open(const CancelSignal* cancel) override {
        close();
        const MonoTime until = std::chrono::steady_clock::now() + timeout_;
        const network::HostFinder::Found found = lookup_.find(cancel, until);
        if (found.woken == Woken::canceled) {
            return {LinkStatus::canceled};
        }
        if (found.woken == Woken::timed_out) {
            return {LinkStatus::lost, "host name not resolved within " + timeout_words_};
        }
        LinkResult result{LinkStatus::lost, found.what};
        for (std::size_t i = 0; i < found.addresses.size() && result.status == LinkStatus::lost; ++i) {
            // Each address gets an equal share of the remaining time.
            const Duration left = until - std::chrono::steady_clock::now();
            const auto share = left / static_cast<std::int64_t>(found.addresses.size() - i);
            result = connect(found.addresses[i], cancel, std::chrono::steady_clock::now() + share);
        }
        return result;
    }

    [[nodiscard]] LinkResult exchange(const AddressRange& request, const CancelSignal* cancel) override {
        consume(taken_);
        taken_ = 0;
        ++transaction_;
        const auto frame = tcp_request(request, transaction_);
        const ssize_t sent = ::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
        if (sent != static_cast<ssize_t>(frame.size())) {
            return lose(sent < 0 && errno != EAGAIN ? error_words(errno) : "the peer accepts no more requests");
        }
        const MonoTime until = std::chrono::steady_clock::now() + timeout_;
        for (bool is_last = false;;) {
            const Scan scan = scan_tcp(std::span(input_).first(filled_), request, transaction_, answering_unit_);
            switch (scan.found) {
                case Scan::Found::answer: taken_ = scan.bytes; return {LinkStatus::ok, {}, scan.answer};
                case Scan::Found::mismatch: consume(scan.bytes); return {LinkStatus::mismatch, "invalid response"};
                case Scan::Found::violation: return lose("the peer does not speak Modbus");
                case Scan::Found::other: consume(scan.bytes); continue;
                case Scan::Found::need_more: break;
            }
            if (is_last) {  // a peer that keeps sending unrelated frames
                return time_out();
            }
            is_last = std::chrono::steady_clock::now() >= until;
            if (LinkResult result = receive(cancel, until); result.status != LinkStatus::ok) {
                return result;
            }
        }
    }

    void close() noexcept override {
        socket_ = {};
        filled_ = 0;
        taken_ = 0;
    }

    /// A peer that was switched off or is unreachable sends nothing.
    [[nodiscard]] bool may_be_dead() const noexcept override { return true; }

  private:
    LinkResult connect(const HostAddress& address, const CancelSignal* cancel, MonoTime until) {
        socket_ = UniqueFd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        if (socket_.get() < 0) {
            return lose(error_words(errno));
        }
        const int on = 1;  // each request is one small segment, which must not be delayed
        ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.bytes) == 0) {
            return {};
        }
        if (errno != EINPROGRESS) {
            return lose(error_words(errno));
        }
        const Woken woken = wait_for(socket_.get(), POLLOUT, cancel, until).woken;
        if (woken == Woken::canceled) {
            close();
            return {LinkStatus::canceled};
        }
        if (woken == Woken::timed_out) {
            return lose("no connection within " + timeout_words_);
        }
        int error = 0;
        socklen_t bytes = sizeof error;
        if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) != 0 || error != 0) {
            return lose(error_words(error));
        }
        return {};
    }

    LinkResult receive(const CancelSignal* cancel, MonoTime until) {
        const Woken woken = wait_for(socket_.get(), POLLIN, cancel, until).woken;
        if (woken == Woken::canceled) {
            return {LinkStatus::canceled};
        }
        if (woken == Woken::timed_out) {
            return time_out();
        }
        const ssize_t got = ::recv(socket_.get(), input_.data() + filled_, input_.size() - filled_, 0);
        if (got > 0) {
            filled_ += static_cast<std::size_t>(got);
        } else if (got == 0) {
            return lose("connection closed by the peer");
        } else if (errno != EAGAIN && errno != EINTR) {
            return lose(error_words(errno));
        }
        return {};
    }

    [[nodiscard]] LinkResult time_out() const {
        return {LinkStatus::timed_out, "no response within " + timeout_words_};
    }

    LinkResult lose(std::string what) {
        close();
        return {LinkStatus::lost, std::move(what)};
    }

    void consume(std::size_t bytes) noexcept {
        std::copy(input_.begin() + static_cast<std::ptrdiff_t>(bytes),
                  input_.begin() + static_cast<std::ptrdiff_t>(filled_), input_.begin());
        filled_ -= bytes;
    }

    network::HostFinder lookup_;
    const Duration timeout_;
    const std::string timeout_words_;
    const AnsweringUnit answering_unit_;
    UniqueFd socket_;
    std::uint16_t transaction_ = 0;
    // A frame takes at most half of the buffer, and scanning leaves less than a frame, so there is always capacity.
    std::array<std::uint8_t, 2 * frame_bytes_max> input_{};
    std::size_t filled_ = 0;
    std::size_t taken_ = 0;  // length of the last response, which is at the front of input_
};

}  // namespace

Place parse_place(std::string_view endpoint) {
    if (endpoint.starts_with(tcp_prefix)) {
        if (auto place = network::parse_host_port(endpoint.substr(tcp_prefix.size()), default_port)) {
            return *std::move(place);
        }
    }
    const std::string_view path = endpoint.starts_with(rtu_prefix) ? endpoint.substr(rtu_prefix.size()) : "";
    if (path.size() > 1 && path.front() == '/' && path.find('\0') == std::string_view::npos) {
        return RtuPlace{std::string(path)};
    }
    throw OptionError("endpoint",
                      "invalid endpoint: \"" + std::string(endpoint) +
                          "\"; must be tcp://HOST:PORT or rtu:///PATH, such as rtu:///dev/serial/by-id/...");
}

std::unique_ptr<Link> make_tcp_link(const TcpPlace& place, const ModbusDriverOptions& options) {
    return std::make_unique<TcpLink>(place, options);
}

}  // namespace telegate::modbus
