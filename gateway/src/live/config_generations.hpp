#pragma once

#include "config/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace telegate {

/// Settings that are or were in force, kept for a rollback.
struct ConfigGeneration {
    std::uint64_t number = 1;  // as in /status
    std::int64_t time_utc_ns = 0;
    std::string who;
    std::string hash;               // "" when none is made
    std::size_t changes_count = 0;  // from the generation before
    std::shared_ptr<const Settings> settings;
};

/// Generations that are kept in memory, the one in force included: more than a person undoes in one session. The
/// oldest goes first.
inline constexpr std::size_t config_generations_max = 16;

}  // namespace telegate
