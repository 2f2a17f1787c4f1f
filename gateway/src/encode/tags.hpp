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

}  // namespace telegate
