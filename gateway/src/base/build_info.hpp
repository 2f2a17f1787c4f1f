#pragma once

#include <string_view>

/// How this program was built, as shown in `/status` and `/metrics`.
namespace telegate::build_info {

inline constexpr std::string_view version = TELEGATE_VERSION;
inline constexpr std::string_view type = TELEGATE_BUILD_TYPE;
#ifdef __clang__
inline constexpr std::string_view compiler = "clang " __clang_version__;
#else
inline constexpr std::string_view compiler = "gcc " __VERSION__;
#endif

}  // namespace telegate::build_info
