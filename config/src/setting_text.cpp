#include "config/joined.hpp"
#include "config/quantity.hpp"
#include "config/setting_row.hpp"
#include "overloaded.hpp"
#include "rows.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>

namespace telegate {
namespace {

std::string text_of(const SettingValue& value) {
    return std::visit(
        Overloaded{[](std::monostate) -> std::string { return ""; },
                   [](bool is_set) -> std::string { return is_set ? "yes" : "no"; },
                   [](std::int64_t number) { return number_text(number); },
                   [](double number) { return number_text(number); }, [](const std::string& text) { return text; },
                   [](const std::vector<std::string>& texts) { return joined(texts); },
                   [](const std::vector<std::int64_t>& list) {
                       std::vector<std::string> numbers;
                       std::transform(list.begin(), list.end(), std::back_inserter(numbers), number_text<std::int64_t>);
                       return joined(numbers);
                   }},
        value);
}

std::string whole_rule_text(const SettingRow& row, const WholeRule& rule, Notation notation) {
    const std::string range = number_text(rule.min) + " to " + number_text(rule.max);
    const std::string other = default_text(row);
    const std::string zero = !rule.zero_word.empty() ? ", or " + std::string(rule.zero_word)
                             : !rule.zero_is_default ? ""
                             : other == "0"          ? ", or 0"
                                                     : ", or 0 for the default " + other;
    const std::string_view units = unit_choices(row.unit);
    if (notation == Notation::text && !units.empty()) {
        return "a whole number of " + std::string(row.unit) + ", " + range + zero +
               ", or a number with a unit: " + std::string(units);
    }
    const std::string unit = row.unit.empty() ? "" : " (" + std::string(row.unit) + ")";
    return "a whole number without a unit, " + range + unit + zero;
}

std::string text_list_rule_text(const TextListRule& rule, Notation notation) {
    const bool is_json = notation == Notation::json;
    const std::string none = rule.may_be_empty && !is_json ? "empty, or " : "";
    return none + (is_json ? "an array of " : "") + (rule.may_be_empty ? "" : "one or more and ") + "at most " +
           number_text(rule.count_max) + (is_json ? " texts, each " : " texts separated by commas, each ") +
           std::string(rule.allowed);
}

std::string rule_text(const SettingRow& row, Notation notation) {
    const bool is_json = notation == Notation::json;
    return std::visit(
        Overloaded{
            [&](const BooleanRule&) -> std::string {
                return is_json ? "true or false" : "yes, true, on, 1, no, false, off or 0";
            },
            [&](const WholeRule& rule) { return whole_rule_text(row, rule, notation); },
            [](const RealRule& rule) { return "a number, " + number_text(rule.min) + " to " + number_text(rule.max); },
            [](const ChoiceRule& rule) { return "one of " + joined(rule.choices); },
            [&](const ListRule& rule) {
                return (is_json ? "an array of one or more of " : "one or more, separated by commas, of ") +
                       joined(rule.choices);
            },
            [&](const WholeListRule& rule) {
                return (is_json ? "an array of whole numbers, " : "empty, or whole numbers separated by commas, ") +
                       number_text(rule.min) + " to " + number_text(rule.max);
            },
            [](const TextRule& rule) { return std::string(rule.allowed); },
            [&](const TextListRule& rule) { return text_list_rule_text(rule, notation); },
            [](const ListenRule&) -> std::string {
                return "HOST:PORT with a numeric IPv4 address, an IPv6 address in brackets or localhost, and a "
                       "port from 0 to 65535, or empty";
            }},
        row.rule);
}

}  // namespace

Holds holds_of(const SettingRow& row) noexcept {
    return std::visit(
        []<class Rule>(const Rule& rule) -> Holds {
            if constexpr (std::is_same_v<Rule, TextRule> || std::is_same_v<Rule, TextListRule>) {
                return rule.holds;
            } else {
                return std::is_same_v<Rule, ListenRule> ? Holds::listener : Holds::plain;
            }
        },
        row.rule);
}

Applies applies_to(const SettingRow& row, std::string_view value) noexcept {
    const auto* rule = std::get_if<TextRule>(&row.rule);
    const bool is_path = rule != nullptr && !rule->path_prefix.empty() && value.starts_with(rule->path_prefix);
    return is_path ? std::max(row.applies, Applies::file) : row.applies;
}

std::string_view to_string(Applies applies) noexcept {
    switch (applies) {
        case Applies::live: return "live";
        case Applies::file: return "file";
        case Applies::restart: return "restart";
    }
    return "";
}

std::string_view type_text(const SettingRow& row) noexcept {
    return std::visit(
        Overloaded{[](const BooleanRule&) { return "yes or no"; }, [](const WholeRule&) { return "whole number"; },
                   [](const RealRule&) { return "number"; }, [](const ChoiceRule&) { return "choice"; },
                   [](const ListRule&) { return "list of choices"; },
                   [](const WholeListRule&) { return "list of whole numbers"; }, [](const TextRule&) { return "text"; },
                   [](const TextListRule&) { return "list of texts"; },
                   [](const ListenRule&) {
                       return "address";
                   }},
        row.rule);
}

std::string allowed_text(const SettingRow& row, Notation notation) {
    const std::string none = notation == Notation::json ? ", or null" : ", or empty";
    return rule_text(row, notation) + (row.slot.is_optional ? none : "");
}

bool is_list(const SettingRow& row) noexcept {
    return std::holds_alternative<ListRule>(row.rule) || std::holds_alternative<WholeListRule>(row.rule) ||
           std::holds_alternative<TextListRule>(row.rule);
}

bool is_unset(const SettingRow& row, const SettingOwner& owner) {
    const SettingValue value = row.slot.get(owner);
    return row.slot.is_optional ? value.index() == 0
                                : !row.unset.empty() && value == row.slot.get(default_owner(row.section));
}

std::string value_text(const SettingRow& row, const SettingOwner& owner) {
    if (is_unset(row, owner)) {
        return std::string(row.unset);
    }
    std::string text = text_of(row.slot.get(owner));
    const auto* const whole = std::get_if<WholeRule>(&row.rule);
    return whole != nullptr && !whole->zero_word.empty() && text == "0" ? std::string(whole->zero_word) : text;
}

std::string default_text(const SettingRow& row) {
    return value_text(row, default_owner(row.section));
}

}  // namespace telegate
