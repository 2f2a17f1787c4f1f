#include "endpoints/publish_curve.hpp"

#include "config/credential_path.hpp"
#include "config/section_problems.hpp"

#include <exception>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

constexpr std::string_view any_client = "*";
constexpr std::string_view key_file = "curve_secret_key_file";
constexpr std::string_view clients_dir = "curve_clients_dir";

/// Checks that the settings are consistent. Returns whether the files can be read.
template <class EndpointSettings>
bool check_settings(const EndpointSettings& settings, SectionProblems& problems) {
    if (settings.curve_secret_key_file.empty()) {
        problems.add(clients_dir,
                     '"' + settings.curve_clients_dir + "\" requires curve_secret_key_file: set both or neither");
    } else if (settings.curve_clients_dir.empty()) {
        problems.add(key_file,
                     "requires curve_clients_dir: must be a directory with the public keys of allowed clients, or "
                     "* for any client that knows the server's key");
    } else if (settings.endpoint.starts_with("inproc://")) {
        problems.add(key_file, '"' + settings.endpoint + "\" never leaves the process: CURVE must not be set");
    }
    return !problems.any();
}

std::shared_ptr<const CurveClients> read_clients(const std::string& folder, SectionProblems& problems) {
    try {
        auto clients = std::make_shared<const CurveClients>(folder);
        if (clients->size() == 0) {
            problems.add(
                clients_dir,
                folder +
                    ": has no key, so no client could connect: must be a directory with files NAME.public, or * "
                    "for any client that knows the server's key");
        }
        return clients;
    } catch (const std::exception& error) {
        problems.add(clients_dir, error.what());
        return nullptr;
    }
}

/// `kind`: the kind of section, "publish" or "services".
template <class EndpointSettings>
std::shared_ptr<const CurveServer> read_curve_of(std::string_view kind, const EndpointSettings& settings,
                                                 std::vector<SettingsProblem>& problems, SecretFile secret) {
    SectionProblems found(kind, settings, problems);
    const bool is_plain = settings.curve_secret_key_file.empty() && settings.curve_clients_dir.empty();
    if (is_plain || !check_settings(settings, found)) {
        return nullptr;
    }
    const auto curve = std::make_shared<CurveServer>();
    try {
        const std::string& file = settings.curve_secret_key_file;
        curve->keys =
            load_curve_secret_key(credential_path(file), is_credential(file) ? SecretFile::credential : secret);
    } catch (const std::exception& error) {
        found.add(key_file, error.what());
    }
    if (settings.curve_clients_dir != any_client) {
        curve->clients = read_clients(settings.curve_clients_dir, found);
    }
    return found.any() ? nullptr : curve;
}

template <class EndpointSettings>
std::vector<NamedCurve> read_all(const std::vector<EndpointSettings>& sections) {
    std::vector<SettingsProblem> problems;
    std::vector<NamedCurve> curves;
    curves.reserve(sections.size());
    for (const EndpointSettings& each : sections) {
        curves.push_back({each.name, read_curve(each, problems)});
    }
    if (!problems.empty()) {
        throw SettingsError(std::move(problems));
    }
    return curves;
}

}  // namespace

std::shared_ptr<const CurveServer> read_curve(const PublishSettings& settings, std::vector<SettingsProblem>& problems,
                                              SecretFile secret) {
    return read_curve_of("publish", settings, problems, secret);
}

std::shared_ptr<const CurveServer> read_curve(const ServiceSettings& settings, std::vector<SettingsProblem>& problems,
                                              SecretFile secret) {
    return read_curve_of("services", settings, problems, secret);
}

std::vector<NamedCurve> read_curves(const Settings& settings) {
    return read_all(settings.publish);
}

std::vector<NamedCurve> read_service_curves(const Settings& settings) {
    return read_all(settings.services);
}

Security to_security(const std::shared_ptr<const CurveServer>& curve) {
    return curve == nullptr ? Security() : Security(*curve);
}

bool is_same(const std::shared_ptr<const CurveServer>& a, const std::shared_ptr<const CurveServer>& b) {
    if (a == nullptr || b == nullptr) {
        return a == b;
    }
    const bool has_same_clients =
        a->clients == nullptr || b->clients == nullptr ? a->clients == b->clients : a->clients->is_same_as(*b->clients);
    // Clients see only the public key, which the secret key determines.
    return a->keys.public_key == b->keys.public_key && has_same_clients;
}

}  // namespace telegate
