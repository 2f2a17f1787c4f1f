// Needs: gateway/src/state/previous_runs_state.cpp gateway/src/base/json_excerpt.cpp gateway/src/base/strict_json.cpp
// Needs: telegate_store nlohmann_json::nlohmann_json

#include "state/previous_runs_state.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace telegate;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

}  // namespace

/// A state that was read is written so that it is read back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const void* const bytes = data;
    const auto read = read_past_epochs({static_cast<const char*>(bytes), size});
    if (const auto* const fault = std::get_if<std::string>(&read)) {
        require(!fault->empty() && fault->size() < 1'024);
        return 0;
    }
    const std::string text = past_epochs_text(std::get<std::vector<PastEpoch>>(read));
    const auto again = read_past_epochs(text);
    require(std::holds_alternative<std::vector<PastEpoch>>(again));
    require(past_epochs_text(std::get<std::vector<PastEpoch>>(again)) == text);
    return 0;
}
