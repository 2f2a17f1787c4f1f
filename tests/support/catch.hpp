#pragma once

// Includes Catch2 2.13 (Debian 12) or 3, whichever is installed. Names of version 2 that have moved are defined.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

#include <string>

namespace Catch {
using Matchers::EndsWith;
using Matchers::StartsWith;
inline auto Contains(const std::string& part) {
    return Matchers::ContainsSubstring(part);
}
}  // namespace Catch
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
