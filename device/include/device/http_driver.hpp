#pragma once

#include "device/driver.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace telegate {

/// What an endpoint answers: one JSON text, or metrics in the text formats of Prometheus and OpenMetrics.
enum class HttpFormat : std::uint8_t { json, prometheus };

struct HttpChannel {
    std::string name = {};
    std::string unit = {};
    std::string source = {};  // json: a JSON pointer (RFC 6901); prometheus: NAME or NAME{LABEL="VALUE",...}
};

struct HttpDriverOptions {
    std::string url = {};  // http://HOST, with :PORT and /PATH if needed, or https://
    HttpFormat format = HttpFormat::json;
    std::chrono::milliseconds timeout{2'000};      // from the look-up of the host to the last byte; 10 to 10000
    std::size_t response_bytes_max = 1024 * 1024;  // 1024 to 16 MiB
    std::string token_file = {};                   // a bearer token, read before each request; "": none
    std::string ca_file = {};                      // PEM certificates to trust; "": those of the system
    std::size_t channels_max = 256;                // without `channels`: names of values; 1 to 4096
    std::vector<HttpChannel> channels = {};        // "": every value of the answer becomes a channel

    static constexpr std::size_t response_bytes_limit = 16 * 1024 * 1024;
    static constexpr std::size_t channels_limit = 4'096;
};

/// Polls an HTTP endpoint with GET; see docs/drivers/http.md. Waits for its device: it has a thread of its own.
/// Throws std::invalid_argument for bad options, std::runtime_error in a build without an HTTP client.
[[nodiscard]] std::unique_ptr<Driver> make_http_driver(HttpDriverOptions options);

}  // namespace telegate
