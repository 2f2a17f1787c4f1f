#include "config/settings_table.hpp"
#include "device/driver_bench.hpp"
#include "device/driver_row.hpp"
#include "support/catch.hpp"
#include "support/raw_listener.hpp"
#include "support/scratch_dir.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace telegate;

namespace {

/// A file and a server, and whether somebody has opened or connected to them.
class Trap {
  public:
    Trap() { ::inotify_add_watch(watch_, folder_.path().c_str(), IN_OPEN | IN_CREATE); }
    ~Trap() { ::close(watch_); }
    Trap(const Trap&) = delete;
    Trap& operator=(const Trap&) = delete;

    /// Returns values of settings that lead to it.
    [[nodiscard]] std::vector<std::string> values() const {
        const std::string server = "127.0.0.1:" + std::to_string(listener_.endpoint().port);
        return {file_, "a=" + file_, "http://" + server + "/", "tcp://" + server, server, "/usr/bin/touch " + file_};
    }
    [[nodiscard]] bool was_reached() {
        alignas(inotify_event) std::array<char, 4'096> events{};
        bool was_opened = false;
        while (::read(watch_, events.data(), events.size()) > 0) {
            was_opened = true;
        }
        return listener_.accept().has_value() || was_opened;
    }

  private:
    const test::ScratchDir folder_;
    const std::string file_ = folder_.write("trap", "1\n");
    test::RawListener listener_;
    const int watch_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
};

/// Returns settings of a device with which its driver can be created.
DeviceSettings device_with(std::string_view driver) {
    const std::map<std::string_view, std::vector<std::pair<std::string_view, std::string_view>>> required{
        {"exec", {{"command", "/bin/true"}}},   {"http", {{"url", "http://127.0.0.1:1/"}, {"timeout_ms", "100"}}},
        {"iio", {{"device", "none"}}},          {"modbus", {{"endpoint", "tcp://127.0.0.1:1"}, {"timeout_ms", "100"}}},
        {"replay", {{"path", "/nonexistent"}}}, {"serial", {{"port", "/dev/null"}}},
        {"udp", {{"listen", "127.0.0.1:0"}}}};
    DeviceSettings device;
    device.name = "d";
    device.driver = driver;
    if (const auto found = required.find(driver); found != required.end()) {
        for (const auto& [key, value] : found->second) {
            REQUIRE_FALSE(assign(*find_setting("device", key, driver), &device, value));
        }
    }
    return device;
}

/// Returns whether a driver reaches the trap because of this setting.
bool leads_to(Trap& trap, const SettingRow& row) {
    for (const std::string& value : trap.values()) {
        DeviceSettings device = device_with(row.type);
        ChannelSettings channel;
        channel.name = "d/c";
        if (row.type == "modbus") {
            REQUIRE_FALSE(assign(*find_setting("channel", "address", "modbus"), &channel, "0"));
        }
        const SettingOwner owner = row.section == "device" ? SettingOwner(&device) : SettingOwner(&channel);
        if (assign(row, owner, value)) {
            continue;
        }
        const std::vector<const ChannelSettings*> channels{&channel};
        try {
            const bool has_channel = row.section == "channel" || row.type == "modbus";
            test::DriverBench bench(
                find_driver(row.type).make(device, has_channel ? DeviceChannels(channels) : DeviceChannels()));
            (void)bench.read();
            (void)bench.driver().missing_parts();
        } catch (const std::exception&) {  // the value is refused, or there is no such device
        }
        if (trap.was_reached()) {
            return true;
        }
    }
    return false;
}

}  // namespace

TEST_CASE("no driver opens a file or a connection because of a setting that REST can change", "[device][drivers]") {
    Trap trap;
    for (const SettingRow& row : settings_table()) {
        const bool is_free = !std::holds_alternative<BooleanRule>(row.rule) &&
                             !std::holds_alternative<WholeRule>(row.rule) &&
                             !std::holds_alternative<RealRule>(row.rule);
        if (!row.type.empty() && row.applies == Applies::live && is_free) {
            CAPTURE(row.section, row.type, row.key);
            CHECK_FALSE(leads_to(trap, row));
        }
    }
}

TEST_CASE("the test of the settings notices a driver that opens a file, connects or runs a program",
          "[device][drivers]") {
    Trap trap;
    const auto [driver, key] = GENERATE(table<std::string, std::string>(
        {{"exec", "command"}, {"host", "files"}, {"http", "url"}, {"modbus", "endpoint"}, {"serial", "port"}}));
    CAPTURE(driver, key);
    const SettingRow* const row = find_setting("device", key, driver);
    if (row != nullptr) {  // a build may lack a driver
        CHECK(leads_to(trap, *row));
        CHECK(row->applies != Applies::live);
    }
}
