#include "config/hidden_secrets.hpp"
#include "config/listen_address.hpp"
#include "config/nearest_name.hpp"
#include "config/quantity.hpp"
#include "config/setting_row.hpp"
#include "config/text_parts.hpp"
#include "core/text.hpp"
#include "overloaded.hpp"
#include "problem_list.hpp"
#include "rows.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

using Fault = std::optional<std::string>;  // why a value is invalid

bool contains(std::span<const std::string_view> names, std::string_view name) noexcept {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string not_a_choice(std::span<const std::string_view> choices, std::string_view text) {
    const std::string_view near = nearest_name(text, choices);
    return "unknown value: " + quoted_value(text) + (near.empty() ? "" : " (did you mean " + std::string(near) + "?)");
}

Fault assign_boolean(bool& value, std::string_view text) {
    constexpr std::array<std::string_view, 4> truths{"1", "yes", "true", "on"};
    constexpr std::array<std::string_view, 4> untruths{"0", "no", "false", "off"};
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
    if (!contains(truths, lower) && !contains(untruths, lower)) {
        return "not a boolean: " + quoted_value(text);
    }
    value = contains(truths, lower);
    return std::nullopt;
}

Fault assign_whole(const SettingRow& row, const WholeRule& rule, std::int64_t& value, std::string_view text) {
    if (!rule.zero_word.empty() && (text == rule.zero_word || text == "0")) {
        value = 0;
        return std::nullopt;
    }
    const auto parsed = parse_quantity(text, row.unit);
    if (const auto* const fault = std::get_if<std::string>(&parsed)) {
        return *fault;
    }
    const std::int64_t number = std::get<std::int64_t>(parsed);
    if (number == 0 && rule.zero_is_default) {
        value = std::get<std::int64_t>(row.slot.get(default_owner(row.section)));
        return std::nullopt;
    }
    if (number < rule.min || number > rule.max) {
        return "out of range: " + quoted_value(text);
    }
    value = number;
    return std::nullopt;
}

Fault assign_real(const RealRule& rule, double& value, std::string_view text) {
    double number = 0.0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc::invalid_argument || rest != end || !std::isfinite(number)) {
        return "not a number: " + quoted_value(text);
    }
    if (error != std::errc{} || number < rule.min || number > rule.max) {
        return "out of range: " + quoted_value(text);
    }
    value = number;
    return std::nullopt;
}

Fault assign_choice(const ChoiceRule& rule, std::string& value, std::string_view text) {
    if (!contains(rule.choices, text)) {
        return not_a_choice(rule.choices, text);
    }
    value = text;
    return std::nullopt;
}

/// Stores the elements of a list within `limits`; `assign_element` parses and stores one of them.
template <class Value, class AssignElement>
Fault assign_list(const TextListRule& limits, std::vector<Value>& value, std::string_view text,
                  AssignElement assign_element) {
    std::vector<Value> chosen;
    const bool is_none = text.empty() && limits.may_be_empty;
    for (const std::string_view part : is_none ? std::vector<std::string_view>() : comma_parts(text)) {
        Value element{};
        if (Fault fault = assign_element(element, part)) {
            return fault;
        }
        if (!limits.may_repeat && std::find(chosen.begin(), chosen.end(), element) != chosen.end()) {
            return "duplicate value: " + quoted_value(part);
        }
        if (chosen.size() == limits.count_max) {
            return "one value too many: " + quoted_value(part);
        }
        chosen.push_back(std::move(element));
    }
    value = std::move(chosen);
    return std::nullopt;
}

/// Returns whether every source can give the text and every file can contain it.
bool fits_a_line(std::string_view text) noexcept {
    const auto is_control = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    };
    return trimmed(text) == text && !text.ends_with('\\') && std::none_of(text.begin(), text.end(), is_control);
}

/// Returns whether the text complies with the limits of a rule for texts or for lists of texts.
template <class Rule>
bool complies(std::string_view text, const Rule& rule) noexcept {
    const bool has_others =
        !rule.characters.empty() && text.find_first_not_of(rule.characters) != std::string_view::npos;
    return !has_others && fits_a_line(text) && (rule.bytes_max == 0 || text.size() <= rule.bytes_max);
}

