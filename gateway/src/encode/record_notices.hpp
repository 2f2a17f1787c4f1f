#pragma once

#include "encode/notice.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// Notices as records with their own types. Threads: any. Limits: none. Failure: append() may throw std::bad_alloc.
struct RecordNotices {
    static void append(const NoticeContext& context, const GapNotice& notice, std::string& out);
    static void append(const NoticeContext& context, const BeatNotice& notice, std::string& out);
    /// See read_notice().
    [[nodiscard]] static std::optional<NoticeFields> read(NoticeKind kind, std::string_view payload);
};

}  // namespace telegate
