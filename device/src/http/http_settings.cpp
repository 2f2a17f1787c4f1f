#include "config/credential_path.hpp"
#include "config/enum_names.hpp"
#include "config/setting_rules.hpp"
#include "device/driver_row.hpp"
#include "http/http_driver.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace telegate {
namespace http_driver {
namespace {

/// The settings of a device with the driver http.
struct HttpSettings {
    std::string url;
    std::string format = "json";
    std::int64_t timeout_ms = 2'000;
    std::int64_t response_bytes_max = 1'048'576;
    std::int64_t channels_max = 256;
    std::string token_file;  // "": none
    std::string ca_file;     // "": certificates of the system
};

/// The settings of a channel of such a device.
struct HttpChannelSettings {
    std::string source;  // "": not read by this channel
};

using H = HttpSettings;

constexpr auto formats = enum_names<HttpFormat>({{"json", HttpFormat::json}, {"prometheus", HttpFormat::prometheus}});
constexpr TextRule url_rule{.holds = Holds::destination,  // parse_url() checks the scheme, in any case
                            .prefixes = {},
                            .allowed = "http://HOST[:PORT][/PATH] or https://...",
                            .bytes_max = 2'048};
constexpr TextRule source_rule{.holds = Holds::plain,
                               .prefixes = {},
                               .allowed = "a JSON pointer, such as /pump/speed, or a metric, such as up{job=\"x\"}",
                               .bytes_max = 512,
                               .may_be_empty = true};

// clang-format off
constexpr std::array rows{
    // Only allowed in files, because the token is sent to this URL.
    SettingRow{.section = "device", .key = "url", .rule = url_rule, .applies = Applies::file,
               .required = true,
               .meaning = "URL that each reading requests with GET.",
               .slot = driver_slot<&H::url>},
    SettingRow{.section = "device", .key = "format", .rule = ChoiceRule{formats.names},
               .applies = Applies::live,
               .meaning = "Format of the response: one JSON object or array (json), or metrics in the text format of "
                          "Prometheus or OpenMetrics (prometheus).",
               .slot = driver_slot<&H::format>},
    SettingRow{.section = "device", .key = "timeout_ms", .rule = WholeRule{.min = 10, .max = 10'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "Timeout of a whole reading, from the host lookup to the last byte of the response.",
               .slot = driver_slot<&H::timeout_ms>},
    SettingRow{.section = "device", .key = "response_bytes_max",
               .rule = WholeRule{.min = 1'024, .max = 16'777'216}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Maximum size of a response; the reading fails if it is larger.",
               .slot = driver_slot<&H::response_bytes_max>},
    SettingRow{.section = "device", .key = "channels_max", .rule = WholeRule{.min = 1, .max = 4'096},
               .unit = "channels", .applies = Applies::live,
               .meaning = "Maximum number of channels if no channel has a source; values with additional names are "
                          "dropped and counted.",
               .slot = driver_slot<&H::channels_max>},
    SettingRow{.section = "device", .key = "token_file", .rule = rules::credential,
               .applies = Applies::file,
               .meaning = "File with the bearer token that is sent, or credential:NAME for a systemd credential. It is "
                          "read before each request, so the token can be replaced at any time.",
               .slot = driver_slot<&H::token_file>},
    SettingRow{.section = "device", .key = "ca_file", .rule = rules::file, .applies = Applies::file,
               .meaning = "File with the CA certificates in PEM that the server certificate is checked against. If "
                          "not set, the certificates of the system are used.",
               .slot = driver_slot<&H::ca_file>},
    SettingRow{.section = "channel", .key = "source", .rule = source_rule, .applies = Applies::live,
               .meaning = "Value of the channel: a JSON pointer, or the name of a metric with the labels that it must "
                          "have. If at least one channel has a source, other values are not read.",
               .slot = driver_slot<&HttpChannelSettings::source>},
};
// clang-format on

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels channels) {
    const HttpSettings& from = part_of<HttpSettings>(device.driver_settings);
    HttpDriverOptions options;
    options.url = from.url;
    options.format = formats.value(from.format);
    options.timeout = std::chrono::milliseconds(from.timeout_ms);
    options.response_bytes_max = static_cast<std::size_t>(from.response_bytes_max);
    options.token_file = credential_path(from.token_file);
    options.ca_file = from.ca_file;
    options.channels_max = static_cast<std::size_t>(from.channels_max);
    for (const ChannelSettings* const channel : channels) {
        const auto& source = part_of<HttpChannelSettings>(channel->driver_settings).source;
        if (!source.empty()) {
            options.channels.push_back({std::string(channel->channel()), channel->unit, source});
        }
    }
    return make_http_driver(std::move(options));
}

}  // namespace
}  // namespace http_driver

extern const DriverRow http_driver_row{.name = "http", .settings = http_driver::rows, .make = http_driver::make};

}  // namespace telegate
