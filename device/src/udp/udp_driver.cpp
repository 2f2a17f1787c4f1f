#include "udp/udp_driver.hpp"
#include "device/cancel_signal.hpp"
#include "device/option_error.hpp"

#include <arpa/inet.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

namespace telegate::udp {
namespace {

/// Maximum number of batches in one read(), so that a continuous sender does not delay commands to the device.
constexpr std::size_t batches_max = 16;
constexpr Duration retry_after = Driver::wait_max;

/// Returns 4, 6, or 0 if the text is not an address.
int version_of(const std::string& address) noexcept {
    std::array<unsigned char, sizeof(in6_addr)> ignored{};
    if (::inet_pton(AF_INET, address.c_str(), ignored.data()) == 1) {
        return 4;
    }
    return ::inet_pton(AF_INET6, address.c_str(), ignored.data()) == 1 ? 6 : 0;
}

bool is_multicast(const std::string& address) noexcept {
    in_addr v4{};
    if (::inet_pton(AF_INET, address.c_str(), &v4) == 1) {
        return IN_MULTICAST(ntohl(v4.s_addr));
    }
    in6_addr v6{};
    return ::inet_pton(AF_INET6, address.c_str(), &v6) == 1 && v6.s6_addr[0] == 0xFF;
}

UdpDriverOptions checked(UdpDriverOptions options) {
    std::string& host = options.host;
    if (host == "localhost") {
        host = "127.0.0.1";
    } else if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    }
    const std::string& group = options.multicast_group;
    require_option(version_of(host) != 0, "listen",
                   "invalid address: \"" + host + "\"; must be an IPv4 or IPv6 address, or localhost");
    require_option(group.empty() || is_multicast(group), "multicast_group",
                   "invalid address: \"" + group + "\"; must be an address in 224.0.0.0/4 or ff00::/8");
    require_option(group.empty() || version_of(group) == version_of(host), "multicast_group",
                   "wrong address family: \"" + group + "\"; must be the family of the listen address \"" + host + '"');
    require_option(options.rules.time_member.empty() || options.rules.time_member != options.rules.name_member,
                   "name_member", "is the same member as time_member; must be a different member");
    return options;
}

metrics::LineIntake make_intake(const UdpDriverOptions& options) {
    switch (options.format) {
        case DatagramFormat::influx: return metrics::InfluxIntake{};
        case DatagramFormat::json: return metrics::JsonIntake{};
        case DatagramFormat::statsd: break;
    }
    return metrics::StatsdIntake(options.channels_max);
}

DatagramSocketOptions socket_options(const UdpDriverOptions& options) {
    return {options.host, options.port, options.multicast_group, options.receive_buffer_bytes,
            options.datagram_bytes_max};
}

}  // namespace

UdpDriver::UdpDriver(UdpDriverOptions options)
    : options_(checked(std::move(options))),
      socket_(socket_options(options_)),
      sink_(options_.channels_max),
      intake_(make_intake(options_)) {}

void UdpDriver::open(SampleBatch& batch) {
    for (Count* const count : {&lines_refused_, &datagrams_refused_, &fields_refused_, &receive_buffer_}) {
        count->channel = batch.add_channel(count->name, count->unit);
        sink_.reserve(count->name);
    }
}

ReadResult UdpDriver::read(SampleBatch& batch, MonoTime /*now*/) noexcept {
    try {
        return read_or_throw(batch);
    } catch (const std::exception& error) {
        return fail(error.what());
    }
}

ReadResult UdpDriver::read_or_throw(SampleBatch& batch) {
    if (std::exchange(was_reset_, false)) {
        close(batch);
    }
    // Without a socket, this waits until the next attempt to open it.
    const MonoTime latest = std::chrono::steady_clock::now() + Driver::wait_max;
    const MonoTime until = socket_.is_open() ? latest : std::min(retry_at_, latest);
    const Woken woken = wait_for(socket_.descriptor(), POLLIN, cancel_, until).woken;
    if (woken == Woken::canceled) {
        return {ReadResult::Status::interrupted};
    }
    if (!socket_.is_open()) {
        const ReadResult opened = open_socket();
        if (opened.status != ReadResult::Status::ok) {
            return opened;
        }
        earliest_mono_ns_ = to_ns(batch.clock().mono_now());
    }
    int error = 0;
    if (woken == Woken::ready) {
        std::size_t batches = 0;
        while (batches < batches_max && receive_datagrams(batch, error) == DatagramSocket::batch_max) {
            ++batches;
        }
    }
    batch.lost_at_source(socket_.take_drops());
    if (error != 0) {
        socket_.close();
        return fail(options_.host + ": " + std::system_category().message(error));
    }
    add_counts(batch);
    return {};
}

