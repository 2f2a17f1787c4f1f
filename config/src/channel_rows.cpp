#include "config/setting_rules.hpp"
#include "rows.hpp"

#include <array>
#include <string_view>

namespace telegate {
namespace channel_section {

using C = ChannelSettings;
using P = ProcessingSettings;

// Longer than any UCUM unit that is known from a device.
constexpr TextRule unit{.holds = Holds::plain,
                        .prefixes = {},
                        .allowed = "a unit of at most 32 bytes, or empty",
                        .bytes_max = 32,
                        .may_be_empty = true};
// Wide enough for raw 64-bit values, and small enough that sums of them stay finite.
constexpr double value_max = 1e20;
constexpr RealRule value{.min = -value_max, .max = value_max};
constexpr RealRule distance{.min = 0.0, .max = value_max};
constexpr RealRule percent{.min = 0.0, .max = 100.0};
constexpr WholeRule pause_ms{.min = 0, .max = 86'400'000};
constexpr TextListRule texts{.holds = Holds::plain,
                             .allowed = "VALUE:TEXT, a whole number and a text of 1 to 32 bytes",
                             .bytes_max = 64,
                             .count_max = 256};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "channel", .key = "unit", .rule = unit, .applies = Applies::live,
               .meaning = "Unit of the values, such as Cel or kPa. If not set, the driver's unit.",
               .slot = slot<&C::unit>},
    SettingRow{.section = "channel", .key = "scale", .rule = value, .applies = Applies::live,
               .meaning = "Factor of a linear conversion: the value becomes value * scale + offset. The result is a "
                          "real number unless it equals the original value. Must not be 0.",
               .slot = slot<&C::processing, &P::scale>},
    SettingRow{.section = "channel", .key = "offset", .rule = value, .applies = Applies::live,
               .meaning = "Number that is added after scaling; see scale.", .slot = slot<&C::processing, &P::offset>},
    SettingRow{.section = "channel", .key = "valid_min", .rule = value, .applies = Applies::live, .unset = "none",
               .meaning = "Smallest valid value, after scaling.", .slot = slot<&C::processing, &P::valid_min>},
    SettingRow{.section = "channel", .key = "valid_max", .rule = value, .applies = Applies::live, .unset = "none",
               .meaning = "Largest valid value, after scaling.",
               .slot = slot<&C::processing, &P::valid_max>},
    SettingRow{.section = "channel", .key = "out_of_range", .rule = ChoiceRule{rules::out_of_range},
               .applies = Applies::live,
               .meaning = "Treatment of a value outside valid_min to valid_max: it is sent with quality uncertain, "
                          "or filtered.",
               .slot = slot<&C::processing, &P::out_of_range>},
    SettingRow{.section = "channel", .key = "deadband", .rule = distance, .applies = Applies::live,
               .meaning = "A value is only sent if it differs from the last sent one by more than this; otherwise it "
                          "is filtered. 0 means none.",
               .slot = slot<&C::processing, &P::deadband>},
    SettingRow{.section = "channel", .key = "deadband_percent", .rule = percent, .unit = "%", .applies = Applies::live,
               .meaning = "Like deadband, as a percentage of the last sent value. If both are set, the larger one "
                          "applies. 0 means none.",
               .slot = slot<&C::processing, &P::deadband_percent>},
    SettingRow{.section = "channel", .key = "send_interval_max_ms", .rule = pause_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Maximum time between two sent values: after this time the next value is sent even if it is "
                          "within the deadband, and the alarm channel repeats its state. 0 means never.",
               .slot = slot<&C::processing, &P::send_interval_max_ms>},
    SettingRow{.section = "channel", .key = "send_interval_min_ms", .rule = pause_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Minimum time between two sent values; values in between are filtered. 0 means no limit.",
               .slot = slot<&C::processing, &P::send_interval_min_ms>},
    SettingRow{.section = "channel", .key = "derive", .rule = ChoiceRule{rules::derive}, .applies = Applies::live,
               .meaning = "Quantity sent instead of the value: its change per second (rate), or that of a counter that "
                          "may wrap at 32 bits or restart (counter_rate).",
               .slot = slot<&C::processing, &P::derive>},
    SettingRow{.section = "channel", .key = "window_ms", .rule = pause_ms, .unit = "ms", .applies = Applies::live,
               .meaning = "Length of the windows whose aggregates are sent instead of the values. 0 means none.",
               .slot = slot<&C::processing, &P::window_ms>},
    SettingRow{.section = "channel", .key = "window_align", .rule = ChoiceRule{rules::window_align},
               .applies = Applies::live,
               .meaning = "Clock that aligns windows to whole multiples of their length. auto means wall for windows "
                          "of whole seconds, otherwise monotonic.",
               .slot = slot<&C::processing, &P::window_align>},
    SettingRow{.section = "channel", .key = "aggregates", .rule = ListRule{rules::aggregates}, .applies = Applies::live,
               .meaning = "Aggregates to send for each window, each on a channel such as NAME.min.",
               .slot = slot<&C::processing, &P::aggregates>},
    SettingRow{.section = "channel", .key = "window_raw", .rule = BooleanRule{}, .applies = Applies::live,
               .meaning = "Whether values are sent in addition to the aggregates of their windows.",
               .slot = slot<&C::processing, &P::window_raw>},
    SettingRow{.section = "channel", .key = "alarm_high", .rule = value, .applies = Applies::live, .unset = "none",
               .meaning = "A higher value sets the channel NAME.alarm to high.",
               .slot = slot<&C::processing, &P::alarm_high>},
    SettingRow{.section = "channel", .key = "alarm_low", .rule = value, .applies = Applies::live, .unset = "none",
               .meaning = "A lower value sets the channel NAME.alarm to low.",
               .slot = slot<&C::processing, &P::alarm_low>},
    SettingRow{.section = "channel", .key = "alarm_hysteresis", .rule = distance, .applies = Applies::live,
               .meaning = "How far inside the limit a value must be before the alarm ends.",
               .slot = slot<&C::processing, &P::alarm_hysteresis>},
    SettingRow{.section = "channel", .key = "alarm_delay_ms", .rule = pause_ms, .unit = "ms", .applies = Applies::live,
               .meaning = "How long values must exceed a limit before the alarm starts.",
               .slot = slot<&C::processing, &P::alarm_delay_ms>},
    SettingRow{.section = "channel", .key = "alarm_clear_delay_ms", .rule = pause_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "How long values must be within the limit before the alarm ends.",
               .slot = slot<&C::processing, &P::alarm_clear_delay_ms>},
    SettingRow{.section = "channel", .key = "decimals", .rule = WholeRule{.min = 0, .max = 12},
               .applies = Applies::live, .unset = "values are not rounded",
               .meaning = "Number of decimals to which a real number is rounded before it is sent. Halves are rounded "
                          "away from zero.",
               .slot = slot<&C::processing, &P::decimals>},
    SettingRow{.section = "channel", .key = "texts", .rule = texts, .applies = Applies::live,
               .meaning = "Texts that are sent instead of numbers, such as 0:off, 1:on. A number without a text is "
                          "sent as a number, with quality uncertain.",
               .slot = slot<&C::processing, &P::texts>},
};
// clang-format on

}  // namespace channel_section

std::span<const SettingRow> channel_rows() noexcept {
    return channel_section::rows;
}

}  // namespace telegate
