#pragma once

#include "status/status_json.hpp"

#include <nlohmann/json.hpp>

namespace telegate::test {

/// Returns the status as clients see it.
inline nlohmann::json shown(const StatusSnapshot& snapshot) {
    return nlohmann::json::parse(status_json(snapshot));
}

}  // namespace telegate::test