ReadResult UdpDriver::open_socket() {
    std::string fault = socket_.open();
    if (!fault.empty()) {
        return fail(std::move(fault));
    }
    const std::size_t bytes = socket_.receive_buffer_bytes();
    receive_buffer_.value = static_cast<std::int64_t>(bytes);
    receive_buffer_.quality = bytes < options_.receive_buffer_bytes ? Quality::uncertain : Quality::good;
    for (Count* const count : {&lines_refused_, &datagrams_refused_, &fields_refused_, &receive_buffer_}) {
        count->given = -1;  // after a failed reading, their values must be sent again
    }
    return {};
}

/// Handles one batch. Returns the number of datagrams.
std::size_t UdpDriver::receive_datagrams(SampleBatch& batch, int& error) {
    const auto datagrams = socket_.receive(error);
    if (datagrams.empty()) {
        return 0;
    }
    const ClockPair now = read_both(batch.clock());
    for (const Datagram& datagram : datagrams) {
        if (datagram.is_cut) {
            ++datagrams_refused_.value;
            batch.refused("datagram longer than " + std::to_string(options_.datagram_bytes_max) + " bytes",
                          datagram.bytes);
            continue;
        }
        const std::int64_t utc_ns = datagram.utc_ns.value_or(now.utc_ns);
        // A step of the wall clock since the arrival must not give a time before the socket was opened or after now.
        const std::int64_t mono_ns = std::clamp(now.mono_ns - (now.utc_ns - utc_ns), earliest_mono_ns_, now.mono_ns);
        add_lines(datagram.bytes, {batch, sink_, options_.rules, {utc_ns, mono_ns}});
    }
    std::visit([&](auto& intake) { intake.finish(batch); }, intake_);
    return datagrams.size();
}

void UdpDriver::add_lines(std::string_view bytes, const metrics::LineTarget& target) {
    bytes = metrics::without_byte_order_mark(bytes);
    while (!bytes.empty()) {
        const std::string_view line =
            options_.format == DatagramFormat::influx ? metrics::take_influx_line(bytes) : metrics::take_line(bytes);
        if (line.find_first_not_of(" \t") == std::string_view::npos) {
            continue;
        }
        if (!std::visit([&](auto& intake) { return intake.add_line(line, target); }, intake_)) {
            ++lines_refused_.value;
        }
    }
}

void UdpDriver::add_counts(SampleBatch& batch) {
    if (sink_.left_out() > fields_refused_.value) {
        batch.refused("no channel for a metric: its name is too long, or the limit of " +
                      std::to_string(options_.channels_max) + " names is reached");
    }
    fields_refused_.value = sink_.left_out();
    bool is_stamped = false;
    for (Count* const count : {&lines_refused_, &datagrams_refused_, &fields_refused_, &receive_buffer_}) {
        if (count->value != count->given) {
            if (!std::exchange(is_stamped, true)) {
                batch.stamp_now();
            }
            batch.add(count->channel, count->value, count->quality);
            count->given = count->value;
        }
    }
}

void UdpDriver::reset() noexcept {
    was_reset_ = true;
    retry_at_ = {};
}

void UdpDriver::close(SampleBatch& batch) noexcept {
    if (socket_.is_open()) {
        batch.lost_at_source(socket_.discard());
        batch.lost_at_source(socket_.take_drops());
        socket_.close();
    }
}

ReadResult UdpDriver::fail(std::string what) noexcept {
    what_ = std::move(what);
    retry_at_ = std::chrono::steady_clock::now() + retry_after;
    return {ReadResult::Status::failed, what_};
}

}  // namespace telegate::udp

namespace telegate {

std::unique_ptr<Driver> make_udp_driver(UdpDriverOptions options) {
    return std::make_unique<udp::UdpDriver>(std::move(options));
}

}  // namespace telegate
