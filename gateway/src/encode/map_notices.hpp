#pragma once

#include "encode/notice.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace telegate {

// Notices as JSON objects and CBOR maps with the same keys. Threads: any. Limits: none; a payload has fewer than 512
// bytes. Failure: append() may throw std::bad_alloc.

struct JsonNotices {
    static void append(const NoticeContext& context, const GapNotice& notice, std::string& out);
    static void append(const NoticeContext& context, const BeatNotice& notice, std::string& out);
    /// See read_notice() and read_seqs().
    [[nodiscard]] static std::optional<NoticeFields> read(NoticeKind kind, std::string_view payload) noexcept;
    [[nodiscard]] static std::optional<SeqRange> read_seqs(std::string_view payload) noexcept;
};

struct CborNotices {
    static void append(const NoticeContext& context, const GapNotice& notice, std::string& out);
    static void append(const NoticeContext& context, const BeatNotice& notice, std::string& out);
    [[nodiscard]] static std::optional<NoticeFields> read(NoticeKind kind, std::string_view payload) noexcept;
    [[nodiscard]] static std::optional<SeqRange> read_seqs(std::string_view payload) noexcept;
};

}  // namespace telegate
