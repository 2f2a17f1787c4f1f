#include "reason.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace telegate::tail {
namespace {

constexpr std::array<std::string_view, reasons> reason_words = {"queue_overflow", "shutdown", "slow",      "expired",
                                                                "not_retained",   "dropped",  "no_answer", "not_asked",
                                                                "unknown_epoch",  "ended",    "other"};

}  // namespace

std::string_view to_string(Reason reason) noexcept {
    return reason_words[static_cast<std::size_t>(reason)];
}

Reason parse_reason(std::string_view text) noexcept {
    const auto* const found = std::find(reason_words.begin(), reason_words.end() - 1, text);
    return static_cast<Reason>(found - reason_words.begin());
}

}  // namespace telegate::tail
