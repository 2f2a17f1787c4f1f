#pragma once

#include <chrono>
#include <cstddef>

namespace telegate {

/// Every number that a REST client could make grow, with its reason. Changed by tests only, but for streams_max.
struct HttpLimits {
    std::size_t head_bytes_max = 16 * 1024;    // request line and fields; browsers with many cookies stay below 8 KiB
    std::size_t body_bytes_max = 1024 * 1024;  // a settings document, the largest thing that is sent to a gateway
    std::size_t bodies_bytes_max = 4 * 1024 * 1024;  // of all connections together: one change at a time is usual
    // Bodies that were made and not yet sent, of all connections together: three times the largest /status of a gateway
    // with a full channel table. One larger body is sent when it is alone.
    std::size_t responses_bytes_max = 64 * 1024 * 1024;
    std::size_t connections_max = 64;  // each holds one answer at most; people, scrapers and scripts, not crowds
    std::size_t streams_max = 16;      // besides those; each holds a descriptor and up to two pulls of text
    std::size_t requests_max = 1'000;  // on one connection, so that even a busy one gives way now and then
    std::chrono::milliseconds request_time{5'000};    // for the whole of a request, however its bytes trickle
    std::chrono::milliseconds queue_time{1'000};      // of a whole request for a worker; then it is refused
    std::chrono::milliseconds response_time{10'000};  // for the whole of a response
    std::chrono::milliseconds stuck_after{100};       // without taking any of a response; longer than a round trip
    std::chrono::milliseconds idle_time{15'000};      // between requests; costs a descriptor and nothing else
    std::chrono::milliseconds linger_time{1'000};  // for the peer to see the last response before the connection goes
    std::chrono::milliseconds stream_silence{15'000};  // proxies give up a connection after 30 or 60 s of silence
    std::chrono::milliseconds stream_stall{30'000};    // a stream whose client reads nothing in this time is ended
    std::chrono::milliseconds stream_interval{20};     // between two looks at what streams have to say: 50 a second
};

}  // namespace telegate
