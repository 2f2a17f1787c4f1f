#pragma once

#include <string>
#include <vector>

namespace telegate {

/// A label of the gateway that is added to each of its samples: {"site", "north"}.
struct Tag {
    std::string name;  // a-z 0-9 _, not starting with a digit
    std::string value;
};

/// In the order of the settings; names are unique.
using Tags = std::vector<Tag>;

/// Returns `,"tags":{"site":"north"}`, to append to another member of a JSON object; "" without tags.
[[nodiscard]] std::string json_tags_member(const Tags& tags);

}  // namespace telegate
