#pragma once

#include "config/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace telegate {

/// Settings that are or were in force, kept for rollback.
struct ConfigGeneration {
    std::uint64_t number = 1;  // as in /status
    std::int64_t time_utc_ns = 0;
    std::string who;
    std::string hash;               // "": no hash is computed
    std::size_t changes_count = 0;  // from the previous generation
    std::shared_ptr<const Settings> settings;
};

/// Maximum number of generations in memory, including the one in force; more than a person reverts in one session. The
/// oldest is removed first.
inline constexpr std::size_t config_generations_max = 16;

}  // namespace telegate
