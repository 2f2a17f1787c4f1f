#pragma once

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
