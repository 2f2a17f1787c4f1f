#pragma once

#include <string>
#include <vector>

namespace telegate {

/// A word about the whole gateway that goes with each of its samples: {"site", "north"}.
struct Tag {
    std::string name;  // a-z 0-9 _, and no digit first
    std::string value;
};

/// In the order of the settings, each name once.
using Tags = std::vector<Tag>;

/// `,"tags":{"site":"north"}`, to be put behind another member of a JSON object; "" when there are none.
[[nodiscard]] std::string json_tags_member(const Tags& tags);

}  // namespace telegate
