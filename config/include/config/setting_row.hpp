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

/// The kind of content of a text. This determines whether REST may set it, and what is shown of it. Rules of texts have
/// no default, so a new setting has to state it.
class Holds {
  public:
    enum Kind : std::uint8_t {
        plain,        // none of the following
        listener,     // an address on which the gateway listens
        destination,  // where data or credentials are sent; its URLs may contain secrets
        path,         // a file or a directory that is opened
        program,      // a command that is run; its URLs may contain secrets
        secret,       // a secret, or NAME=SECRET
    };
    constexpr Holds(Kind kind) noexcept : kind_(kind) {}
    [[nodiscard]] constexpr Kind kind() const noexcept { return kind_; }
    /// Returns whether the value can be set in files, environment variables and on the command line only.
    [[nodiscard]] constexpr bool is_for_files() const noexcept { return kind_ > listener; }

  private:
    Kind kind_;
};

/// The allowed values of a setting. The type of the rule is the type of the setting.
struct BooleanRule {};
struct WholeRule {
    std::int64_t min = 0;
    std::int64_t max = 0;
    bool zero_is_default = false;     // 0 is also accepted and means the default
    std::string_view zero_word = {};  // the value that 0 stands for, such as "auto"; "": none. 0 is also accepted
};
struct RealRule {
    double min = 0;
    double max = 0;
};
struct ChoiceRule {
    std::span<const std::string_view> choices = {};
};
/// Choices separated by commas: at least one, no duplicates.
struct ListRule {
    std::span<const std::string_view> choices = {};
};
/// Whole numbers separated by commas, no duplicates; may be empty.
struct WholeListRule {
    std::int64_t min = 0;
    std::int64_t max = 0;
};
/// Text that begins with one of `prefixes`, if there are any, and continues after it. The text must be valid in every
/// source and file: no control bytes, no leading or trailing blanks, and no trailing backslash.
struct TextRule {
    Holds holds;
    std::span<const std::string_view> prefixes = {};
    std::string_view allowed = {};      // description for messages
    std::string_view characters = {};   // allowed in the text; "": any
    std::size_t bytes_max = 0;          // 0: limited by the line length only
    bool may_be_empty = false;          // if true, "" means none, and `allowed` says so
    std::string_view path_prefix = {};  // a text with this prefix names a local path; "": no text does
};
/// Texts separated by commas, in the given order. TextRule's restrictions apply to each element; elements contain no
/// comma.
struct TextListRule {
    Holds holds;
    std::string_view allowed = {};     // description of one element
    std::string_view characters = {};  // allowed in one element; "": any
    std::size_t bytes_max = 0;         // of one element; 0: limited by the line length only
    std::size_t count_max = 0;
    bool may_repeat = false;   // duplicates are allowed
    bool may_be_empty = true;  // the list may be empty
};
/// HOST:PORT, where HOST is a numeric IPv4 address, an IPv6 address in brackets, or localhost; may be empty.
struct ListenRule {};
using SettingRule = std::variant<BooleanRule, WholeRule, RealRule, ChoiceRule, ListRule, WholeListRule, TextRule,
                                 TextListRule, ListenRule>;

/// The notation of values: text (files, variables, options), or JSON, where numbers have no units.
enum class Notation : std::uint8_t { text, json };

/// A value in the type of its rule: a boolean, a whole number, a real number, a text (also a choice and an address), a
/// list of texts or of whole numbers. An optional number may have no value.
using SettingValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>,
                                  std::vector<std::int64_t>>;

/// The struct that a section fills. The section of a row determines which one.
using SettingOwner = std::variant<Settings*, TagSettings*, PublishSettings*, ServiceSettings*, UplinkSettings*,
                                  DeviceSettings*, ChannelSettings*>;

/// Reads and stores the value of a setting in the struct that uses it. See setting_slot.hpp.
struct SettingSlot {
    SettingValue (*get)(const SettingOwner& owner) = nullptr;
    void (*set)(const SettingOwner& owner, const SettingValue& value) = nullptr;
    bool is_optional = false;  // an empty text, or null in JSON, means no value
};

/// Whether a running gateway can apply a new value, or only a restart.
enum class Applies : std::uint8_t {
    live,
    file,  // live, but not over REST: see Holds, and settings whose change costs data or changes the machine
    restart,
};
[[nodiscard]] std::string_view to_string(Applies applies) noexcept;

/// One setting: everything that parsing, validation, printing and documentation need.
struct SettingRow {
    std::string_view section = {};
    std::string_view type = {};  // the driver of the device, or the type of the uplink, that has this key; "" for all
    std::string_view key = {};
    SettingRule rule = {};
    std::string_view unit = {};  // "" for none
    Applies applies = Applies::restart;
    bool required = false;           // in every section of this kind
    std::string_view excludes = {};  // a key of the same section that conflicts with this one
    std::string_view column = {};    // for [channel]: its column name in a channel table, if it differs from the key
    bool names_channels = false;     // for [device]: names a file with a table of the device's channels
    std::string_view unset = {};     // the value that applies if the key is absent and has no default value
    std::string_view meaning = {};
    SettingSlot slot = {};
};

/// One kind of section.
struct SectionRow {
    std::string_view name = {};
    std::size_t count_max = 1;  // more than one: each has a name, [name "NAME"]
    std::string_view name_form = "NAME";
    std::string_view meaning = {};
    // a section without a name is short for several sections: each key is a section name, each value is for this key
    std::string_view short_key = {};
    // the key whose value, the type, adds further keys to the section, and for a device to its channels
    std::string_view type_key = {};
    bool is_label = false;  // a name is also a metric label

    [[nodiscard]] constexpr bool named() const noexcept { return count_max > 1; }
    /// Returns whether the section belongs to a channel of a device and is named DEVICE/CHANNEL.
    [[nodiscard]] constexpr bool of_channel() const noexcept { return name_form.find('/') != std::string_view::npos; }
};

/// Returns the type as text: "whole number", "yes or no", ...
[[nodiscard]] std::string_view type_text(const SettingRow& row) noexcept;

/// Returns what the setting holds.
[[nodiscard]] Holds holds_of(const SettingRow& row) noexcept;

/// Returns the allowed values for messages: "a whole number of ms, 1 to 3600000, or a number with a unit: us, ms, s,
/// ...".
[[nodiscard]] std::string allowed_text(const SettingRow& row, Notation notation = Notation::text);

/// Returns whether the value is a list separated by commas.
[[nodiscard]] bool is_list(const SettingRow& row) noexcept;

/// Returns whether the setting has no value of its own: an optional number without a value, or the default of a row
/// with `unset`.
[[nodiscard]] bool is_unset(const SettingRow& row, const SettingOwner& owner);

/// Returns the value as written in a file; `unset` if the row has one and the value is not set.
[[nodiscard]] std::string value_text(const SettingRow& row, const SettingOwner& owner);

/// Like value_text(), for the default value; "" if there is none.
[[nodiscard]] std::string default_text(const SettingRow& row);

/// Parses `text` and stores it as the value of `row` in `owner`. If the text is not allowed, stores nothing and returns
/// the message: what is wrong and what is allowed. `owner` must match the row's section.
[[nodiscard]] std::optional<std::string> assign(const SettingRow& row, const SettingOwner& owner, std::string_view text,
                                                Notation notation = Notation::text);

/// Returns how a change to `value` takes effect: as the row says, but Applies::file for a text that names a path.
[[nodiscard]] Applies applies_to(const SettingRow& row, std::string_view value) noexcept;

/// Restores the default.
void reset(const SettingRow& row, const SettingOwner& owner);

}  // namespace telegate
