#include "plan/recorder_plan.hpp"

#include "device/driver_row.hpp"
#include "plan/address_claims.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

/// A recorder and the place of its setting.
struct RecorderClaim {
    RecorderOptions options;
    SettingsPlace place;
    std::string setting;
};

SettingsPlace place_of(const DeviceSettings& device, std::string_view key) {
    const auto found = device.places.find(key);
    return found == device.places.end() ? device.place : found->second;
}

std::vector<RecorderClaim> recorder_claims_of(const Settings& settings) {
    std::vector<RecorderClaim> claims;
    RecorderOptions options;
    options.bytes_max = static_cast<std::uint64_t>(settings.record.bytes_max);
    options.files_max = static_cast<std::size_t>(settings.record.files_max);
    if (!settings.record.path.empty()) {
        options.path = settings.record.path;
        claims.push_back({options, {}, "gateway.record"});
    }
    for (const DeviceSettings& device : settings.devices) {
        if (!device.record.empty()) {
            options.path = device.record;
            options.device = device.name;
            claims.push_back({options, place_of(device, "record"), "device." + device.name + ".record"});
        }
    }
    return claims;
}

/// Returns whether `path` may be the name of a rotated file of `recorder`: PATH.1 and so on.
bool is_older_file(const std::string& recorder, const std::string& path) {
    const std::string prefix = recorder + '.';
    return path.size() > prefix.size() && path.starts_with(prefix) &&
           path.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
}

/// Returns what is wrong with a claim compared with the others; "" if nothing is. Equal paths are reported by
/// check_addresses().
std::string fault_of(const RecorderClaim& claim, const std::vector<RecorderClaim>& all) {
    const std::string path = file_identity(claim.options.path);
    for (const RecorderClaim& other : all) {
        const std::string other_path = file_identity(other.options.path);
        if (is_older_file(other_path, path)) {
            return '"' + claim.options.path + "\" is the name of a rotated file of " + other.setting + " (\"" +
                   other.options.path + "\"): must be another file";
        }
    }
    return "";
}

void check_replays(const Settings& settings, const std::vector<RecorderClaim>& claims,
                   std::vector<SettingsProblem>& problems) {
    for (const DeviceSettings& device : settings.devices) {
        const std::string recording = recording_of(device);
        if (recording.empty()) {
            continue;
        }
        const std::string path = file_identity(recording);
        const auto claim = std::find_if(claims.begin(), claims.end(), [&](const RecorderClaim& each) {
            return file_identity(each.options.path) == path;
        });
        if (claim != claims.end()) {
            const SettingsPlace place = place_of(device, "file");
            problems.push_back({place, "file",
                                '"' + recording + "\" is written by " + claim->setting +
                                    ", so its replay would never end: must be another file",
                                "device." + device.name + ".file"});
        }
    }
}

}  // namespace

std::vector<RecorderOptions> plan_recorders(const Settings& settings, std::vector<SettingsProblem>& problems) {
    const std::vector<RecorderClaim> claims = recorder_claims_of(settings);
    std::vector<RecorderOptions> recorders;
    for (const RecorderClaim& claim : claims) {
        if (const std::string fault = fault_of(claim, claims); !fault.empty()) {
            problems.push_back({claim.place, "record", fault, claim.setting});
        }
        recorders.push_back(claim.options);
    }
    check_replays(settings, claims, problems);
    constexpr auto least = static_cast<std::int64_t>(RecorderOptions::bytes_least);
    if (const std::int64_t bytes = settings.record.bytes_max; bytes > 0 && bytes < least) {
        problems.push_back(
            {{},
             "record_bytes_max",
             '"' + std::to_string(bytes) + "\" is too small: must be 0, or " + std::to_string(least) + " or more",
             "gateway.record_bytes_max"});
    }
    return recorders;
}

}  // namespace telegate
