#include "core/text.hpp"
#include "plan/plan_sections.hpp"

#include "config/quantity.hpp"
#include "config/section_problems.hpp"
#include "config/text_parts.hpp"
#include "device/common_settings.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

/// The ending of the names of alarm channels.
constexpr std::string_view alarm_ending = ".alarm";

std::string quoted(double value) {
    return '"' + number_text(value) + '"';
}

/// Returns nullopt if the word is not VALUE:TEXT.
std::optional<ValueText> to_value_text(std::string_view word) {
    const std::size_t colon = std::min(word.find(':'), word.size() - 1);
    const auto number = parse_number<std::int64_t>(trimmed(word.substr(0, word.find(':')), " "));
    const std::string_view text = trimmed(word.substr(colon + 1), " ");
    const bool is_text = !text.empty() && text.size() <= TelemetrySample::text_bytes_max;
    return number && is_text ? std::optional(ValueText{.value = *number, .text = std::string(text)}) : std::nullopt;
}

/// Returns the texts in ascending order, without invalid words.
std::vector<ValueText> to_texts(const std::vector<std::string>& words) {
    std::vector<ValueText> texts;
    for (const std::string& word : words) {
        if (auto text = to_value_text(word)) {
            texts.push_back(std::move(*text));
        }
    }
    std::stable_sort(texts.begin(), texts.end(),
                     [](const ValueText& a, const ValueText& b) { return a.value < b.value; });
    return texts;
}

ChannelProcessing to_processing(const ChannelSettings& channel) {
    const auto& from = part_of<ProcessingSettings>(channel.parts);
    ChannelProcessing how = from.how;
    how.window_align = from.window_align.value_or(
        how.window % std::chrono::seconds(1) == Duration(0) ? WindowAlign::wall : WindowAlign::monotonic);
    std::sort(how.aggregates.begin(), how.aggregates.end());
    how.texts = to_texts(from.texts);
    return how;
}

void check_values(const ChannelProcessing& from, SectionProblems& problems) {
    if (from.scale == 0.0) {
        problems.add("scale", "\"0\" would make all values equal: must not be 0");
    }
    if (from.valid_min && from.valid_max && *from.valid_min >= *from.valid_max) {
        problems.add("valid_min", quoted(*from.valid_min) + " is too large: must be less than valid_max, which is " +
                                      number_text(*from.valid_max));
    }
    if (from.out_of_range == OutOfRange::drop && !from.valid_min && !from.valid_max) {
        problems.add("out_of_range", "\"drop\" requires a range: set valid_min or valid_max");
    }
}

void check_sending(const ChannelProcessing& from, SectionProblems& problems) {
    const bool has_deadband = from.deadband > 0.0 || from.deadband_percent > 0.0;
    if (from.send_interval_max > Duration(0) && !has_deadband && !from.alarm_high && !from.alarm_low) {
        problems.add("send_interval_max_ms",
                     "has no effect without suppressed values: set deadband, deadband_percent, alarm_high or "
                     "alarm_low");
    }
    if (from.send_interval_max > Duration(0) && from.send_interval_max < from.send_interval_min) {
        problems.add("send_interval_max_ms", '"' + ms_text(from.send_interval_max) +
                                                 "\" is too small: must be at least send_interval_min_ms, which is " +
                                                 ms_text(from.send_interval_min));
    }
    if (from.window_raw && !from.has_window()) {
        problems.add("window_raw", "requires a window: set window_ms");
    }
}

void check_alarm(const ChannelProcessing& from, SectionProblems& problems) {
    if (!from.alarm_high && !from.alarm_low) {
        for (const auto& [key, is_set] :
             {std::pair<std::string_view, bool>{"alarm_hysteresis", from.alarm_hysteresis > 0},
              {"alarm_delay_ms", from.alarm_delay > Duration(0)},
              {"alarm_clear_delay_ms", from.alarm_clear_delay > Duration(0)}}) {
            if (is_set) {
                problems.add(key, "requires an alarm: set alarm_high or alarm_low");
            }
        }
        return;
    }
    if (!from.alarm_high || !from.alarm_low) {
        return;
    }
    if (*from.alarm_low >= *from.alarm_high) {
        problems.add("alarm_low", quoted(*from.alarm_low) + " is too large: must be less than alarm_high, which is " +
                                      number_text(*from.alarm_high));
    } else if (from.alarm_hysteresis > *from.alarm_high - *from.alarm_low) {
        problems.add("alarm_hysteresis",
                     quoted(from.alarm_hysteresis) +
                         " is too large: must be at most the difference between alarm_low and alarm_high, " +
                         number_text(*from.alarm_high - *from.alarm_low));
    }
}

void check_texts(const std::vector<std::string>& words, const ChannelProcessing& how, SectionProblems& problems) {
    for (const std::string& word : words) {
        if (!to_value_text(word)) {
            problems.add("texts",
                         '"' + word +
                             "\" is not a value with a text: must be VALUE:TEXT, a whole number and a text of 1 to " +
                             std::to_string(TelemetrySample::text_bytes_max) + " bytes, such as 0:off");
        }
    }
    const auto same = std::adjacent_find(how.texts.begin(), how.texts.end(),
                                         [](const ValueText& a, const ValueText& b) { return a.value == b.value; });
    if (same != how.texts.end()) {
        problems.add("texts", '"' + std::to_string(same->value) + "\" has more than one text: must have one");
    }
    if (how.texts.empty()) {
        return;
    }
    if (how.derive != Derive::none) {
        problems.add("texts", "cannot be used with derive, which sends rates");
    }
    if (how.has_window() && !how.window_raw) {
        problems.add("texts",
                     "cannot be used with window_ms, whose aggregates are numbers: remove window_ms or set "
                     "window_raw");
    }
}

void check(const ChannelSettings& channel, const ChannelProcessing& how, std::vector<SettingsProblem>& problems) {
    SectionProblems found("channel", channel, problems);
    check_values(how, found);
    check_sending(how, found);
    check_alarm(how, found);
    check_texts(part_of<ProcessingSettings>(channel.parts).texts, how, found);
    if (channel.channel().size() > processed_name_bytes_max && (how.has_window() || how.has_alarm())) {
        found.add(how.has_window() ? "window_ms"
                  : how.alarm_high ? "alarm_high"
                                   : "alarm_low",
                  "the channel name is too long for the channels derived from it, such as NAME" +
                      std::string(alarm_ending) + ": must be at most " + std::to_string(processed_name_bytes_max) +
                      " bytes");
    }
}

}  // namespace

ProcessingPlan plan_processing(DeviceChannels channels, std::vector<SettingsProblem>& problems) {
    ProcessingPlan plan;
    for (const ChannelSettings* const channel : channels) {
        ChannelProcessing how = to_processing(*channel);
        check(*channel, how, problems);
        if (how.has_stages() || !how.unit.empty()) {
            plan.channels.insert_or_assign(std::string(channel->channel()), std::move(how));
        }
    }
    return plan;
}

}  // namespace telegate
