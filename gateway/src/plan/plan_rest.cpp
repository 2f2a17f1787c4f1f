#include "plan/plan_sections.hpp"

#include "base/whole_file.hpp"
#include "config/credential_path.hpp"
#include "config/section_problems.hpp"
#include "http/http_text.hpp"
#include "http/rest_options.hpp"
#include "http/tls_context.hpp"

#include "core/endpoint.hpp"

#include <sys/un.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace telegate {
namespace {

void check_address(const Settings& settings, SectionProblems& complaints) {
    const RestSettings& rest = settings.rest;
    if (settings.rest_host.empty()) {
        return;
    }
    if (const auto fault = check_tcp_host(settings.rest_host)) {
        complaints.add("listen", '"' + settings.rest_host + "\": " + fault->what);
        return;
    }
    const bool far = !is_loopback(settings.rest_host);
    if (far && rest.tokens_file.empty() && rest.tls_client_ca.empty()) {
        complaints.add("listen",
                       "\"" + settings.rest_host +
                           "\" is reachable from other machines, which could control the gateway without "
                           "authentication: must be a loopback address such as 127.0.0.1; otherwise set tokens_file, "
                           "or tls_client_ca with tls_certificate and tls_key");
    }
}

/// Returns the path that a setting names, or "" after adding a problem.
std::string path_of(const std::string& given, const char* key, SectionProblems& complaints) {
    try {
        return credential_path(given);
    } catch (const std::runtime_error& error) {
        complaints.add(key, error.what());
        return "";
    }
}

/// Returns whether the TLS keys are complete and their files are readable, so their content can be checked.
bool check_tls(const RestSettings& rest, const TlsPaths& paths, SectionProblems& complaints) {
    const std::string given = !rest.tls_certificate.empty() ? "tls_certificate"
                              : !rest.tls_key.empty()       ? "tls_key"
                              : !rest.tls_client_ca.empty() ? "tls_client_ca"
                                                            : "";
    if (given.empty()) {
        return false;
    }
    bool complete = true;
    const auto check = [&](const std::string& key, const std::string& setting, const std::string& path,
                           FileHolds what) {
        const std::string fault = path.empty() ? "" : file_fault(path, what);
        const bool missing = setting.empty() && key != "tls_client_ca";
        if (missing) {
            complaints.add(given, "TLS requires tls_certificate and tls_key: " + key + " is missing");
        } else if (!fault.empty()) {
            complaints.add(key, fault);
        }
        complete = complete && !missing && fault.empty() && setting.empty() == path.empty();
    };
    check("tls_certificate", rest.tls_certificate, paths.certificate, FileHolds::anything);
    check("tls_key", rest.tls_key, paths.key, FileHolds::secret);
    check("tls_client_ca", rest.tls_client_ca, paths.client_ca, FileHolds::anything);
    return complete;
}

void check_tokens(const std::string& path, SectionProblems& complaints) {
    try {
        (void)RestCredentials({.tokens_file = path, .tls = {}});
    } catch (const TokensError& error) {
        for (const std::string& fault : error.faults()) {
            complaints.add("tokens_file", fault);
        }
    }
}

void check_certificates(const TlsPaths& paths, SectionProblems& complaints) {
    try {
        (void)RestCredentials({.tokens_file = {}, .tls = paths});
    } catch (const std::runtime_error& error) {
        complaints.add("tls_certificate", error.what());
    }
}

void check_unix_socket(const std::string& path, SectionProblems& complaints) {
    constexpr std::size_t bytes_max = sizeof(sockaddr_un::sun_path) - 1;
    if (path.size() > bytes_max) {
        complaints.add("unix_socket",
                       '"' + path + "\" is too long: must be at most " + std::to_string(bytes_max) + " bytes");
    }
}

}  // namespace

RestOptions plan_rest(const Settings& settings, std::vector<SettingsProblem>& problems) {
    const RestSettings& rest = settings.rest;
    SectionProblems complaints("rest", settings.places_of("rest"), {}, problems);
    check_address(settings, complaints);
    RestOptions options;
    options.host = settings.rest_host;
    options.port = static_cast<std::uint16_t>(settings.rest_port);
    options.unix_socket = rest.unix_socket;
    options.streams_max = static_cast<std::size_t>(rest.streams_max);
    options.credentials.tokens_file = rest.tokens_file;
    options.credentials.tls = {path_of(rest.tls_certificate, "tls_certificate", complaints),
                               path_of(rest.tls_key, "tls_key", complaints),
                               path_of(rest.tls_client_ca, "tls_client_ca", complaints)};
    check_unix_socket(rest.unix_socket, complaints);
    if (check_tls(rest, options.credentials.tls, complaints)) {
        check_certificates(options.credentials.tls, complaints);
    }
    check_tokens(rest.tokens_file, complaints);
    return options;
}

}  // namespace telegate