Fault assign_text(const TextRule& rule, std::string& value, std::string_view text) {
    const auto begins = [&](std::string_view start) {
        return text.starts_with(start) && text.size() > start.size();
    };
    const bool begun =
        rule.prefixes.empty() ? !text.empty() : std::any_of(rule.prefixes.begin(), rule.prefixes.end(), begins);
    const bool is_none = text.empty() && rule.may_be_empty;
    if (!is_none && (!begun || !complies(text, rule))) {
        return "invalid value: " + quoted_value(text);
    }
    value = text;
    return std::nullopt;
}

Fault assign_element_text(const TextListRule& rule, std::string& value, std::string_view text) {
    if (text.empty() || !complies(text, rule)) {
        return "invalid value: " + quoted_value(text);
    }
    value = text;
    return std::nullopt;
}

/// Stores the shortest notation of the address.
Fault assign_listen(std::string& value, std::string_view text) {
    const std::optional<ListenAddress> address = parse_listen_address(text);
    if (!address && !text.empty()) {
        return "invalid address: " + quoted_value(text);
    }
    value = address ? listen_address_text(address->host, address->port) : "";
    return std::nullopt;
}

/// Returns a hint if the value contains syntax of another notation.
std::string notation_hint(std::string_view text) {
    const bool has_quotes =
        text.size() > 1 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
    if (has_quotes) {
        return " (values are not quoted)";
    }
    for (const std::string_view sign : {" #", " ;", "\t#", "\t;"}) {
        if (text.find(sign) != std::string_view::npos) {
            return " (a comment must be on its own line)";
        }
    }
    return "";
}

/// Stores the value of the text in `value`, in the type of the rule.
Fault assign_value(const SettingRow& row, SettingValue& value, std::string_view text) {
    const auto assign_elements = [&](const TextListRule& limits, auto assign_element) {
        return assign_list(limits, value.emplace<std::vector<std::string>>(), text, assign_element);
    };
    return std::visit(
        Overloaded{
            [&](const BooleanRule&) { return assign_boolean(value.emplace<bool>(), text); },
            [&](const WholeRule& rule) { return assign_whole(row, rule, value.emplace<std::int64_t>(), text); },
            [&](const RealRule& rule) { return assign_real(rule, value.emplace<double>(), text); },
            [&](const ChoiceRule& rule) { return assign_choice(rule, value.emplace<std::string>(), text); },
            [&](const ListRule& rule) {
                return assign_elements({.holds = Holds::plain, .count_max = rule.choices.size(), .may_be_empty = false},
                                       [&](std::string& element, std::string_view part) {
                                           return assign_choice({rule.choices}, element, part);
                                       });
            },
            [&](const WholeListRule& rule) {
                return assign_list({.holds = Holds::plain, .count_max = text.size() + 1},
                                   value.emplace<std::vector<std::int64_t>>(), text,
                                   [&](std::int64_t& element, std::string_view part) {
                                       return assign_whole({}, {.min = rule.min, .max = rule.max}, element, part);
                                   });
            },
            [&](const TextRule& rule) { return assign_text(rule, value.emplace<std::string>(), text); },
            [&](const TextListRule& rule) {
                return assign_elements(rule, [&](std::string& element, std::string_view part) {
                    return assign_element_text(rule, element, part);
                });
            },
            [&](const ListenRule&) {
                return assign_listen(value.emplace<std::string>(), text);
            }},
        row.rule);
}

}  // namespace

std::optional<std::string> assign(const SettingRow& row, const SettingOwner& owner, std::string_view text,
                                  Notation notation) {
    SettingValue value;
    const bool is_none = row.slot.is_optional && text.empty();
    Fault fault = is_none ? std::nullopt : assign_value(row, value, text);
    if (!fault) {
        row.slot.set(owner, value);
        return std::nullopt;
    }
    if (shown_value(row, text).find("***") != std::string::npos) {
        fault = "invalid value: " + quoted_value(shown_value(row, text));
    }
    return *fault + (notation == Notation::text ? notation_hint(text) : "") + "; must be " +
           allowed_text(row, notation);
}

void reset(const SettingRow& row, const SettingOwner& owner) {
    row.slot.set(owner, row.slot.get(default_owner(row.section)));
}

}  // namespace telegate
