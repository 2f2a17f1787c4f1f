#include "config/quantity.hpp"
#include "config/setting_row.hpp"
#include "listen_address.hpp"
#include "overloaded.hpp"

#include <array>
#include <charconv>

namespace telegate {
namespace {

template <class Number>
std::string number_text(Number value) {
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    return {text.data(), end};
}

std::string joined(std::span<const std::string_view> names, std::string_view separator) {
    std::string text;
    for (const std::string_view name : names) {
        text += (text.empty() ? "" : std::string(separator)) + std::string(name);
    }
    return text;
}

std::string joined(const std::vector<std::int64_t>& numbers) {
    std::string text;
    for (const std::int64_t number : numbers) {
        text += (text.empty() ? "" : ", ") + number_text(number);
    }
    return text;
}

std::string slot_text(const SettingSlot& slot) {
    return std::visit(Overloaded{[](const bool* value) -> std::string { return *value ? "yes" : "no"; },
                                 [](const std::int64_t* value) { return number_text(*value); },
                                 [](const double* value) { return number_text(*value); },
                                 [](const std::string* value) { return *value; },
                                 [](const std::vector<std::string>* value) {
                                     return joined(std::vector<std::string_view>(value->begin(), value->end()), ", ");
                                 },
                                 [](const std::vector<std::int64_t>* value) { return joined(*value); },
                                 [](const ListenSlot& listen) {
                                     return listen_address_text(*listen.host, *listen.port);
                                 }},
                      slot);
}

std::string whole_rule_text(const SettingRow& row, const WholeRule& rule, Notation notation) {
    const std::string range = number_text(rule.min) + " to " + number_text(rule.max);
    const std::string other = default_text(row);
    const std::string zero = !rule.zero_is_default ? "" : other == "0" ? ", or 0" : ", or 0 for the default " + other;
    const std::string_view units = unit_choices(row.unit);
    if (notation == Notation::text && !units.empty()) {
        return "a whole number of " + std::string(row.unit) + ", " + range + zero +
               "; or with a unit of its own: " + std::string(units);
    }
    const std::string unit = row.unit.empty() ? "" : " (" + std::string(row.unit) + ")";
    return "a whole number without unit, " + range + unit + zero;
}

}  // namespace

std::string_view to_string(Applies applies) noexcept {
    return applies == Applies::live ? "live" : "restart";
}

SettingOwner DefaultOwners::of(std::string_view section) noexcept {
    if (section == "publish") {
        return &publish;
    }
    if (section == "services") {
        return &services;
    }
    if (section == "device") {
        return &device;
    }
    return &settings;
}

std::string_view type_text(const SettingRow& row) noexcept {
    return std::visit(
        Overloaded{[](const BooleanRule&) { return "yes or no"; }, [](const WholeRule&) { return "whole number"; },
                   [](const RealRule&) { return "number"; }, [](const ChoiceRule&) { return "choice"; },
                   [](const ListRule&) { return "list of choices"; },
                   [](const WholeListRule&) { return "list of whole numbers"; }, [](const TextRule&) { return "text"; },
                   [](const ListenRule&) {
                       return "address";
                   }},
        row.rule);
}

std::string allowed_text(const SettingRow& row, Notation notation) {
    const bool is_json = notation == Notation::json;
    return std::visit(
        Overloaded{
            [&](const BooleanRule&) -> std::string {
                return is_json ? "true or false" : "yes, true, on, 1, no, false, off or 0";
            },
            [&](const WholeRule& rule) { return whole_rule_text(row, rule, notation); },
            [](const RealRule& rule) { return "a number, " + number_text(rule.min) + " to " + number_text(rule.max); },
            [](const ChoiceRule& rule) { return joined(rule.choices, ", "); },
            [&](const ListRule& rule) {
                return (is_json ? "an array of one or more of " : "one or more, separated by commas, of ") +
                       joined(rule.choices, ", ");
            },
            [&](const WholeListRule& rule) {
                return (is_json ? "an array of whole numbers, " : "nothing, or whole numbers separated by commas, ") +
                       number_text(rule.min) + " to " + number_text(rule.max);
            },
            [](const TextRule& rule) { return std::string(rule.allowed); },
            [](const ListenRule&) -> std::string {
                return "HOST:PORT with a numeric IPv4 address, an IPv6 address in brackets or localhost, and a "
                       "port from 0 to 65535, or nothing";
            }},
        row.rule);
}

bool is_list(const SettingRow& row) noexcept {
    return std::holds_alternative<ListRule>(row.rule) || std::holds_alternative<WholeListRule>(row.rule);
}

bool is_unset(const SettingRow& row, const SettingOwner& owner) {
    DefaultOwners defaults;
    return !row.unset.empty() && slot_text(row.slot(owner)) == slot_text(row.slot(defaults.of(row.section)));
}

std::string value_text(const SettingRow& row, const SettingOwner& owner) {
    return is_unset(row, owner) ? std::string(row.unset) : slot_text(row.slot(owner));
}

std::string default_text(const SettingRow& row) {
    DefaultOwners defaults;
    return value_text(row, defaults.of(row.section));
}

}  // namespace telegate
