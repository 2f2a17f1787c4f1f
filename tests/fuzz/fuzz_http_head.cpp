// Needs: gateway/src/http/http_head.cpp gateway/src/http/http_text.cpp

#include "core/text.hpp"
#include "http/http_head.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using namespace telegate;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < ' ' && byte != '\t') || byte == 0x7f;
    });
}

/// An accepted head can be interpreted in only one way.
void require_plain(const HttpHead& head) {
    require(!head.method.empty() && !has_control(head.method));
    require(!has_control(head.target) && head.target.find(' ') == std::string_view::npos);
    require(head.target.starts_with('/') || head.target == "*");
    std::size_t fields = 0;
    std::size_t lengths = 0;
    for (const auto& field : head.message) {
        const std::string_view name(field.name_string().data(), field.name_string().size());
        require(!name.empty() && !has_control(name) && !has_control({field.value().data(), field.value().size()}));
        require(name.find_first_of(" \t:") == std::string_view::npos);
        require(!equal_ignoring_case(name, "transfer-encoding"));
        lengths += equal_ignoring_case(name, "content-length") ? 1U : 0U;
        ++fields;
    }
    require(fields <= fields_max);
    require(lengths <= 1);
    require(lengths == 1 || head.body_bytes == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static HttpHead head;  // reused, as in the server
    const void* const bytes = data;
    if (read_head({static_cast<const char*>(bytes), size}, head).status == 0) {
        require_plain(head);
    }
    return 0;
}
