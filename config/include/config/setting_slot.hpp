#pragma once

#include "config/enum_names.hpp"
#include "config/listen_address.hpp"
#include "config/setting_row.hpp"

#include <any>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

// Slots of the settings table: where the value of a row is stored, in the type that its user takes. The rule of the row
// has checked every value that is stored. Threads: one at a time to set a value, any to get one.

namespace telegate {

/// Returns the part of a device, channel or uplink that has this type. The first form adds it with default values if
/// there is none; the second form returns the defaults. Threads: one at a time for the first form, any for the second.
template <class Part>
[[nodiscard]] Part& part_of(SettingParts& parts) {
    for (std::any& each : parts) {
        if (Part* const part = std::any_cast<Part>(&each)) {
            return *part;
        }
    }
    return parts.emplace_back().emplace<Part>();
}
template <class Part>
[[nodiscard]] const Part& part_of(const SettingParts& parts) {
    static const Part defaults;
    for (const std::any& each : parts) {
        if (const Part* const part = std::any_cast<Part>(&each)) {
            return *part;
        }
    }
    return defaults;
}

namespace slots {

/// The names of a setting that is not a choice.
inline constexpr EnumNames<bool, 0> no_names{};

template <class Stored>
inline constexpr bool is_list = false;
template <class Element>
inline constexpr bool is_list<std::vector<Element>> = true;
template <class Stored>
inline constexpr bool is_optional = false;
template <class Number>
inline constexpr bool is_optional<std::optional<Number>> = true;
template <class Stored>
inline constexpr bool is_duration = false;
template <class Count, class Period>
inline constexpr bool is_duration<std::chrono::duration<Count, Period>> = true;
template <class Stored>
inline constexpr bool is_whole = std::is_integral_v<Stored> && !std::is_same_v<Stored, bool>;

/// The type of the elements of a list in a SettingValue.
template <class Stored>
using Element = std::conditional_t<is_whole<typename Stored::value_type>, std::int64_t, std::string>;

/// Converts to the type of the rule. The unit of a row with a duration is ms.
template <const auto& names, class Stored>
SettingValue to_value(const Stored& stored) {
    if constexpr (is_list<Stored>) {
        std::vector<Element<Stored>> elements;
        elements.reserve(stored.size());
        for (const auto& each : stored) {
            elements.push_back(std::get<Element<Stored>>(to_value<names>(each)));
        }
        return elements;
    } else if constexpr (!names.names.empty()) {
        return std::string(names.name(stored));
    } else if constexpr (is_optional<Stored>) {
        return stored ? to_value<names>(*stored) : SettingValue();
    } else if constexpr (is_duration<Stored>) {
        return std::int64_t{std::chrono::duration_cast<std::chrono::milliseconds>(stored).count()};
    } else if constexpr (is_whole<Stored>) {
        return static_cast<std::int64_t>(stored);
    } else {
        return stored;
    }
}

template <const auto& names, class Stored>
void from_value(Stored& stored, const SettingValue& value) {
    if constexpr (is_list<Stored>) {
        stored.clear();
        for (const auto& each : std::get<std::vector<Element<Stored>>>(value)) {
            from_value<names>(stored.emplace_back(), SettingValue(each));
        }
    } else if constexpr (!names.names.empty()) {
        stored = names.value(std::get<std::string>(value));
    } else if constexpr (is_optional<Stored>) {
        stored.reset();
        if (value.index() != 0) {
            from_value<names>(stored.emplace(), value);
        }
    } else if constexpr (is_duration<Stored>) {
        stored = std::chrono::milliseconds(std::get<std::int64_t>(value));
    } else if constexpr (is_whole<Stored>) {
        stored = static_cast<Stored>(std::get<std::int64_t>(value));
    } else {
        stored = std::get<Stored>(value);
    }
}

template <class Whole, class Value>
Whole whole_of(Value Whole::*);

/// Returns the struct that a section fills, or the part of a device, channel or uplink; constant if Part is.
template <class Part>
Part& part_in(const SettingOwner& owner) {
    using Parts = std::conditional_t<std::is_const_v<Part>, const SettingParts, SettingParts>;
    using Plain = std::remove_const_t<Part>;
    if constexpr (std::is_constructible_v<SettingOwner, Plain*>) {
        return *std::get<Plain*>(owner);
    } else if (ChannelSettings* const* const channel = std::get_if<ChannelSettings*>(&owner)) {
        return part_of<Plain>(static_cast<Parts&>((*channel)->parts));
    } else if (UplinkSettings* const* const uplink = std::get_if<UplinkSettings*>(&owner)) {
        return part_of<Plain>(static_cast<Parts&>((*uplink)->parts));
    } else {
        return part_of<Plain>(static_cast<Parts&>(std::get<DeviceSettings*>(owner)->parts));
    }
}

template <const auto& names, auto first, auto... rest>
struct Slot {
    using Whole = decltype(whole_of(first));
    using Stored = std::remove_reference_t<decltype(((std::declval<Whole&>().*first).*....*rest))>;

    static SettingValue get(const SettingOwner& owner) {
        return to_value<names>(((part_in<const Whole>(owner).*first).*....*rest));
    }
    static void set(const SettingOwner& owner, const SettingValue& value) {
        from_value<names>(((part_in<Whole>(owner).*first).*....*rest), value);
    }
    static constexpr SettingSlot slot{get, set, names.names.empty() && is_optional<Stored>};
};

template <auto host, auto port>
struct ListenSlot {
    using Whole = decltype(whole_of(host));

    static SettingValue get(const SettingOwner& owner) {
        const Whole& whole = part_in<const Whole>(owner);
        return listen_address_text(whole.*host, whole.*port);
    }
    static void set(const SettingOwner& owner, const SettingValue& value) {
        Whole& whole = part_in<Whole>(owner);
        ListenAddress address = parse_listen_address(std::get<std::string>(value)).value_or(ListenAddress{});
        whole.*host = std::move(address.host);
        whole.*port = address.port;
    }
};

}  // namespace slots

/// The slot of a member, or of a member of a member: slot_of<&HttpDriverOptions::url>, slot_of<&Settings::rest,
/// &RestSettings::unix_socket>.
template <auto first, auto... rest>
inline constexpr SettingSlot slot_of = slots::Slot<slots::no_names, first, rest...>::slot;

/// The slot of a choice, or of a list of choices, whose rule has `names.names`: choice_of<formats,
/// &HttpDriverOptions::format>.
template <const auto& names, auto first, auto... rest>
inline constexpr SettingSlot choice_of = slots::Slot<names, first, rest...>::slot;

/// The slot of an address to listen on.
template <auto host, auto port>
inline constexpr SettingSlot listen_of{slots::ListenSlot<host, port>::get, slots::ListenSlot<host, port>::set, false};

}  // namespace telegate
