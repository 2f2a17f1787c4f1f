#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The subject of the messages of an uplink: words separated by dots, some of which depend on the channel. {device} and
/// {channel} are the two parts of the topic, {gateway} is the name of the gateway. Dots in a name become '_', so every
/// subject has the same number of words.
///
/// Threads: any. Limits: none. Failure: the functions throw std::bad_alloc.
class SubjectTemplate {
  public:
    /// `text` must be valid.
    explicit SubjectTemplate(std::string_view text, std::string_view gateway = {});

    /// Returns whether `text` is a valid subject after its {words} are replaced.
    [[nodiscard]] static bool is_valid(std::string_view text);

    [[nodiscard]] bool depends_on_channel() const noexcept { return depends_on_channel_; }
    [[nodiscard]] std::string subject(std::string_view device, std::string_view channel) const;
    /// Returns all subjects as a pattern, with * for words that depend on the channel.
    [[nodiscard]] std::string pattern() const;

  private:
    std::vector<std::string> words_;
    bool depends_on_channel_ = false;
};

}  // namespace telegate
