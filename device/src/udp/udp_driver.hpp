#pragma once

#include "device/driver.hpp"
#include "metrics/given_time.hpp"
#include "metrics/line_intake.hpp"
#include "metrics/metric_sink.hpp"
#include "udp/datagram_socket.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace telegate {

/// The format of the datagrams.
enum class DatagramFormat : std::uint8_t { statsd, influx, json };

/// Also the settings of a device with the driver udp, which limit the values.
struct UdpDriverOptions {
    std::string host = "127.0.0.1";  // an IPv4 address, an IPv6 address with or without brackets, or localhost
    std::uint16_t port = 8'125;      // 0: any free port
    DatagramFormat format = DatagramFormat::statsd;
    std::size_t receive_buffer_bytes = 1'048'576;  // requested from the kernel
    std::size_t datagram_bytes_max = 8'192;        // longer datagrams are refused
    // a group address of the family of `host`, joined on that host address; "": none
    std::string multicast_group;
    std::size_t channels_max = 1'000;  // additional names are dropped and counted
    MetricRules rules;
};

/// Creates a driver that receives metrics as UDP datagrams: StatsD, Influx line protocol or JSON, with one or more
/// lines per datagram.
///
/// Threads: those of Driver; it has its own thread and streams.
/// Limits: channels_max names; datagram_bytes_max; 64 datagrams at a time and 1,024 per read().
/// Failure: std::invalid_argument for invalid options. An address that cannot be bound is a failed reading, repeated
/// after one second. Invalid lines, long datagrams and excess names are counted in channels. Datagrams that the kernel
/// dropped, or that are in the socket at a reset or at the end, count as lost at the source.
[[nodiscard]] std::unique_ptr<Driver> make_udp_driver(UdpDriverOptions options);

}  // namespace telegate

namespace telegate::udp {

/// See make_udp_driver().
class UdpDriver final : public Driver {
  public:
    explicit UdpDriver(UdpDriverOptions options);

    [[nodiscard]] DriverTraits traits() const noexcept override { return {.own_thread = true, .streams = true}; }
    void cancel_with(const CancelSignal& signal) noexcept override { cancel_ = &signal; }
    void open(SampleBatch& batch) override;
    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override;
    /// Makes the next read open the socket again. Running totals and known names are kept.
    void reset() noexcept override;
    void close(SampleBatch& batch) noexcept override;

    /// Returns the port that it listens on, after a successful read.
    [[nodiscard]] std::uint16_t port() const noexcept { return socket_.port(); }

  private:
    /// A counter of the driver, sent when it has changed.
    struct Count {
        std::string_view name;
        std::string_view unit;
        SampleBatch::Channel channel = SampleBatch::Channel::none;
        std::int64_t value = 0;
        std::int64_t given = -1;
        Quality quality = Quality::good;
    };

    ReadResult read_or_throw(SampleBatch& batch);
    [[nodiscard]] ReadResult open_socket();
    [[nodiscard]] std::size_t receive_datagrams(SampleBatch& batch, int& error);
    void add_lines(std::string_view bytes, const metrics::LineTarget& target);
    void add_counts(SampleBatch& batch);
    [[nodiscard]] ReadResult fail(std::string what) noexcept;

    const UdpDriverOptions options_;
    const CancelSignal* cancel_ = nullptr;
    DatagramSocket socket_;
    metrics::MetricSink sink_;
    metrics::LineIntake intake_;
    MonoTime retry_at_{};     // after a failure
    bool was_reset_ = false;  // since the last read
    std::int64_t earliest_mono_ns_ = 0;
    std::string what_;
    Count lines_refused_{"lines.refused", "1"};
    Count datagrams_refused_{"datagrams.refused", "1"};
    Count fields_refused_{"fields.refused", "1"};
    Count receive_buffer_{"receive_buffer", "By"};
};

}  // namespace telegate::udp
