#include "plan/recorder_plan.hpp"

#include "device/driver_row.hpp"
#include "plan/address_claims.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace telegate {
namespace {

constexpr std::int64_t recording_bytes_least = 1'048'576;

/// A log that is written, and its setting.
struct WrittenLog {
    std::string path;
    std::string setting;
};

void check_replays(const Settings& settings, const std::vector<WrittenLog>& written,
                   std::vector<SettingsProblem>& problems) {
    for (const DeviceSettings& device : settings.devices) {
        const std::string recording = recording_of(device);
        const auto claim = std::find_if(written.begin(), written.end(), [&](const WrittenLog& each) {
            return !recording.empty() && file_identity(each.path) == file_identity(recording);
        });
        if (claim != written.end()) {
            const auto given = device.places.find("file");
            problems.push_back({given == device.places.end() ? device.place : given->second, "file",
                                '"' + recording + "\" is written by " + claim->setting +
                                    ", so its replay would never end: must be another recording",
                                "device." + device.name + ".file"});
        }
    }
}

}  // namespace

std::vector<DurableLogOptions> plan_recorders(const Settings& settings, std::vector<SettingsProblem>& problems) {
    std::vector<WrittenLog> written{{settings.log.path, "log.path"}};
    std::vector<DurableLogOptions> recorders;
    const auto add = [&](const std::string& path, const std::string& device, std::string setting) {
        if (!path.empty()) {
            DurableLogOptions options;
            options.path = path;
            options.limits.bytes_max = static_cast<std::uint64_t>(settings.record.bytes_max);
            options.kind = LogKind::recording;
            options.device = device;
            recorders.push_back(std::move(options));
            written.push_back({path, std::move(setting)});
        }
    };
    add(settings.record.path, "", "gateway.record");
    for (const DeviceSettings& device : settings.devices) {
        add(device.record, device.name, "device." + device.name + ".record");
    }
    check_replays(settings, written, problems);
    if (const std::int64_t bytes = settings.record.bytes_max; bytes > 0 && bytes < recording_bytes_least) {
        problems.push_back({{},
                            "record_bytes_max",
                            '"' + std::to_string(bytes) + "\" is too small: must be 0, or " +
                                std::to_string(recording_bytes_least) + " or more",
                            "gateway.record_bytes_max"});
    }
    return recorders;
}

}  // namespace telegate
