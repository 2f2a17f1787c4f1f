#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

struct HttpField {
    std::string_view name;
    std::string_view value;  // without the blanks around it
};

/// What the head of a request says. The texts are parts of the bytes that were read.
struct HttpHead {
    std::string_view method;
    std::string_view target;        // "/path?query" or "*"; of an absolute target what follows the authority
    std::string_view host;          // of an absolute target, otherwise of the field Host; "" in HTTP/1.0 without one
    std::vector<HttpField> fields;  // in order
    std::uint64_t body_bytes = 0;
    bool http_1_0 = false;
    bool keep_alive = true;
    bool expects_continue = false;

    /// The first field of this name, in any case; nullptr when there is none.
    [[nodiscard]] const HttpField* find(std::string_view name) const noexcept;
};

/// Why a head is refused; the connection must close, since nobody can tell where the next request begins.
struct HeadFault {
    int status = 0;  // 0: none
    std::string_view why = {};
};

constexpr std::size_t fields_max = 100;  // browsers send about twenty

/// Reads a whole head: request line, fields and the empty line. Strictly, so that no proxy in front of the gateway can
/// see another request in the same bytes: no field is continued on the next line, and there is one Host, one
/// Content-Length at most, and no Transfer-Encoding.
///
/// Threads: any, each with a `head` of its own, whose memory is used again.
/// Limits:  fields_max; the caller bounds the bytes.
/// Failure: as the result says; `head` then holds what had been read.
[[nodiscard]] HeadFault read_head(std::string_view bytes, HttpHead& head);

/// Whether two names are the same but for the case of ASCII letters.
[[nodiscard]] bool same_name(std::string_view one, std::string_view other) noexcept;

/// Decodes percent-encoding; what is not percent-encoding stands for itself. In a query, a plus sign is a space.
[[nodiscard]] std::string percent_decoded(std::string_view text, bool is_query);

}  // namespace telegate
