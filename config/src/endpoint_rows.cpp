#include "config/payload_format.hpp"
#include "config/setting_rules.hpp"
#include "rows.hpp"

#include <array>

namespace telegate {
namespace endpoint_sections {

using P = PublishSettings;
using V = ServiceSettings;

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "publish", .key = "endpoint", .rule = rules::endpoint, .applies = Applies::live,
               .required = true,
               .meaning = "Address that subscribers connect to, in ZeroMQ notation.", .slot = slot_of<&P::endpoint>},
    SettingRow{.section = "publish", .key = "format", .rule = ChoiceRule{payload_format_names.names},
               .applies = Applies::live,
               .meaning = "Format of the samples on this endpoint: a JSON object (json), the same in CBOR (cbor), or "
                          "a record of 64 bytes (record).",
               .slot = slot_of<&P::format>},
    SettingRow{.section = "publish", .key = "curve_secret_key_file", .rule = rules::credential, .applies = Applies::file,
               .meaning = "File with the CURVE secret key of the endpoint, created by telegate_keygen, or "
                          "credential:NAME for a systemd credential. Empty means no encryption.",
               .slot = slot_of<&P::curve_secret_key_file>},
    SettingRow{.section = "publish", .key = "curve_clients_dir", .rule = rules::clients, .applies = Applies::file,
               .meaning = "Directory with the public keys of allowed clients, in files NAME.public. * means any "
                          "client that knows the server's key.",
               .slot = slot_of<&P::curve_clients_dir>},
    SettingRow{.section = "publish", .key = "policy", .rule = ChoiceRule{rules::slow_policies},
               .applies = Applies::live,
               .meaning = "Treatment of messages for a slow subscriber: its oldest messages are dropped "
                          "(drop_oldest), the new message is dropped (drop_newest), the subscriber is disconnected "
                          "(disconnect), publishing blocks (block), or only the newest message of each topic is kept "
                          "(conflate).",
               .slot = slot_of<&P::policy>},
    SettingRow{.section = "publish", .key = "backlog_bytes", .rule = WholeRule{.min = 65'536, .max = 1'073'741'824},
               .unit = "bytes", .applies = Applies::live,
               .meaning = "Maximum backlog of a subscriber, in bytes of messages in its format.",
               .slot = slot_of<&P::backlog_bytes>},
    SettingRow{.section = "publish", .key = "backlog_age", .rule = WholeRule{.min = 0, .max = 86'400'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "Maximum time that messages wait for a slow subscriber; older messages are dropped. 0 means no limit.",
               .slot = slot_of<&P::backlog_age>},
    SettingRow{.section = "publish", .key = "last_value", .rule = BooleanRule{}, .applies = Applies::live,
               .meaning = "Whether a new subscription first receives the last value of each matching channel.",
               .slot = slot_of<&P::last_value>},

    SettingRow{.section = "services", .key = "endpoint", .rule = rules::endpoint, .applies = Applies::live,
               .required = true,
               .meaning = "Address that DEALER and REQ sockets connect to, in ZeroMQ notation.",
               .slot = slot_of<&V::endpoint>},
    SettingRow{.section = "services", .key = "curve_secret_key_file", .rule = rules::credential, .applies = Applies::file,
               .meaning = "File with the CURVE secret key of the endpoint, created by telegate_keygen, or "
                          "credential:NAME for a systemd credential. Empty means no encryption.",
               .slot = slot_of<&V::curve_secret_key_file>},
    SettingRow{.section = "services", .key = "curve_clients_dir", .rule = rules::clients, .applies = Applies::file,
               .meaning = "Directory with the public keys of allowed clients, in files NAME.public. * means any "
                          "client that knows the server's key.",
               .slot = slot_of<&V::curve_clients_dir>},
};
// clang-format on

}  // namespace endpoint_sections

std::span<const SettingRow> endpoint_rows() noexcept {
    return endpoint_sections::rows;
}

}  // namespace telegate
