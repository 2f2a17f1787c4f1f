#pragma once

#include "config/payload_format.hpp"
#include "encode/notice.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// Turns notices into payloads of docs/wire.md: what a subscriber is told besides samples.
///
/// Threads: any. Limits: none, a payload takes less than 512 bytes. Failure: append() may throw std::bad_alloc, and
///          leaves `out` as it was then.
class NoticeEncoder {
  public:
    NoticeEncoder(PayloadFormat format, const NoticeContext& context) noexcept : format_(format), context_(context) {}

    /// Appends to `out`, which the caller reuses.
    void append(const GapNotice& notice, std::string& out) const;
    void append(const BeatNotice& notice, std::string& out) const;

  private:
    PayloadFormat format_;
    NoticeContext context_;
};

/// Reads from a payload of ours which samples it is about. `is_gap`: it is a notice. nullopt for what we never publish.
[[nodiscard]] std::optional<SeqRange> read_seqs(PayloadFormat format, std::string_view payload, bool is_gap);

}  // namespace telegate
