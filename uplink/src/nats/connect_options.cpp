#include "nats/connect_options.hpp"

#include "nats/nkey.hpp"
#include "uplink/nats_address.hpp"

#include <iterator>
#include <new>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace telegate::uplink {
namespace {

std::vector<std::string> words_of(std::string_view text) {
    std::istringstream words{std::string(text)};
    words.exceptions(std::ios::badbit);  // lack of memory must not end the list
    return {std::istream_iterator<std::string>(words), {}};
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
    if (!secrets.tls_ca.empty()) {
        check_nats(natsOptions_LoadCATrustedCertificates(to, secrets.tls_ca.c_str()),
                   "cannot read the certificates in " + secrets.tls_ca);
    }
    if (!secrets.tls_certificate.empty()) {
        check_nats(natsOptions_LoadCertificatesChain(to, secrets.tls_certificate.c_str(), secrets.tls_key.c_str()),
                   "cannot use " + secrets.tls_certificate + " with " + secrets.tls_key);
    }
}

/// Replaces the handler that writes to stderr. Errors are read from the connection.
void ignore_error(natsConnection* /*connection*/, natsSubscription* /*subscription*/, natsStatus /*error*/,
                  void* /*closure*/) {}

}  // namespace

NatsCredentials read_credentials(std::string_view content, const std::string& path) {
    if (content.find("BEGIN NATS USER JWT") != std::string_view::npos) {
        return NatsJwt{};
    }
    const std::vector<std::string> words = words_of(content);
    for (const std::string& word : words) {
        if (auto key = nkey_public_key(word)) {
            return NatsNkey{std::move(*key)};
        }
    }
    if (words.size() == 1) {
        return NatsToken{words[0]};
    }
    if (words.size() == 2) {
        return NatsUser{words[0], words[1]};
    }
    throw std::runtime_error("invalid credentials in " + path +
                             ": must be TOKEN, USER PASSWORD, the seed of an nkey, or the content of a .creds file");
}

void check_nats(natsStatus status, const std::string& what) {
    if (status == NATS_NO_MEMORY) {
        throw std::bad_alloc();
    }
    if (status != NATS_OK) {
        throw std::runtime_error(what + ": " + nats_error_text(status));
    }
}

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
    const NatsAddress address = parse_nats_url(url).value_or(NatsAddress{});
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
    if (!secrets.credentials_path.empty()) {
        apply(read_credentials(secrets.credentials, secrets.credentials_path), secrets.credentials_path, made);
    }
    if (address.has_tls || !secrets.tls_ca.empty() || !secrets.tls_certificate.empty()) {
        apply_tls(secrets, options.tls_server_name.empty() ? address.host : options.tls_server_name, made);
    }
    return to;
}

}  // namespace telegate::uplink
