#pragma once

#include "influxdb/influxdb_options.hpp"
#include "influxdb/response_reader.hpp"
#include "uplink/adapter_module.hpp"
#include "uplink/server_url.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// Returns the head of a request that writes points, up to the value of Content-Length. Throws std::runtime_error if
/// the credentials cannot be used.
[[nodiscard]] std::string write_request_head(const ServerUrl& url, const InfluxdbOptions& options,
                                             const AdapterFile& credentials);

/// Returns a request to a proxy for a connection to the server.
[[nodiscard]] std::string tunnel_request(const ServerUrl& url);

/// Returns the identity of the place where the points are stored, whichever server stores them there.
[[nodiscard]] std::uint64_t store_identity(const ServerUrl& url, const InfluxdbOptions& options);

/// Whether a server has stored the points of a request, and if not, why.
struct WriteResult {
    std::optional<Refusal> refusal;  // nullopt: they are stored
    std::string reason;              // or a warning, if they are stored
};
[[nodiscard]] WriteResult result_of(const HttpResponse& response);

/// Returns the text in the format of gzip. Throws std::bad_alloc.
[[nodiscard]] std::string gzip(std::string_view text);

}  // namespace telegate::uplink
