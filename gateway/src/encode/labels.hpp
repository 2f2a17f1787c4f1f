#pragma once

#include "config/settings.hpp"
#include "core/channel_table.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace telegate {

/// A name and a text that are added to samples: {"site", "north"}.
struct Tag {
    std::string name;  // a-z 0-9 _, not starting with a digit
    std::string value;

    [[nodiscard]] bool operator==(const Tag&) const = default;
};

/// In the order of the settings; names are unique.
using Tags = std::vector<Tag>;

/// The name of the gateway and the tags, which identify samples besides their topics.
///
/// Threads: any. Limits: those of the settings. Failure: the constructors throw std::bad_alloc.
class Labels {
  public:
    Labels() = default;
    explicit Labels(std::string gateway, Tags tags = {}) : gateway_(std::move(gateway)), tags_(std::move(tags)) {}
    /// A gateway without a name in the settings has the name of its host.
    explicit Labels(const Settings& settings);

    [[nodiscard]] const std::string& gateway() const noexcept { return gateway_; }
    [[nodiscard]] const Tags& gateway_tags() const noexcept { return tags_; }
    /// Returns a text that is the same for the same tags only.
    [[nodiscard]] std::string tags_text() const;

    [[nodiscard]] bool operator==(const Labels&) const = default;

  private:
    std::string gateway_;
    Tags tags_;
};

/// Those in force, which are replaced as a whole; null: none.
using SharedLabels = std::shared_ptr<const Labels>;

[[nodiscard]] const std::string& gateway_of(const SharedLabels& labels) noexcept;
[[nodiscard]] const Tags& tags_of(const SharedLabels& labels, const ChannelInfo& channel) noexcept;

}  // namespace telegate
