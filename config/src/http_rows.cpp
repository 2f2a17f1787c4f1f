#include "rows.hpp"
#include "setting_rules.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace http_section {

using D = DeviceSettings;
using C = ChannelSettings;
using H = HttpSettings;

constexpr std::array<std::string_view, 2> formats{"json", "prometheus"};
constexpr std::array<std::string_view, 2> schemes{"http://", "https://"};
constexpr TextRule url{.prefixes = schemes, .allowed = "http://HOST[:PORT][/PATH] or https://...", .bytes_max = 2'048};
constexpr TextRule source{.prefixes = {},
                          .allowed = "a JSON pointer, such as /pump/speed, or a metric, such as up{job=\"x\"}",
                          .bytes_max = 512,
                          .may_be_empty = true};

// clang-format off
constexpr std::array rows{
    // From files only: the token goes there.
    SettingRow{.section = "device", .driver = "http", .key = "url", .rule = url, .applies = Applies::file,
               .required = true,
               .meaning = "What is requested with GET at each reading.",
               .slot = slot<&D::http, &H::url>},
    SettingRow{.section = "device", .driver = "http", .key = "format", .rule = ChoiceRule{formats},
               .applies = Applies::live,
               .meaning = "What the answer is: one JSON object or array, or metrics in the text format of Prometheus or "
                          "OpenMetrics.",
               .slot = slot<&D::http, &H::format>},
    SettingRow{.section = "device", .driver = "http", .key = "timeout_ms", .rule = WholeRule{.min = 10, .max = 10'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "Time for a whole reading, from the look-up of the host to the last byte of the answer.",
               .slot = slot<&D::http, &H::timeout_ms>},
    SettingRow{.section = "device", .driver = "http", .key = "response_bytes_max",
               .rule = WholeRule{.min = 1'024, .max = 16'777'216}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Size limit of an answer; the reading of a longer one fails.",
               .slot = slot<&D::http, &H::response_bytes_max>},
    SettingRow{.section = "device", .driver = "http", .key = "channels_max", .rule = WholeRule{.min = 1, .max = 4'096},
               .unit = "channels", .applies = Applies::live,
               .meaning = "If no channel has a source: limit of channels; a value of a further name is dropped and "
                          "counted.",
               .slot = slot<&D::http, &H::channels_max>},
    SettingRow{.section = "device", .driver = "http", .key = "token_file", .rule = rules::credential,
               .applies = Applies::file,
               .meaning = "File with the bearer token to send. It is read before each request, so the token can be "
                          "replaced at any time. Or credential:NAME of systemd.",
               .slot = slot<&D::http, &H::token_file>},
    SettingRow{.section = "device", .driver = "http", .key = "ca_file", .rule = rules::file, .applies = Applies::file,
               .meaning = "File with the PEM certificates that may have signed the server's; if not set, those of the "
                          "system.",
               .slot = slot<&D::http, &H::ca_file>},
    SettingRow{.section = "channel", .driver = "http", .key = "source", .rule = source, .applies = Applies::live,
               .meaning = "Which value the channel is: a JSON pointer, or the name of a metric with labels that it must "
                          "have. If at least one channel has a source, no other values are read.",
               .slot = slot<&C::http, &HttpChannelSettings::source>},
};
// clang-format on

}  // namespace http_section

std::span<const SettingRow> http_rows() noexcept {
    return http_section::rows;
}

}  // namespace telegate
