#include "types/common_settings.hpp"

#include "config/setting_rules.hpp"
#include "config/setting_slot.hpp"

#include <array>

namespace telegate {
namespace uplink_section {

using U = UplinkSettings;

constexpr TextListRule prefixes{.holds = Holds::plain,
                                .allowed = "a prefix of topics, of the characters a-z 0-9 _ . - /",
                                .characters = "abcdefghijklmnopqrstuvwxyz0123456789_.-/",
                                .bytes_max = 129,
                                .count_max = 64};
constexpr TextRule server_name{.holds = Holds::destination,
                               .prefixes = {},
                               .allowed = "a host name of at most 253 bytes, or empty",
                               .bytes_max = 253,
                               .may_be_empty = true};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "uplink", .key = "type", .rule = ChoiceRule{}, .applies = Applies::live,
               .meaning = "Type of the back end. Each type has its own keys.", .slot = slot_of<&U::type>},
    SettingRow{.section = "uplink", .key = "topics", .rule = prefixes, .applies = Applies::live,
               .meaning = "Prefixes of the topics that are delivered. Empty means all.", .slot = slot_of<&U::topics>},
    SettingRow{.section = "uplink", .key = "credentials_file", .rule = rules::credential, .applies = Applies::file,
               .meaning = "File that authenticates the gateway, such as one with a token, or credential:NAME. Read for each "
                          "connection. Empty means none.",
               .slot = slot_of<&U::credentials_file>},
    SettingRow{.section = "uplink", .key = "tls_ca", .rule = rules::credential, .applies = Applies::file,
               .meaning = "CA certificates in PEM that the servers are checked against, or credential:NAME. Empty means "
                          "those of the system.",
               .slot = slot_of<&U::tls_ca>},
    SettingRow{.section = "uplink", .key = "tls_certificate", .rule = rules::credential, .applies = Applies::file,
               .meaning = "Certificate of the gateway for the servers in PEM, with its chain, or credential:NAME.",
               .slot = slot_of<&U::tls_certificate>},
    SettingRow{.section = "uplink", .key = "tls_key", .rule = rules::credential, .applies = Applies::file,
               .meaning = "Private key of tls_certificate in PEM, or credential:NAME.", .slot = slot_of<&U::tls_key>},
    SettingRow{.section = "uplink", .key = "tls_server_name", .rule = server_name, .applies = Applies::file,
               .meaning = "Name that the certificates of the servers must have. Empty means the host in the URL.",
               .slot = slot_of<&U::tls_server_name>},
    SettingRow{.section = "uplink", .key = "batch_samples", .rule = WholeRule{.min = 1, .max = 16'384},
               .unit = "samples", .applies = Applies::live,
               .meaning = "Maximum number of samples and gap notices in a message.", .slot = slot_of<&U::batch_samples>},
    SettingRow{.section = "uplink", .key = "batch_bytes", .rule = WholeRule{.min = 1'024, .max = 8'388'608},
               .unit = "bytes", .applies = Applies::live,
               .meaning = "Maximum size of a message, without its headers.",
               .slot = slot_of<&U::batch_bytes>},
    SettingRow{.section = "uplink", .key = "window", .rule = WholeRule{.min = 1, .max = 1'024},
               .unit = "messages", .applies = Applies::live,
               .meaning = "Maximum number of messages that are sent and not acknowledged.",
               .slot = slot_of<&U::window>},
    SettingRow{.section = "uplink", .key = "refusals_max", .rule = WholeRule{.min = 1, .max = 1'000}, .applies = Applies::live,
               .meaning = "Number of permanent refusals after which a message is divided, until single samples that "
                          "are refused are quarantined.",
               .slot = slot_of<&U::refusals_max>},
    SettingRow{.section = "uplink", .key = "rate_max", .rule = WholeRule{.min = 0, .max = 1'000'000'000},
               .unit = "samples/s", .applies = Applies::live, .meaning = "Maximum rate at which samples are sent. 0 means no limit.",
               .slot = slot_of<&U::rate_max>},
    SettingRow{.section = "uplink", .key = "catch_up", .rule = WholeRule{.min = 0, .max = 1'000}, .applies = Applies::live,
               .meaning = "Maximum rate at which a backlog is sent, as a multiple of the rate at which the log grows: 0 "
                          "for no limit, or 2 or more.",
               .slot = slot_of<&U::catch_up>},
    SettingRow{.section = "uplink", .key = "order", .rule = ChoiceRule{rules::uplink_orders}, .applies = Applies::live,
               .meaning = "Order of delivery: that of the log (strict), or new samples first (live_first), after which "
                          "samples that are more than 10 seconds late follow.",
               .slot = slot_of<&U::order>},
    SettingRow{.section = "uplink", .key = "ack_grace", .rule = WholeRule{.min = 0, .max = 604'800'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "How long age_max of the log keeps samples after they were acknowledged, so that the uplink "
                          "can be rewound after the back end has lost them.",
               .slot = slot_of<&U::ack_grace_ms>},
    SettingRow{.section = "uplink", .key = "lag_alarm", .rule = WholeRule{.min = 1'000, .max = 31'536'000'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "Age of the newest delivered sample above which the gateway is not ready, if samples wait "
                          "to be delivered.",
               .slot = slot_of<&U::lag_alarm_ms>},
};
// clang-format on

}  // namespace uplink_section

std::span<const SettingRow> common_uplink_settings() noexcept {
    return uplink_section::rows;
}

}  // namespace telegate
