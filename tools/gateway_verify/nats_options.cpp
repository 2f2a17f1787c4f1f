#include "nats_options.hpp"

#include "nats/credentials.hpp"
#include "uplink/server_url.hpp"

#include <new>
#include <stdexcept>
#include <string_view>
#include <variant>

namespace telegate::uplink {
namespace {

void check_nats(natsStatus status, const std::string& what) {
    if (status == NATS_NO_MEMORY) {
        throw std::bad_alloc();
    }
    if (status != NATS_OK) {
        throw std::runtime_error(what + ": " + nats_error_text(status));
    }
}

void apply(const NatsCredentials& credentials, const std::string& path, natsOptions* to) {
    if (const auto* const token = std::get_if<NatsToken>(&credentials)) {
        check_nats(natsOptions_SetToken(to, token->token.c_str()), "token");
    } else if (const auto* const user = std::get_if<NatsUser>(&credentials)) {
        check_nats(natsOptions_SetUserInfo(to, user->user.c_str(), user->password.c_str()), "user");
    } else if (const auto* const nkey = std::get_if<NatsNkey>(&credentials)) {
        check_nats(natsOptions_SetNKeyFromSeed(to, nkey->public_key.c_str(), path.c_str()), path);
    } else {
        check_nats(natsOptions_SetUserCredentialsFromFiles(to, path.c_str(), nullptr), path);
    }
}

void apply_tls(const AdapterSecrets& secrets, const std::string& host, natsOptions* to) {
    check_nats(natsOptions_SetSecure(to, true), "TLS");
    check_nats(natsOptions_SetExpectedHostname(to, host.c_str()), "TLS");
    const std::string& ca = secrets.tls_ca.path;
    if (!ca.empty()) {
        check_nats(natsOptions_LoadCATrustedCertificates(to, ca.c_str()), "cannot read the certificates in " + ca);
    }
    const std::string& certificate = secrets.tls_certificate.path;
    const std::string& key = secrets.tls_key.path;
    if (!certificate.empty()) {
        check_nats(natsOptions_LoadCertificatesChain(to, certificate.c_str(), key.c_str()),
                   "cannot use " + certificate + " with " + key);
    }
}

/// Replaces the handler that writes to stderr. Errors are read from the connection.
void ignore_error(natsConnection* /*connection*/, natsSubscription* /*subscription*/, natsStatus /*error*/,
                  void* /*closure*/) {}

}  // namespace

std::string nats_error_text(natsStatus status) {
    const char* const text = nats_GetLastError(nullptr);
    const std::string_view all = text == nullptr || *text == '\0' ? natsStatus_GetText(status) : text;
    const std::size_t place_end = all.starts_with('(') ? all.find("): ") : std::string_view::npos;
    return std::string(place_end == std::string_view::npos ? all : all.substr(place_end + 3));
}

NatsOptions make_connect_options(const AdapterOptions& options, const std::string& url,
                                 std::chrono::milliseconds connect_max) {
    natsOptions* made = nullptr;
    check_nats(natsOptions_Create(&made), "options");
    NatsOptions to(made);
    const ServerUrl address = parse_nats_url(url).value_or(ServerUrl{});
    const std::string host = address.host.find(':') == std::string::npos ? address.host : '[' + address.host + ']';
    check_nats(natsOptions_SetURL(made, ("nats://" + host + ':' + address.port).c_str()), url);
    check_nats(natsOptions_SetName(made, options.client_name.c_str()), "name");
    check_nats(natsOptions_SetTimeout(made, connect_max.count()), "time limit");
    check_nats(natsOptions_SetAllowReconnect(made, false), "options");
    check_nats(natsOptions_SetIgnoreDiscoveredServers(made, true), "options");
    check_nats(natsOptions_SetSendAsap(made, true), "options");   // otherwise, it has a thread that writes
    check_nats(natsOptions_SetPingInterval(made, 0), "options");  // otherwise, its timer thread writes
    check_nats(natsOptions_SetErrorHandler(made, ignore_error, nullptr), "options");
    const AdapterSecrets secrets = options.secrets();
    if (const AdapterFile& file = secrets.credentials; !file.path.empty()) {
        apply(read_credentials(file.content, file.path), file.path, made);
    }
    if (address.has_tls || !secrets.tls_ca.path.empty() || !secrets.tls_certificate.path.empty()) {
        apply_tls(secrets, options.tls_server_name.empty() ? address.host : options.tls_server_name, made);
    }
    return to;
}

}  // namespace telegate::uplink
