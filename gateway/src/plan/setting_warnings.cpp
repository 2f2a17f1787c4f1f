#include "config/credential_path.hpp"
#include "config/section_problems.hpp"
#include "config/setting_rules.hpp"
#include "config/settings_instances.hpp"
#include "core/endpoint.hpp"
#include "device/common_settings.hpp"
#include "plan/checks.hpp"
#include "plan/plan.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace telegate {
namespace {

constexpr std::int64_t age_least_ms = 60'000;

void warn_of_age(const Settings& settings, std::vector<SettingsProblem>& warnings) {
    const std::int64_t age_ms = settings.log.age_max_ms;
    if (age_ms > 0 && age_ms < age_least_ms) {
        SectionProblems("log", settings.places_of("log"), {}, warnings)
            .add("age_max", std::to_string(age_ms) +
                                " ms is less than a minute: samples are removed before most clients can read them");
    }
}

void warn_of_windows(const Settings& settings, std::vector<SettingsProblem>& warnings) {
    for (const DeviceSettings& device : settings.devices) {
        const auto interval = device_options(settings, device).interval;
        for (const ChannelSettings* const channel : channels_of(settings, device.name)) {
            const auto window = std::chrono::duration_cast<std::chrono::milliseconds>(processing_of(*channel).window);
            if (window.count() > 0 && window < interval) {
                SectionProblems("channel", *channel, warnings)
                    .add("window_ms", std::to_string(window.count()) +
                                          " ms is less than the interval of the device: most windows contain at most "
                                          "one reading");
            }
        }
    }
}

/// Returns whether a host means all addresses of this machine, in any notation.
bool means_all_addresses(const std::string& host) {
    in6_addr address{};  // large enough for either family
    if (host != "*" && ::inet_pton(AF_INET, host.c_str(), &address) != 1 &&
        ::inet_pton(AF_INET6, host.c_str(), &address) != 1) {
        return false;
    }
    return std::ranges::all_of(address.s6_addr, [](std::uint8_t byte) { return byte == 0; });
}

template <class Section>
void warn_of_open_endpoints(std::string_view name, const std::vector<Section>& sections,
                            std::vector<SettingsProblem>& warnings) {
    for (const Section& section : sections) {
        const auto parsed = parse_endpoint(section.endpoint);
        const auto* const endpoint = std::get_if<Endpoint>(&parsed);
        const bool is_open = endpoint != nullptr && endpoint->path.empty() && means_all_addresses(endpoint->host);
        if (is_open && section.curve_secret_key_file.empty()) {
            SectionProblems(name, section, warnings)
                .add("endpoint",
                     "every machine that reaches an address of this one can read the samples, and nothing is "
                     "encrypted: set curve_secret_key_file, or listen on one address");
        }
    }
}

/// Returns whether the setting names a file with a secret: certificates are public.
bool names_secret(const SettingRow& row) {
    const auto* const rule = std::get_if<TextRule>(&row.rule);
    return rule != nullptr && rule->allowed == rules::credential.allowed && !row.key.ends_with("certificate") &&
           !row.key.ends_with("_ca");
}

void warn_of_open_secrets(const Settings& settings, std::vector<SettingsProblem>& warnings) {
    Settings copy = settings;  // walk() could change it
    walk(copy, [&](const SettingSpot& spot) {
        const std::string path = names_secret(spot.row) ? value_text(spot.row, spot.owner) : "";
        struct stat facts {};
        if (!path.empty() && !is_credential(path) && ::stat(path.c_str(), &facts) == 0 &&
            (facts.st_mode & S_IRWXO) != 0) {
            warnings.push_back({.place = spot.place().value_or(SettingsPlace{}),
                                .key = std::string(spot.row.key),
                                .what = path + " is accessible to all users: remove their access with chmod o="});
        }
    });
}

}  // namespace

std::vector<SettingsProblem> setting_warnings(const Settings& settings) {
    std::vector<SettingsProblem> warnings;
    warn_of_age(settings, warnings);
    warn_of_windows(settings, warnings);
    warn_of_open_endpoints("publish", settings.publish, warnings);
    warn_of_open_endpoints("services", settings.services, warnings);
    warn_of_open_secrets(settings, warnings);
    return warnings;
}

}  // namespace telegate
