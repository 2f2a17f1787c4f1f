#include "config/setting_rules.hpp"
#include "rows.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace services_section {

using V = ServiceSettings;

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "services", .key = "endpoint", .rule = rules::endpoint, .applies = Applies::live,
               .required = true,
               .meaning = "Address that DEALER and REQ sockets connect to, in ZeroMQ notation.",
               .slot = slot<&V::endpoint>},
    SettingRow{.section = "services", .key = "curve_secret_key_file", .rule = rules::credential, .applies = Applies::file,
               .meaning = "File with the CURVE secret key of the endpoint, created by telegate_keygen, or "
                          "credential:NAME for a systemd credential. Empty means no encryption.",
               .slot = slot<&V::curve_secret_key_file>},
    SettingRow{.section = "services", .key = "curve_clients_dir", .rule = rules::clients, .applies = Applies::file,
               .meaning = "Directory with the public keys of allowed clients, in files NAME.public. * means any "
                          "client that knows the server's key.",
               .slot = slot<&V::curve_clients_dir>},
};
// clang-format on

}  // namespace services_section

std::span<const SettingRow> services_rows() noexcept {
    return services_section::rows;
}

}  // namespace telegate
