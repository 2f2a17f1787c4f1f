#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace telegate {

/// An invalid driver option. what() is "KEY: PROBLEM", or "channel "NAME": KEY: PROBLEM" for an option of a channel.
class OptionError : public std::invalid_argument {
  public:
    /// `key` is the name of the setting.
    OptionError(const std::string& key, const std::string& problem, const std::string& channel = "")
        : std::invalid_argument((channel.empty() ? "" : "channel \"" + channel + "\": ") + key + ": " + problem),
          parts_(std::make_shared<const Parts>(Parts{channel, key, problem})) {}

    // "": an option of the device
    [[nodiscard]] const std::string& channel() const noexcept { return parts_->channel; }
    [[nodiscard]] const std::string& key() const noexcept { return parts_->key; }
    [[nodiscard]] const std::string& problem() const noexcept { return parts_->problem; }

  private:
    struct Parts {
        std::string channel;
        std::string key;
        std::string problem;
    };
    std::shared_ptr<const Parts> parts_;  // copying an exception must not throw
};

/// Throws an OptionError unless `holds`.
inline void require_option(bool holds, const std::string& key, const std::string& rule) {
    if (!holds) {
        throw OptionError(key, rule);
    }
}

/// Throws the OptionError "invalid value: VALUE; must be ALLOWED".
[[noreturn]] inline void refuse_value(const std::string& key, const std::string& value, const std::string& allowed,
                                      const std::string& channel = "") {
    throw OptionError(key, "invalid value: " + value + "; must be " + allowed, channel);
}

struct OptionRange {
    std::int64_t min;
    std::int64_t max;
};

/// Throws an OptionError unless `value` is within `range`.
inline void require_range(const std::string& key, std::int64_t value, OptionRange range,
                          const std::string& channel = "") {
    if (value < range.min || value > range.max) {
        refuse_value(key, std::to_string(value), std::to_string(range.min) + " to " + std::to_string(range.max),
                     channel);
    }
}

/// Returns "one of 1, 2, 4".
template <class Numbers>
[[nodiscard]] std::string one_of(const Numbers& numbers) {
    std::string text;
    for (const auto number : numbers) {
        text.append(text.empty() ? "one of " : ", ").append(std::to_string(number));
    }
    return text;
}

}  // namespace telegate
