#include "rows.hpp"
#include "setting_slots.hpp"

#include <array>
#include <string_view>

namespace telegate {
namespace processing_section {

using C = ChannelSettings;
using P = ProcessingSettings;

constexpr std::array<std::string_view, 2> out_of_range{"uncertain", "drop"};
constexpr std::array<std::string_view, 3> derive{"none", "rate", "counter_rate"};
constexpr std::array<std::string_view, 3> window_align{"auto", "wall", "monotonic"};
constexpr std::array<std::string_view, 5> aggregates{"min", "max", "mean", "last", "count"};

// Wide enough for raw values of 64 bits, and far from where sums of them are no numbers any more.
constexpr double value_max = 1e20;
constexpr RealRule value{.min = -value_max, .max = value_max};
constexpr RealRule distance{.min = 0.0, .max = value_max};
constexpr RealRule percent{.min = 0.0, .max = 100.0};
constexpr WholeRule pause_ms{.min = 0, .max = 86'400'000};
constexpr TextListRule texts{
    .allowed = "VALUE:TEXT, a whole number and a text of 1 to 32 bytes", .bytes_max = 64, .count_max = 256};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "channel", .key = "scale", .rule = value, .applies = Applies::live,
               .meaning = "What goes on is value * scale + offset, as a real number unless that is the value; not 0.",
               .slot = slot<&C::processing, &P::scale>},
    SettingRow{.section = "channel", .key = "offset", .rule = value, .applies = Applies::live,
               .meaning = "What is added to the scaled value, see scale.", .slot = slot<&C::processing, &P::offset>},
    SettingRow{.section = "channel", .key = "valid_min", .rule = value, .applies = Applies::live, .unset = "none",
               .meaning = "The least value that is in range, once scaled.", .slot = slot<&C::processing, &P::valid_min>},
    SettingRow{.section = "channel", .key = "valid_max", .rule = value, .applies = Applies::live, .unset = "none",
               .meaning = "The greatest value that is in range, once scaled.",
               .slot = slot<&C::processing, &P::valid_max>},
    SettingRow{.section = "channel", .key = "out_of_range", .rule = ChoiceRule{out_of_range}, .applies = Applies::live,
               .meaning = "What becomes of a value out of range: its quality is uncertain, or it is filtered.",
               .slot = slot<&C::processing, &P::out_of_range>},
    SettingRow{.section = "channel", .key = "deadband", .rule = distance, .applies = Applies::live,
               .meaning = "A value is filtered unless it differs by more from the last one sent; 0 means none.",
               .slot = slot<&C::processing, &P::deadband>},
    SettingRow{.section = "channel", .key = "deadband_percent", .rule = percent, .unit = "%", .applies = Applies::live,
               .meaning = "The same as a share of the last value sent; of the two the larger holds; 0 means none.",
               .slot = slot<&C::processing, &P::deadband_percent>},
    SettingRow{.section = "channel", .key = "silence_max_ms", .rule = pause_ms, .unit = "ms", .applies = Applies::live,
               .meaning = "After so long the next value goes out though the deadband would hold it back, and an alarm "
                          "tells its state again; 0 means never.",
               .slot = slot<&C::processing, &P::silence_max_ms>},
    SettingRow{.section = "channel", .key = "send_interval_min_ms", .rule = pause_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "At most one value goes out in so long, others are filtered; 0 means no limit.",
               .slot = slot<&C::processing, &P::send_interval_min_ms>},
    SettingRow{.section = "channel", .key = "derive", .rule = ChoiceRule{derive}, .applies = Applies::live,
               .meaning = "What goes on in place of the value: its change per second, or that of a counter, which may "
                          "run over at 32 bits or begin anew.",
               .slot = slot<&C::processing, &P::derive>},
    SettingRow{.section = "channel", .key = "window_ms", .rule = pause_ms, .unit = "ms", .applies = Applies::live,
               .meaning = "Length of the windows whose aggregates go out in place of the values; 0 means none.",
               .slot = slot<&C::processing, &P::window_ms>},
    SettingRow{.section = "channel", .key = "window_align", .rule = ChoiceRule{window_align}, .applies = Applies::live,
               .meaning = "The clock on which windows begin at whole multiples of their length; auto is wall for windows "
                          "of whole seconds, else monotonic.",
               .slot = slot<&C::processing, &P::window_align>},
    SettingRow{.section = "channel", .key = "aggregates", .rule = ListRule{aggregates}, .applies = Applies::live,
               .meaning = "What is told of each window, each a channel NAME.min and so on.",
               .slot = slot<&C::processing, &P::aggregates>},
    SettingRow{.section = "channel", .key = "window_raw", .rule = BooleanRule{}, .applies = Applies::live,
               .meaning = "Whether the values go out beside the aggregates of their windows.",
               .slot = slot<&C::processing, &P::window_raw>},
    SettingRow{.section = "channel", .key = "alarm_high", .rule = value, .applies = Applies::live, .unset = "none",
               .meaning = "A value above it makes the channel NAME.alarm say high.",
               .slot = slot<&C::processing, &P::alarm_high>},
    SettingRow{.section = "channel", .key = "alarm_low", .rule = value, .applies = Applies::live, .unset = "none",
               .meaning = "A value below it makes the channel NAME.alarm say low.",
               .slot = slot<&C::processing, &P::alarm_low>},
    SettingRow{.section = "channel", .key = "alarm_hysteresis", .rule = distance, .applies = Applies::live,
               .meaning = "How far back within the limit a value must be for the alarm to end.",
               .slot = slot<&C::processing, &P::alarm_hysteresis>},
    SettingRow{.section = "channel", .key = "alarm_delay_ms", .rule = pause_ms, .unit = "ms", .applies = Applies::live,
               .meaning = "How long values must be beyond a limit before the alarm says so.",
               .slot = slot<&C::processing, &P::alarm_delay_ms>},
    SettingRow{.section = "channel", .key = "alarm_clear_delay_ms", .rule = pause_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "How long they must be back before the alarm ends.",
               .slot = slot<&C::processing, &P::alarm_clear_delay_ms>},
    SettingRow{.section = "channel", .key = "decimals", .rule = WholeRule{.min = 0, .max = 12},
               .applies = Applies::live, .unset = "values are not rounded",
               .meaning = "Decimals to which a real number is rounded before it is sent, half away from zero.",
               .slot = slot<&C::processing, &P::decimals>},
    SettingRow{.section = "channel", .key = "texts", .rule = texts, .applies = Applies::live,
               .meaning = "Texts that are sent in place of numbers, such as 0:off, 1:on; a number without a text is "
                          "sent as it is, with quality uncertain.",
               .slot = slot<&C::processing, &P::texts>},
};
// clang-format on

}  // namespace processing_section

std::span<const SettingRow> processing_rows() noexcept {
    return processing_section::rows;
}

}  // namespace telegate
