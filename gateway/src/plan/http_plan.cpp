#include "base/credential_path.hpp"
#include "device/http_driver.hpp"
#include "plan/drivers.hpp"

#include <chrono>
#include <utility>

namespace telegate {

std::unique_ptr<Driver> make_http(const DeviceSettings& device, DeviceChannels channels) {
    const HttpSettings& from = device.http;
    HttpDriverOptions options;
    options.url = from.url;
    options.format = from.format == "prometheus" ? HttpFormat::prometheus : HttpFormat::json;
    options.timeout = std::chrono::milliseconds(from.timeout_ms);
    options.response_bytes_max = static_cast<std::size_t>(from.response_bytes_max);
    options.token_file = credential_path(from.token_file);
    options.ca_file = from.ca_file;
    options.channels_max = static_cast<std::size_t>(from.channels_max);
    for (const ChannelSettings* const channel : channels) {
        if (!channel->http.source.empty()) {
            options.channels.push_back({std::string(channel->channel()), channel->unit, channel->http.source});
        }
    }
    return make_http_driver(std::move(options));
}

}  // namespace telegate
