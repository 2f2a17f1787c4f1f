#include "device/common_settings.hpp"

#include "config/setting_rules.hpp"

#include <array>
#include <optional>

namespace telegate {
namespace common_settings {

using S = ProcessingSettings;
using P = ChannelProcessing;

using D = DeviceOptions;

constexpr auto alignments =
    enum_names<Alignment>({{"start", Alignment::start}, {"wall", Alignment::wall}, {"spread", Alignment::spread}});
constexpr auto out_of_range =
    enum_names<OutOfRange>({{"uncertain", OutOfRange::uncertain}, {"drop", OutOfRange::drop}});
constexpr auto derive =
    enum_names<Derive>({{"none", Derive::none}, {"rate", Derive::rate}, {"counter_rate", Derive::counter_rate}});
constexpr auto window_align = enum_names<std::optional<WindowAlign>>(
    {{"auto", std::nullopt}, {"wall", WindowAlign::wall}, {"monotonic", WindowAlign::monotonic}});
constexpr auto aggregates = enum_names<Aggregate>({{"min", Aggregate::min},
                                                   {"max", Aggregate::max},
                                                   {"mean", Aggregate::mean},
                                                   {"last", Aggregate::last},
                                                   {"count", Aggregate::count}});

// The minimum leaves a thread enough time to wake up and read without running all the time.
constexpr WholeRule interval_us{.min = 10, .max = 3'600'000'000};
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
constexpr TextListRule tags{.holds = Holds::plain,
                            .allowed = "NAME=VALUE, a name as in [tags] and a text of 1 to 128 bytes",
                            .bytes_max = 193,
                            .count_max = 16};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "driver", .rule = ChoiceRule{}, .applies = Applies::live,
               .required = true,
               .meaning = "Driver that reads the device. Each driver has its own keys.",
               .slot = slot_of<&DeviceSettings::driver>},
    SettingRow{.section = "device", .key = "interval_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live,
               .unset = "sampling_interval_ms", .meaning = "Time between two readings of this device.",
               .slot = slot_of<&DeviceSettings::interval_ms>},
    SettingRow{.section = "device", .key = "interval_us", .rule = interval_us, .unit = "us",
               .applies = Applies::live, .excludes = "interval_ms", .unset = "interval_ms",
               .meaning = "The same as interval_ms, in microseconds. Only one of the two can be set.",
               .slot = slot_of<&DeviceSettings::interval_us>},
    SettingRow{.section = "device", .key = "align", .rule = ChoiceRule{alignments.names}, .applies = Applies::live,
               .meaning = "When readings are due: counted from the start (start), at whole multiples of the interval "
                          "by the wall clock (wall), or spread over the interval so that devices with the same "
                          "interval are not read at the same time (spread).",
               .slot = choice_of<alignments, &D::alignment>},
    SettingRow{.section = "device", .key = "offset_ms", .rule = WholeRule{.min = 0, .max = 3'600'000}, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Shifts the times at which readings are due. Must be less than the interval.",
               .slot = slot_of<&D::offset>},
    SettingRow{.section = "device", .key = "errors_before_safe", .rule = WholeRule{.min = 0, .max = 1'000'000},
               .unit = "readings", .applies = Applies::live,
               .unset = "10, or 0 for a driver with its own thread",
               .meaning = "Consecutive failed readings after which the device enters the safe state. 0 means never.",
               .slot = slot_of<&D::errors_before_safe>},
    SettingRow{.section = "device", .key = "breaker_failures", .rule = WholeRule{.min = 0, .max = 1'000},
               .unit = "readings", .applies = Applies::live,
               .meaning = "Consecutive failed readings after which the circuit breaker opens: a device with its own "
                          "thread is not read for a while. 0 means never.",
               .slot = slot_of<&D::breaker, &BreakerOptions::failures>},
    SettingRow{.section = "device", .key = "breaker_wait_ms", .rule = WholeRule{.min = 10, .max = 3'600'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "How long the circuit breaker first stays open. The time doubles after each further failure.",
               .slot = slot_of<&D::breaker, &BreakerOptions::wait>},
    SettingRow{.section = "device", .key = "breaker_wait_max_ms", .rule = WholeRule{.min = 10, .max = 86'400'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "Upper limit of the time that the circuit breaker stays open. At least breaker_wait_ms.",
               .slot = slot_of<&D::breaker, &BreakerOptions::wait_max>},
    SettingRow{.section = "device", .key = "autostart", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether the device starts measuring when the gateway starts.", .slot = slot_of<&D::started>},
    SettingRow{.section = "device", .key = "tags", .rule = tags, .applies = Applies::live,
               .meaning = "Tags of all channels of the device, in addition to those of the gateway, such as line=3, "
                          "shift=a. A tag of the gateway with the same name is replaced.",
               .slot = slot_of<&DeviceSettings::tags>},

    SettingRow{.section = "channel", .key = "unit", .rule = unit, .applies = Applies::live,
               .meaning = "Unit of the values, such as Cel or kPa. If not set, the driver's unit.",
               .slot = slot_of<&S::how, &P::unit>},
    SettingRow{.section = "channel", .key = "scale", .rule = value, .applies = Applies::live,
               .meaning = "Factor of a linear conversion: the value becomes value * scale + offset. The result is a "
                          "real number unless it equals the original value. Must not be 0.",
               .slot = slot_of<&S::how, &P::scale>},
    SettingRow{.section = "channel", .key = "offset", .rule = value, .applies = Applies::live,
               .meaning = "Number that is added after scaling; see scale.", .slot = slot_of<&S::how, &P::offset>},
    SettingRow{.section = "channel", .key = "valid_min", .rule = value, .applies = Applies::live, .unset = "none",
               .meaning = "Smallest valid value, after scaling.", .slot = slot_of<&S::how, &P::valid_min>},
    SettingRow{.section = "channel", .key = "valid_max", .rule = value, .applies = Applies::live, .unset = "none",
               .meaning = "Largest valid value, after scaling.",
               .slot = slot_of<&S::how, &P::valid_max>},
    SettingRow{.section = "channel", .key = "out_of_range", .rule = ChoiceRule{out_of_range.names},
               .applies = Applies::live,
               .meaning = "Treatment of a value outside valid_min to valid_max: it is sent with quality uncertain, "
                          "or filtered.",
               .slot = choice_of<out_of_range, &S::how, &P::out_of_range>},
    SettingRow{.section = "channel", .key = "deadband", .rule = distance, .applies = Applies::live,
               .meaning = "A value is only sent if it differs from the last sent one by more than this; otherwise it "
                          "is filtered. 0 means none.",
               .slot = slot_of<&S::how, &P::deadband>},
    SettingRow{.section = "channel", .key = "deadband_percent", .rule = percent, .unit = "%", .applies = Applies::live,
               .meaning = "Like deadband, as a percentage of the last sent value. If both are set, the larger one "
                          "applies. 0 means none.",
               .slot = slot_of<&S::how, &P::deadband_percent>},
    SettingRow{.section = "channel", .key = "send_interval_max_ms", .rule = pause_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Maximum time between two sent values: after this time the next value is sent even if it is "
                          "within the deadband, and the alarm channel repeats its state. 0 means never.",
               .slot = slot_of<&S::how, &P::send_interval_max>},
    SettingRow{.section = "channel", .key = "send_interval_min_ms", .rule = pause_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Minimum time between two sent values; values in between are filtered. 0 means no limit.",
               .slot = slot_of<&S::how, &P::send_interval_min>},
    SettingRow{.section = "channel", .key = "derive", .rule = ChoiceRule{derive.names}, .applies = Applies::live,
               .meaning = "Quantity sent instead of the value: its change per second (rate), or that of a counter that "
                          "may wrap at 32 bits or restart (counter_rate).",
               .slot = choice_of<derive, &S::how, &P::derive>},
    SettingRow{.section = "channel", .key = "window_ms", .rule = pause_ms, .unit = "ms", .applies = Applies::live,
               .meaning = "Length of the windows whose aggregates are sent instead of the values. 0 means none.",
               .slot = slot_of<&S::how, &P::window>},
    SettingRow{.section = "channel", .key = "window_align", .rule = ChoiceRule{window_align.names},
               .applies = Applies::live,
               .meaning = "Clock that aligns windows to whole multiples of their length. auto means wall for windows "
                          "of whole seconds, otherwise monotonic.",
               .slot = choice_of<window_align, &S::window_align>},
    SettingRow{.section = "channel", .key = "aggregates", .rule = ListRule{aggregates.names}, .applies = Applies::live,
               .meaning = "Aggregates to send for each window, each on a channel such as NAME.min.",
               .slot = choice_of<aggregates, &S::how, &P::aggregates>},
    SettingRow{.section = "channel", .key = "window_raw", .rule = BooleanRule{}, .applies = Applies::live,
               .meaning = "Whether values are sent in addition to the aggregates of their windows.",
               .slot = slot_of<&S::how, &P::window_raw>},
    SettingRow{.section = "channel", .key = "alarm_high", .rule = value, .applies = Applies::live, .unset = "none",
               .meaning = "A higher value sets the channel NAME.alarm to high.",
               .slot = slot_of<&S::how, &P::alarm_high>},
    SettingRow{.section = "channel", .key = "alarm_low", .rule = value, .applies = Applies::live, .unset = "none",
               .meaning = "A lower value sets the channel NAME.alarm to low.",
               .slot = slot_of<&S::how, &P::alarm_low>},
    SettingRow{.section = "channel", .key = "alarm_hysteresis", .rule = distance, .applies = Applies::live,
               .meaning = "How far inside the limit a value must be before the alarm ends.",
               .slot = slot_of<&S::how, &P::alarm_hysteresis>},
    SettingRow{.section = "channel", .key = "alarm_delay_ms", .rule = pause_ms, .unit = "ms", .applies = Applies::live,
               .meaning = "How long values must exceed a limit before the alarm starts.",
               .slot = slot_of<&S::how, &P::alarm_delay>},
    SettingRow{.section = "channel", .key = "alarm_clear_delay_ms", .rule = pause_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "How long values must be within the limit before the alarm ends.",
               .slot = slot_of<&S::how, &P::alarm_clear_delay>},
    SettingRow{.section = "channel", .key = "decimals", .rule = WholeRule{.min = 0, .max = 12},
               .applies = Applies::live, .unset = "values are not rounded",
               .meaning = "Number of decimals to which a real number is rounded before it is sent. Halves are rounded "
                          "away from zero.",
               .slot = slot_of<&S::how, &P::decimals>},
    SettingRow{.section = "channel", .key = "texts", .rule = texts, .applies = Applies::live,
               .meaning = "Texts that are sent instead of numbers, such as 0:off, 1:on. A number without a text is "
                          "sent as a number, with quality uncertain.",
               .slot = slot_of<&S::texts>},
    SettingRow{.section = "channel", .key = "tags", .rule = tags, .applies = Applies::live,
               .meaning = "Tags of the channel, in addition to those of the gateway and of the device. A tag of these "
                          "with the same name is replaced. The aggregates and the alarm of the channel have them too.",
               .slot = slot_of<&ChannelSettings::tags>},
};
// clang-format on

}  // namespace common_settings

std::span<const SettingRow> common_rows() noexcept {
    return common_settings::rows;
}

}  // namespace telegate
