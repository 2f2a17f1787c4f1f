#pragma once

#include "config/settings.hpp"
#include "core/channel_table.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// Returns nullopt if the text is not NAME=VALUE with a valid name and a value.
[[nodiscard]] std::optional<Tag> to_tag(std::string_view text);

/// The name of the gateway and the tags, which identify samples besides their topics. The tags of a channel are those
/// of the gateway; the device and the channel add tags, or replace some. Encoders look them up once for each channel.
///
/// Threads: any. Limits: those of the settings. Failure: the constructors and tags() throw std::bad_alloc.
class Labels {
  public:
    Labels() = default;
    explicit Labels(std::string gateway, Tags tags = {}) : gateway_(std::move(gateway)), tags_(std::move(tags)) {}
    /// Texts that are not tags are ignored. A gateway without a name in the settings has the name of its host.
    explicit Labels(const Settings& settings);

    [[nodiscard]] const std::string& gateway() const noexcept { return gateway_; }
    [[nodiscard]] const Tags& gateway_tags() const noexcept { return tags_; }
    /// Returns all tags of a channel.
    [[nodiscard]] const Tags& tags(std::string_view device, std::string_view channel) const;
    /// All tags of the devices and the channels that have tags of their own, by name and by topic.
    [[nodiscard]] const std::map<std::string, Tags, std::less<>>& own_tags() const noexcept { return own_; }
    /// Returns a text that is the same for the same tags only.
    [[nodiscard]] std::string tags_text() const;

    [[nodiscard]] bool operator==(const Labels&) const = default;

  private:
    std::string gateway_;
    Tags tags_;  // of the gateway
    std::map<std::string, Tags, std::less<>> own_;
};

/// Those in force, which are replaced as a whole; null: none.
using SharedLabels = std::shared_ptr<const Labels>;

[[nodiscard]] const std::string& gateway_of(const SharedLabels& labels) noexcept;
[[nodiscard]] const Tags& tags_of(const SharedLabels& labels, const ChannelInfo& channel);

}  // namespace telegate
