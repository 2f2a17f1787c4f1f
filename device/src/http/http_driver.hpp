#pragma once

#include "device/driver.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace telegate {

/// The format of a response: one JSON text, or the text format of Prometheus and OpenMetrics.
enum class HttpFormat : std::uint8_t { json, prometheus };

/// Also the settings of a channel; the device has its name and unit.
struct HttpChannel {
    std::string name = {};
    std::string unit = {};
    std::string source = {};  // json: a JSON pointer (RFC 6901); prometheus: NAME or NAME{LABEL="VALUE",...}
};

/// Also the settings of a device with the driver http, which limit the values.
struct HttpDriverOptions {
    std::string url = {};  // http://HOST, with :PORT and /PATH if needed, or https://
    HttpFormat format = HttpFormat::json;
    std::chrono::milliseconds timeout{2'000};  // from resolving the host name to the last byte
    std::size_t response_bytes_max = 1024 * 1024;
    std::string token_file = {};             // file with a bearer token, read before each request; "": none
    std::string ca_file = {};                // trusted certificates (PEM); "": those of the system
    std::size_t channels_max = 256;          // without `channels`: limit of names
    std::vector<HttpChannel> channels = {};  // empty: every value of the response becomes a channel
};

/// Creates a driver that polls an HTTP endpoint with GET; see docs/drivers/http.md. It has its own thread. Throws
/// std::invalid_argument for invalid options, and std::runtime_error in a build without an HTTP client.
[[nodiscard]] std::unique_ptr<Driver> make_http_driver(HttpDriverOptions options);

}  // namespace telegate
