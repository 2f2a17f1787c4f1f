#include "core/telemetry_sample.hpp"

namespace telegate {

std::string_view to_string(Quality quality) noexcept {
    switch (quality) {
        case Quality::good: return "good";
        case Quality::uncertain: return "uncertain";
        case Quality::bad: return "bad";
        case Quality::stale: return "stale";
    }
    return "bad";
}

}  // namespace telegate
