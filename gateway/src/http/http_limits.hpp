#pragma once

#include <chrono>
#include <cstddef>

namespace telegate {

/// The limits that keep a REST client from exhausting resources, each with its reason. Only streams_max is a setting;
/// tests change the others.
struct HttpLimits {
    std::size_t head_bytes_max = 16 * 1024;    // request line and fields; browsers with many cookies stay below 8 KiB
    std::size_t body_bytes_max = 1024 * 1024;  // a settings document, the largest request to a gateway
    std::size_t bodies_bytes_max = 4 * 1024 * 1024;  // of all connections together; changes usually come one at a time
    // Created bodies that are not sent yet, of all connections together: three times the largest /status of a gateway
    // with a full channel table. A larger body is sent if it is the only one.
    std::size_t responses_bytes_max = 64 * 1024 * 1024;
    std::size_t connections_max = 64;  // each holds at most one response; clients are people, scrapers and scripts
    // in addition to connections_max; each holds a descriptor and up to two pulls of text
    std::size_t streams_max = 16;
    std::size_t requests_max = 1'000;               // per connection, so that even a busy one is closed occasionally
    std::chrono::milliseconds request_time{5'000};  // for the whole request, even if its bytes arrive slowly
    // from a complete request until a worker starts it; later it is refused
    std::chrono::milliseconds queue_time{1'000};
    std::chrono::milliseconds response_time{10'000};  // for the whole response
    std::chrono::milliseconds stuck_after{100};       // without reading any of the response; longer than a round trip
    std::chrono::milliseconds idle_time{15'000};      // between requests; an idle connection costs only a descriptor
    // for the peer to read the last response before the connection closes
    std::chrono::milliseconds linger_time{1'000};
    std::chrono::milliseconds stream_silence{15'000};  // proxies close a connection after 30 or 60 s without data
    std::chrono::milliseconds stream_stall{30'000};    // a stream whose client reads nothing for this long is closed
    std::chrono::milliseconds stream_interval{20};     // between two pulls from the streams: at most 50 pulls a second
};

}  // namespace telegate
