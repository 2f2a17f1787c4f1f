#pragma once

#include "config/setting_row.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace telegate::rules {

/// Rules that several sections or drivers share.
inline constexpr WholeRule interval_ms{.min = 1, .max = 3'600'000};
inline constexpr RealRule probability{.min = 0.0, .max = 1.0};
inline constexpr RealRule level{.min = -1e9, .max = 1e9};
inline constexpr TextRule directory{.holds = Holds::path, .prefixes = {}, .allowed = "the path of a directory"};
inline constexpr TextRule optional_directory{
    .holds = Holds::path, .prefixes = {}, .allowed = "the path of a directory, or empty", .may_be_empty = true};
inline constexpr TextRule file{
    .holds = Holds::path, .prefixes = {}, .allowed = "the path of a file, or empty", .may_be_empty = true};
inline constexpr TextRule credential{.holds = Holds::path,
                                     .prefixes = {},
                                     .allowed = "the path of a file, credential:NAME, or empty",
                                     .may_be_empty = true};
inline constexpr TextRule clients{.holds = Holds::path,
                                  .prefixes = {},
                                  .allowed = "the path of a directory, * for any client, or empty",
                                  .may_be_empty = true};
inline constexpr std::array<std::string_view, 2> endpoint_schemes{"tcp://", "ipc://"};
inline constexpr TextRule endpoint{.holds = Holds::listener,
                                   .prefixes = endpoint_schemes,
                                   .allowed = "tcp://ADDRESS:PORT or ipc://PATH",
                                   .path_prefix = "ipc://"};

/// Larger whole numbers are not exact in JSON readers that use doubles.
inline constexpr std::int64_t whole_number_max = 9'007'199'254'740'992;

/// The names of choices whose enumerators are in other modules. gateway/src/plan adds the enumerators, in this order.
inline constexpr std::array<std::string_view, 3> overflow_policies{"drop_oldest", "drop_newest", "block"};
inline constexpr std::array<std::string_view, 5> slow_policies{"drop_oldest", "drop_newest", "disconnect", "block",
                                                               "conflate"};
inline constexpr std::array<std::string_view, 2> log_formats{"text", "json"};
inline constexpr std::array<std::string_view, 2> uplink_orders{"strict", "live_first"};

}  // namespace telegate::rules
