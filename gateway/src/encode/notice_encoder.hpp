#pragma once

#include "config/payload_format.hpp"
#include "encode/notice.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// Encodes notices as payloads of docs/wire.md.
///
/// Threads: any. Limits: none; a payload has fewer than 512 bytes. Failure: append() may throw std::bad_alloc and then
/// leaves `out` unchanged.
class NoticeEncoder {
  public:
    NoticeEncoder(PayloadFormat format, const NoticeContext& context) noexcept : format_(format), context_(context) {}

    /// Appends to `out`, so that the caller can reuse it.
    void append(const GapNotice& notice, std::string& out) const;
    void append(const BeatNotice& notice, std::string& out) const;

  private:
    PayloadFormat format_;
    NoticeContext context_;
};

/// Reads the payload of a notice. The keys of an object may have any order; unknown keys are ignored. nullopt: not a
/// notice of this kind and format. Threads: any.
[[nodiscard]] std::optional<NoticeFields> read_notice(PayloadFormat format, NoticeKind kind, std::string_view payload);

}  // namespace telegate
