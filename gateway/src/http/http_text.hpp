#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace telegate {

/// Decodes percent-encoding; invalid escapes stay as they are. In a query, a plus sign becomes a space. Threads: any.
[[nodiscard]] std::string percent_decoded(std::string_view text, bool is_query);

/// Returns whether `host`, a numeric address or "localhost", reaches this machine only.
[[nodiscard]] bool is_loopback(const std::string& host);

/// Returns whether `host` ("HOST" or "HOST:PORT") is localhost or a numeric address, so no DNS name is involved.
[[nodiscard]] bool is_local_name(std::string_view host);

/// Returns the index of the media type in `given` that a client with this Accept field prefers, the first one among
/// equals; nullopt if it accepts none. An empty field accepts anything. Types are written as in Content-Type; of their
/// parameters only `version` is compared, and only if the client names one too. Threads: any.
[[nodiscard]] std::optional<std::size_t> preferred_type(std::string_view accept,
                                                        std::span<const std::string_view> given) noexcept;

/// Returns whether a Content-Type field names this type, ignoring its parameters. Threads: any.
[[nodiscard]] bool is_media_type(std::string_view content_type, std::string_view type) noexcept;

}  // namespace telegate
