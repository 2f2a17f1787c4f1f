#include "plan_rest.hpp"

#include "host_name.hpp"
#include "section_problems.hpp"
#include "tls_context.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

void check_address(const Settings& settings, SectionProblems& complaints) {
    const RestSettings& rest = settings.rest;
    const bool far = !settings.rest_host.empty() && !is_loopback(settings.rest_host);
    if (far && rest.tokens_file.empty() && rest.tls_client_ca.empty()) {
        complaints.add("listen", "\"" + settings.rest_host +
                                     "\" is reached from other machines, where everybody could steer the gateway, "
                                     "allowed: a loopback address such as 127.0.0.1, or tokens_file, or tls_client_ca "
                                     "with tls_certificate and tls_key");
    }
}

/// Whether the keys go together, so that the files can be looked at.
bool check_tls(const RestSettings& rest, SectionProblems& complaints) {
    const std::string_view given = !rest.tls_certificate.empty() ? "tls_certificate"
                                   : !rest.tls_key.empty()       ? "tls_key"
                                   : !rest.tls_client_ca.empty() ? "tls_client_ca"
                                                                 : "";
    if (given.empty()) {
        return true;
    }
    if (!TlsContext::available) {
        complaints.add(std::string(given), "this build does not speak TLS, allowed: nothing");
        return false;
    }
    if (rest.tls_certificate.empty() || rest.tls_key.empty()) {
        complaints.add(std::string(given), "TLS needs tls_certificate and tls_key");
        return false;
    }
    return true;
}

void check_files(const RestCredentialPaths& paths, SectionProblems& complaints) {
    try {
        (void)RestCredentials({.tokens_file = paths.tokens_file, .tls = {}});
    } catch (const std::runtime_error& error) {
        complaints.add("tokens_file", error.what());
    }
    try {
        (void)RestCredentials({.tokens_file = {}, .tls = paths.tls});
    } catch (const std::runtime_error& error) {
        complaints.add("tls_certificate", error.what());
    }
}

}  // namespace

RestOptions plan_rest(const Settings& settings, std::vector<SettingsProblem>& problems) {
    const RestSettings& rest = settings.rest;
    SectionProblems complaints(rest.places, {}, problems);
    check_address(settings, complaints);
    RestOptions options;
    options.host = settings.rest_host;
    options.port = static_cast<std::uint16_t>(settings.rest_port);
    options.unix_socket = rest.unix_socket;
    options.streams_max = static_cast<std::size_t>(rest.streams_max);
    options.credentials.tokens_file = rest.tokens_file;
    options.credentials.tls = {rest.tls_certificate, rest.tls_key, rest.tls_client_ca};
    if (check_tls(rest, complaints)) {
        check_files(options.credentials, complaints);
    }
    return options;
}

}  // namespace telegate
