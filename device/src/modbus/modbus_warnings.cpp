#include "modbus/frames.hpp"
#include "modbus/modbus_settings.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace telegate {
namespace {

/// The numbers of a table's registers in manuals: address 0 has the number `first`.
struct ManualNumbers {
    ModbusTable table;
    int first;
    std::string_view words;
};
constexpr std::array manual_numbers{ManualNumbers{ModbusTable::discrete, 10'001, "discrete input"},
                                    ManualNumbers{ModbusTable::input, 30'001, "input register"},
                                    ManualNumbers{ModbusTable::holding, 40'001, "holding register"}};
constexpr int manual_numbers_count = 9'999;
constexpr std::size_t overlaps_reported_max = 20;

const ModbusChannelSettings& settings_of(const ChannelSettings& channel) {
    return part_of<ModbusChannelSettings>(channel.parts);
}

struct Registers {
    const ChannelSettings* channel;
    int unit;
    std::string_view table;
    int begin;
    int end;
};

std::string range_text(const Registers& registers) {
    const bool is_one = registers.end - registers.begin == 1;
    return std::to_string(registers.begin) + (is_one ? "" : '-' + std::to_string(registers.end - 1));
}

/// `count` is the number of channels with such an address.
std::string manual_text(const ManualNumbers& numbers, int address, std::size_t count) {
    const std::string given = std::to_string(address);
    std::string text = given + " is sent as the protocol address; in a manual, ";
    text.append(given).append(" is ").append(numbers.words).append(" ");
    text += std::to_string(address - numbers.first);
    return count == 1 ? text : text + " (channels with such an address: " + std::to_string(count) + ')';
}

std::string overlap_text(const Registers& each, const Registers& before) {
    std::string text(each.table);
    text.append(" ").append(range_text(each)).append(" overlaps with ").append(range_text(before));
    return text.append(" of channel \"").append(before.channel->name).append("\"");
}

void add_warning(const ChannelSettings& channel, std::string what, std::vector<SettingsProblem>& warnings) {
    SectionProblems("channel", channel, warnings).add("address", std::move(what));
}

/// Adds one warning for each table, at its first such channel: manuals' numbers are usually used for all channels of a
/// table.
void add_manual_numbers(DeviceChannels channels, std::vector<SettingsProblem>& warnings) {
    for (const ManualNumbers& numbers : manual_numbers) {
        const auto is_one = [&](const ChannelSettings* channel) {
            const int address = settings_of(*channel).address.value_or(0);
            return settings_of(*channel).channel.table == numbers.table && address >= numbers.first &&
                   address < numbers.first + manual_numbers_count;
        };
        const auto first = std::find_if(channels.begin(), channels.end(), is_one);
        if (first == channels.end()) {
            continue;
        }
        const auto count = static_cast<std::size_t>(std::count_if(first, channels.end(), is_one));
        add_warning(**first, manual_text(numbers, *settings_of(**first).address, count), warnings);
    }
}

std::vector<Registers> registers_of(const DeviceSettings& device, DeviceChannels channels) {
    const int unit_id = part_of<ModbusSettings>(device.parts).options.unit_id;
    std::vector<Registers> all;
    for (const ChannelSettings* const channel : channels) {
        const auto& [from, address] = settings_of(*channel);
        if (address && !modbus::has_bits(from.table) && !from.bit) {
            const auto count = static_cast<int>(modbus::registers_of(from.type.value_or(ModbusType::uint16)));
            all.push_back(
                {channel, from.unit_id.value_or(unit_id), modbus_tables.name(from.table), *address, *address + count});
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Registers& a, const Registers& b) {
        return std::tie(a.unit, a.table, a.begin) < std::tie(b.unit, b.table, b.begin);
    });
    return all;
}

/// Compares each channel with the earlier one that extends the farthest.
void add_overlaps(const std::vector<Registers>& all, std::vector<SettingsProblem>& warnings) {
    std::size_t count = 0;
    const Registers* reach = nullptr;
    for (const Registers& each : all) {
        const bool is_same_table = reach != nullptr && each.unit == reach->unit && each.table == reach->table;
        if (is_same_table && each.begin < reach->end) {
            // intentionally read as two types
            const bool is_same = each.begin == reach->begin && each.end == reach->end;
            if (!is_same && ++count <= overlaps_reported_max) {
                add_warning(*each.channel, overlap_text(each, *reach), warnings);
            }
        }
        reach = is_same_table && reach->end >= each.end ? reach : &each;
    }
}

}  // namespace

void add_modbus_warnings(const DeviceSettings& device, DeviceChannels channels,
                         std::vector<SettingsProblem>& warnings) {
    add_manual_numbers(channels, warnings);
    add_overlaps(registers_of(device, channels), warnings);
}

}  // namespace telegate
