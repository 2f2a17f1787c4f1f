#pragma once

#include "device/driver.hpp"
#include "device/metric_rules.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace telegate {

/// What the datagrams hold.
enum class DatagramFormat : std::uint8_t { statsd, influx, json };

struct UdpDriverOptions {
    std::string host = "127.0.0.1";  // an IPv4 address, an IPv6 address with or without brackets, or localhost
    std::uint16_t port = 8'125;      // 0: one that is free
    DatagramFormat format = DatagramFormat::statsd;
    std::size_t receive_buffer_bytes = 1'048'576;  // what the kernel is asked for
    std::size_t datagram_bytes_max = 8'192;        // longer ones are refused
    std::string multicast_group;                   // an address of the host's family, joined on the host; "": none
    std::size_t channels_max = 1'000;              // new names beyond it are left out, and counted
    MetricRules rules;
};

/// Metrics that others send as UDP datagrams: StatsD, Influx line protocol or JSON, one or more lines in each.
///
/// Threads: those of Driver; it has a thread of its own and streams.
/// Limits:  channels_max names, datagram_bytes_max; 64 datagrams at a time and 1,024 in one read().
/// Failure: std::invalid_argument for bad options. An address that cannot be bound is a failed read, tried again after
///          a second. Lines that are not understood, datagrams too long and names too many are counted in channels.
///          What the kernel dropped, and what the socket holds at a reset or at the end, is counted as lost at the
///          source.
[[nodiscard]] std::unique_ptr<Driver> make_udp_driver(UdpDriverOptions options);

}  // namespace telegate
