#pragma once

#include "config/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate {

/// What a setting may be. The kind of rule is the type of the setting.
struct BooleanRule {};
struct WholeRule {
    std::int64_t min = 0;
    std::int64_t max = 0;
    bool zero_is_default = false;  // 0 is accepted besides the range and stands for the default
};
struct RealRule {
    double min = 0;
    double max = 0;
};
struct ChoiceRule {
    std::span<const std::string_view> choices = {};
};
/// Choices separated by commas: at least one, none twice.
struct ListRule {
    std::span<const std::string_view> choices = {};
};
/// Whole numbers separated by commas, none twice; or nothing.
struct WholeListRule {
    std::int64_t min = 0;
    std::int64_t max = 0;
};
/// Text that begins with one of `prefixes`, if there are any, and does not end there. So that any source can give it
/// and any file can hold it, it has no control bytes, no blanks at its ends and no backslash at the last one.
struct TextRule {
    std::span<const std::string_view> prefixes = {};
    std::string_view allowed = {};      // in words
    std::size_t bytes_max = 0;          // 0: as long as a line
    bool may_be_empty = false;          // then "" stands for none, and `allowed` says so
    std::string_view path_prefix = {};  // a text that begins so names a path of this machine; "": none does
};
/// Texts separated by commas, in the order given. Each is as a text is, and has no comma.
struct TextListRule {
    std::string_view allowed = {};     // in words, of one of them
    std::string_view characters = {};  // that one may have; "": any
    std::size_t bytes_max = 0;         // of one of them; 0: as long as a line
    std::size_t count_max = 0;
    bool may_repeat = false;   // one may be there twice
    bool may_be_empty = true;  // there may be none
};
/// HOST:PORT, where the host is a numeric IPv4 address, an IPv6 address in brackets, or localhost; or nothing.
struct ListenRule {};
using SettingRule = std::variant<BooleanRule, WholeRule, RealRule, ChoiceRule, ListRule, WholeListRule, TextRule,
                                 TextListRule, ListenRule>;

/// How a value is written: as text in files, variables and options, or as JSON, where numbers have no units.
enum class Notation : std::uint8_t { text, json };

/// Where the value of a setting lives. A number of which there may be none is optional: then no text, or null in JSON,
/// stands for none.
struct ListenSlot {
    std::string* host = nullptr;
    std::int64_t* port = nullptr;
};
using SettingSlot =
    std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::string>*, std::vector<std::int64_t>*,
                 std::optional<std::int64_t>*, std::optional<double>*, ListenSlot>;

/// The struct that a section fills: the section of a row decides which one it is.
using SettingOwner =
    std::variant<Settings*, TagSettings*, PublishSettings*, ServiceSettings*, DeviceSettings*, ChannelSettings*>;

/// Whether a running gateway can take a new value, or only a new start can.
enum class Applies : std::uint8_t {
    live,
    file,  // live, but not over REST: it decides which program the gateway runs or which path it opens
    restart,
};
[[nodiscard]] std::string_view to_string(Applies applies) noexcept;

/// One setting: everything that parsing, validation, printing and documentation need to know about it.
struct SettingRow {
    std::string_view section = {};
    std::string_view driver = {};  // of [device] and [channel]: the driver that has this key; "" for all
    std::string_view key = {};
    SettingRule rule = {};
    std::string_view unit = {};  // "" for none
    Applies applies = Applies::restart;
    bool required = false;           // in every section of its kind
    std::string_view excludes = {};  // a key of the same section that must not be given beside this one
    std::string_view column = {};  // in [channel]: the name of its column in a table of channels, unless it is the key
    bool names_channels = false;   // in [device]: names a file that is a table of the device's channels
    std::string_view unset = {};   // what stands in when the key is absent, where that is not a value of its own
    std::string_view meaning = {};
    SettingSlot (*slot)(const SettingOwner& owner) = nullptr;
};

/// One kind of section.
struct SectionRow {
    std::string_view name = {};
    std::size_t count_max = 1;  // more than one: each has a name of its own, [name "NAME"]
    std::string_view name_form = "NAME";
    std::string_view meaning = {};
    std::string_view short_key = {};  // a section without a name gives this key of the sections that its keys name
    bool is_label = false;            // a name is also a label of metrics

    [[nodiscard]] constexpr bool named() const noexcept { return count_max > 1; }
    /// Whether it belongs to a channel of a device, and is named DEVICE/CHANNEL.
    [[nodiscard]] constexpr bool of_channel() const noexcept { return name_form.find('/') != std::string_view::npos; }
};

/// A value of every kind of owner, all defaults: for printing defaults and for checking values nobody keeps.
struct DefaultOwners {
    Settings settings;
    TagSettings tag;
    PublishSettings publish;
    ServiceSettings services;
    DeviceSettings device;
    ChannelSettings channel;

    [[nodiscard]] SettingOwner of(std::string_view section) noexcept;
};

/// "whole number", "yes or no", ...
[[nodiscard]] std::string_view type_text(const SettingRow& row) noexcept;

/// What may be written, as it stands in messages: "a whole number of ms, 1 to 3600000, or with a unit such as 5s".
[[nodiscard]] std::string allowed_text(const SettingRow& row, Notation notation = Notation::text);

/// Whether a value is several, separated by commas.
[[nodiscard]] bool is_list(const SettingRow& row) noexcept;

/// Whether there may be no value, which is not the same as any value.
[[nodiscard]] bool is_optional(const SettingRow& row) noexcept;

/// Whether nothing but the default stands there, where the default is no value of its own.
[[nodiscard]] bool is_unset(const SettingRow& row, const SettingOwner& owner);

/// The value as it would be written in a file; `unset` where the row has one and the value is not set.
[[nodiscard]] std::string value_text(const SettingRow& row, const SettingOwner& owner);

/// The same for the default; "" where there is none.
[[nodiscard]] std::string default_text(const SettingRow& row);

/// Stores `text` as the value of `row` in `owner`. Returns what is wrong and what is allowed, and stores nothing, when
/// it is not allowed. `owner` must be of the kind of the row's section.
[[nodiscard]] std::optional<std::string> assign(const SettingRow& row, const SettingOwner& owner, std::string_view text,
                                                Notation notation = Notation::text);

/// Returns how a change to `value` takes effect: as the row says, but Applies::file for a text that names a path.
[[nodiscard]] Applies applies_to(const SettingRow& row, std::string_view value) noexcept;

/// Puts the default back.
void reset(const SettingRow& row, const SettingOwner& owner);

}  // namespace telegate
