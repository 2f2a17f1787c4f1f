#pragma once

#include "encode/notice.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

// Notices as JSON objects and CBOR maps with the same keys. Threads: any. Limits: notice_bytes_max. Failure: may throw
// std::bad_alloc.

/// More than the longest notice of a gateway.
inline constexpr std::size_t notice_bytes_max = 512;

struct JsonNotices {
    static void append(const NoticeContext& context, const GapNotice& notice, std::string& out);
    static void append(const NoticeContext& context, const BeatNotice& notice, std::string& out);
    /// See read_notice().
    [[nodiscard]] static std::optional<NoticeFields> read(NoticeKind kind, std::string_view payload);
};

struct CborNotices {
    static void append(const NoticeContext& context, const GapNotice& notice, std::string& out);
    static void append(const NoticeContext& context, const BeatNotice& notice, std::string& out);
    [[nodiscard]] static std::optional<NoticeFields> read(NoticeKind kind, std::string_view payload);
};

}  // namespace telegate
