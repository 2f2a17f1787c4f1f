#pragma once

#include <cstdint>
#include <string>

namespace telegate {

/// What a device with the driver udp says.
struct UdpSettings {
    std::string listen_host = "127.0.0.1";
    std::int64_t listen_port = 8'125;
    std::string format = "statsd";
    std::int64_t receive_buffer_bytes = 1'048'576;
    std::int64_t datagram_bytes_max = 8'192;
    std::string multicast_group;  // "": none
    std::int64_t channels_max = 1'000;
    bool use_time = false;
    std::string time_precision = "auto";
    std::string time_member;  // json; "": none
    std::string name_member;  // json; "": none
};

}  // namespace telegate
