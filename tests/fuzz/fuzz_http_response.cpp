// Needs: telegate_device

#include "http/response_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using telegate::http::ResponseReader;
using Status = ResponseReader::Status;

constexpr std::size_t body_bytes_max = 1'000;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

Status read(std::string_view text, std::size_t part, std::string& body) {
    ResponseReader reader(body_bytes_max, body);
    Status status = Status::need_more;
    for (std::size_t at = 0; at < text.size() && status == Status::need_more; at += part) {
        status = reader.feed(text.substr(at, part));
    }
    require(body.size() <= body_bytes_max);
    status = status == Status::need_more ? reader.end() : status;
    require(status != Status::need_more && reader.end() == status && !reader.keeps_alive());
    require(status != Status::complete || (reader.has_head() && reader.head().status >= 101));
    return status;
}

}  // namespace

/// The division of the bytes makes no difference.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const void* const bytes = data;
    const std::string_view text(static_cast<const char*>(bytes), size);
    std::string whole;
    const Status status = read(text, size + 1, whole);
    for (const std::size_t part : {1U, 5U}) {
        std::string body;
        require(read(text, part, body) == status);
        require(status != Status::complete || body == whole);
    }
    return 0;
}
