#include "modbus_advice.hpp"

#include "section_problems.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace telegate {
namespace {

/// How manuals number the registers of a table: from `first` on, in place of address 0.
struct ManualNumbers {
    std::string_view table;
    std::int64_t first;
    std::string_view words;
};
constexpr std::array manual_numbers{ManualNumbers{"discrete", 10'001, "discrete input"},
                                    ManualNumbers{"input", 30'001, "input register"},
                                    ManualNumbers{"holding", 40'001, "holding register"}};
constexpr std::int64_t manual_numbers_count = 9'999;

struct Registers {
    const ChannelSettings* channel;
    std::int64_t unit;
    std::string_view table;
    std::int64_t begin;
    std::int64_t end;
};

std::int64_t register_count(std::string_view type) noexcept {
    return type.ends_with("64") ? 4 : type.ends_with("32") ? 2 : 1;
}

std::string range_text(const Registers& registers) {
    const bool is_one = registers.end - registers.begin == 1;
    return std::to_string(registers.begin) + (is_one ? "" : '-' + std::to_string(registers.end - 1));
}

void add_warning(const ChannelSettings& channel, std::string what, std::vector<SettingsProblem>& warnings) {
    SectionProblems("channel." + channel.name, channel.places, channel.place, warnings).add("address", std::move(what));
}

/// One warning for each table, at its first channel: who takes the numbers of a manual does so throughout.
void add_manual_numbers(DeviceChannels channels, std::vector<SettingsProblem>& warnings) {
    for (const ManualNumbers& numbers : manual_numbers) {
        const auto is_one = [&](const ChannelSettings* channel) {
            const std::int64_t address = channel->modbus.address.value_or(0);
            return channel->modbus.table == numbers.table && address >= numbers.first &&
                   address < numbers.first + manual_numbers_count;
        };
        const auto first = std::find_if(channels.begin(), channels.end(), is_one);
        if (first == channels.end()) {
            continue;
        }
        const std::string address = std::to_string(*(*first)->modbus.address);
        const auto others = std::count_if(first, channels.end(), is_one) - 1;
        add_warning(**first,
                    address + " goes over the wire as it is; a manual's " + address + " is " +
                        std::string(numbers.words) + ' ' + std::to_string(*(*first)->modbus.address - numbers.first) +
                        (others == 0 ? "" : " (channels with such an address: " + std::to_string(others + 1) + ')'),
                    warnings);
    }
}

std::vector<Registers> registers_of(const DeviceSettings& device, DeviceChannels channels) {
    std::vector<Registers> all;
    for (const ChannelSettings* const channel : channels) {
        const ModbusChannelSettings& from = channel->modbus;
        const bool is_word = from.table == "holding" || from.table == "input";
        if (from.address && is_word && !from.bit) {
            all.push_back({channel, from.unit_id.value_or(device.modbus.unit_id), from.table, *from.address,
                           *from.address + register_count(from.type)});
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Registers& a, const Registers& b) {
        return std::tie(a.unit, a.table, a.begin) < std::tie(b.unit, b.table, b.begin);
    });
    return all;
}

/// Compares each with the one before it that reaches farthest.
void add_overlaps(const std::vector<Registers>& all, std::vector<SettingsProblem>& warnings) {
    std::size_t count = 0;
    const Registers* reach = nullptr;
    for (const Registers& each : all) {
        const bool is_same_table = reach != nullptr && each.unit == reach->unit && each.table == reach->table;
        if (is_same_table && each.begin < reach->end) {
            const bool is_same = each.begin == reach->begin && each.end == reach->end;  // read as two things on purpose
            if (!is_same && ++count <= overlaps_told_max) {
                add_warning(*each.channel,
                            std::string(each.table) + ' ' + range_text(each) + " overlaps with " + range_text(*reach) +
                                " of channel \"" + reach->channel->name + '"',
                            warnings);
            }
        }
        reach = is_same_table && reach->end >= each.end ? reach : &each;
    }
}

}  // namespace

void add_modbus_advice(const DeviceSettings& device, DeviceChannels channels, std::vector<SettingsProblem>& warnings) {
    add_manual_numbers(channels, warnings);
    add_overlaps(registers_of(device, channels), warnings);
}

}  // namespace telegate
