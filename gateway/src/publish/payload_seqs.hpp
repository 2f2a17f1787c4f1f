#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace telegate {

/// Which samples of its channel a published message holds, or, for a notice of a gap, says are missing.
struct SeqRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

enum class PayloadFormat : std::uint8_t;

/// Reads the range from a payload of ours. `is_gap`: it is a notice. nullopt for what we never publish.
[[nodiscard]] std::optional<SeqRange> read_seqs(PayloadFormat format, std::string_view payload, bool is_gap);

}  // namespace telegate
