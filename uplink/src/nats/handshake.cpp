#include "nats/handshake.hpp"

#include "link/json_text.hpp"
#include "nats/credentials.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <variant>

namespace telegate::uplink {
namespace {

/// Adds the credentials to a CONNECT.
struct AddCredentials {
    nlohmann::json& to;
    const std::string& nonce;

    void operator()(const NatsToken& token) const { to["auth_token"] = token.token; }
    void operator()(const NatsUser& user) const {
        to["user"] = user.user;
        to["pass"] = user.password;
    }
    void operator()(const NatsNkey& nkey) const {
        to["nkey"] = nkey.public_key;
        to["sig"] = nkey_signature(nkey.seed, nonce).value_or("");
    }
    void operator()(const NatsJwt& jwt) const {
        to["jwt"] = jwt.jwt;
        to["sig"] = nkey_signature(jwt.seed, nonce).value_or("");
    }
};

}  // namespace

ServerInfo read_server_info(std::string_view json) {
    const nlohmann::json info = parse_json(json);
    const auto is_set = [&](const char* key) {
        return json_member(info, key) == nlohmann::json(true);
    };
    ServerInfo read;
    read.has_headers = is_set("headers");
    read.needs_tls = is_set("tls_required");
    read.has_tls = read.needs_tls || is_set("tls_available");
    read.payload_max =
        static_cast<std::uint64_t>(std::max<std::int64_t>(json_number(json_member(info, "max_payload")), 0));
    read.nonce = json_string(json_member(info, "nonce"));
    return read;
}

bool wants_tls(const AdapterSecrets& secrets, const ServerUrl& address) noexcept {
    return address.has_tls || !secrets.tls_ca.path.empty() || !secrets.tls_certificate.path.empty();
}

std::string connect_text(const AdapterSecrets& secrets, const ServerInfo& info, const std::string& name,
                         bool is_secure) {
    nlohmann::json connect{{"verbose", false},     {"pedantic", false},  {"tls_required", is_secure},
                           {"name", name},         {"lang", "telegate"}, {"version", TELEGATE_MODULE_VERSION},
                           {"protocol", 1},        {"echo", false},      {"headers", true},
                           {"no_responders", true}};
    if (const AdapterFile& file = secrets.credentials; !file.path.empty()) {
        std::visit(AddCredentials{connect, info.nonce}, read_credentials(file.content, file.path));
    }
    return "CONNECT " + connect.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\r\nPING\r\n";
}

}  // namespace telegate::uplink
