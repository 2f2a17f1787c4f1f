#include "config/payload_format.hpp"
#include "config/setting_rules.hpp"
#include "rows.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace publish_section {

using P = PublishSettings;

constexpr std::array<std::string_view, 5> slow_policies{"drop_oldest", "drop_newest", "disconnect", "block",
                                                        "conflate"};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "publish", .key = "endpoint", .rule = rules::endpoint, .applies = Applies::live,
               .required = true,
               .meaning = "Where subscribers connect, in ZeroMQ notation.", .slot = slot<&P::endpoint>},
    SettingRow{.section = "publish", .key = "format", .rule = ChoiceRule{payload_format_names.names},
               .applies = Applies::live,
               .meaning = "How a sample looks there: a JSON object, the same as CBOR, or a record of 64 bytes.",
               .slot = slot<&P::format>},
    SettingRow{.section = "publish", .key = "curve_secret_key_file", .rule = rules::credential, .applies = Applies::file,
               .meaning = "Secret key of the endpoint, as telegate_keygen makes it, for CURVE, or credential:NAME of "
                          "systemd; nothing means no encryption.",
               .slot = slot<&P::curve_secret_key_file>},
    SettingRow{.section = "publish", .key = "curve_clients_dir", .rule = rules::clients, .applies = Applies::file,
               .meaning = "Folder of the public keys of those who may come in, files NAME.public; * means any client "
                          "that knows the server's key.",
               .slot = slot<&P::curve_clients_dir>},
    SettingRow{.section = "publish", .key = "policy", .rule = ChoiceRule{slow_policies}, .applies = Applies::live,
               .meaning = "What becomes of messages for a subscriber that reads too slowly: it loses its oldest, or "
                          "what comes, or its connection, or publishing waits for it, or it keeps the newest of each "
                          "topic.",
               .slot = slot<&P::policy>},
    SettingRow{.section = "publish", .key = "backlog_bytes", .rule = WholeRule{.min = 65'536, .max = 1'073'741'824},
               .unit = "bytes", .applies = Applies::live,
               .meaning = "How far a subscriber may be behind, in bytes of what is published in its format.",
               .slot = slot<&P::backlog_bytes>},
    SettingRow{.section = "publish", .key = "backlog_age", .rule = WholeRule{.min = 0, .max = 86'400'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "What has waited for a subscriber for longer is given up; 0 means never.",
               .slot = slot<&P::backlog_age>},
    SettingRow{.section = "publish", .key = "last_value", .rule = BooleanRule{}, .applies = Applies::live,
               .meaning = "Whether a new subscription first gets the last value of each channel that it matches.",
               .slot = slot<&P::last_value>},
};
// clang-format on

}  // namespace publish_section

std::span<const SettingRow> publish_rows() noexcept {
    return publish_section::rows;
}

}  // namespace telegate
