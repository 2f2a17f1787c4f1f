#include "config/credential_path.hpp"
#include "config/setting_rules.hpp"
#include "device/common_settings.hpp"
#include "device/driver_row.hpp"
#include "http/http_driver.hpp"

#include <array>
#include <string>
#include <utility>

namespace telegate {
namespace http_driver {
namespace {

using H = HttpDriverOptions;

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
               .slot = slot_of<&H::url>},
    SettingRow{.section = "device", .key = "format", .rule = ChoiceRule{formats.names},
               .applies = Applies::live,
               .meaning = "Format of the response: one JSON object or array (json), or metrics in the text format of "
                          "Prometheus or OpenMetrics (prometheus).",
               .slot = choice_of<formats, &H::format>},
    SettingRow{.section = "device", .key = "timeout_ms", .rule = WholeRule{.min = 10, .max = 10'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "Timeout of a whole reading, from the host lookup to the last byte of the response.",
               .slot = slot_of<&H::timeout>},
    SettingRow{.section = "device", .key = "response_bytes_max",
               .rule = WholeRule{.min = 1'024, .max = 16'777'216}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Maximum size of a response; the reading fails if it is larger.",
               .slot = slot_of<&H::response_bytes_max>},
    SettingRow{.section = "device", .key = "channels_max", .rule = WholeRule{.min = 1, .max = 4'096},
               .unit = "channels", .applies = Applies::live,
               .meaning = "Maximum number of channels if no channel has a source; values with additional names are "
                          "dropped and counted.",
               .slot = slot_of<&H::channels_max>},
    SettingRow{.section = "device", .key = "token_file", .rule = rules::credential,
               .applies = Applies::file,
               .meaning = "File with the bearer token that is sent, or credential:NAME for a systemd credential. It is "
                          "read before each request, so the token can be replaced at any time.",
               .slot = slot_of<&H::token_file>},
    SettingRow{.section = "device", .key = "ca_file", .rule = rules::file, .applies = Applies::file,
               .meaning = "File with the CA certificates in PEM that the server certificate is checked against. If "
                          "not set, the certificates of the system are used.",
               .slot = slot_of<&H::ca_file>},
    SettingRow{.section = "channel", .key = "source", .rule = source_rule, .applies = Applies::live,
               .meaning = "Value of the channel: a JSON pointer, or the name of a metric with the labels that it must "
                          "have. If at least one channel has a source, other values are not read.",
               .slot = slot_of<&HttpChannel::source>},
};
// clang-format on

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels channels) {
    HttpDriverOptions options = part_of<HttpDriverOptions>(device.parts);
    options.token_file = credential_path(options.token_file);
    for (const ChannelSettings* const channel : channels) {
        const auto& source = part_of<HttpChannel>(channel->parts).source;
        if (!source.empty()) {
            options.channels.push_back({std::string(channel->channel()), processing_of(*channel).unit, source});
        }
    }
    return make_http_driver(std::move(options));
}

}  // namespace
}  // namespace http_driver

extern const DriverRow http_driver_row{.name = "http", .settings = http_driver::rows, .make = http_driver::make};

}  // namespace telegate
