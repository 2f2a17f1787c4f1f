#include "influxdb/write_request.hpp"

#include "core/text.hpp"

#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <vector>

namespace telegate::uplink {
namespace {

constexpr std::size_t credentials_bytes_max = 8'192;

std::string percent_encoded(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                              std::string_view("-._~").find(c) != std::string_view::npos;
        if (is_plain) {
            out += c;
        } else {
            out += '%';
            append_hex(out, static_cast<unsigned char>(c));
        }
    }
    return out;
}

std::string base64(const std::string& text) {
    std::vector<unsigned char> out(text.size() / 3 * 4 + 5);
    const int size = ::EVP_EncodeBlock(out.data(), reinterpret_cast<const unsigned char*>(text.data()),
                                       static_cast<int>(text.size()));
    return {reinterpret_cast<const char*>(out.data()), static_cast<std::size_t>(size)};
}

/// Returns the value of the header Authorization. The file has a token, or a user name and a password.
std::string authorization(const AdapterFile& file, const InfluxdbOptions& options) {
    const std::string text(trimmed(file.content, " \t\r\n"));
    const bool is_text = std::all_of(
        text.begin(), text.end(), [](char each) { return static_cast<unsigned char>(each) >= 0x20 && each != 0x7F; });
    if (text.empty() || !is_text || text.size() > credentials_bytes_max) {
        throw std::runtime_error("invalid credentials in " + file.path +
                                 ": must be a token, or a user name, a blank and a password");
    }
    const std::size_t blank = text.find(' ');
    if (blank != std::string::npos) {
        return "Basic " + base64(text.substr(0, blank) + ':' + std::string(trimmed(text.substr(blank))));
    }
    return (options.bucket.empty() ? "Bearer " : "Token ") + text;
}

std::string authority(const ServerUrl& url) {
    return (url.host.find(':') == std::string::npos ? url.host : '[' + url.host + ']') + ':' + url.port;
}

std::string target(const ServerUrl& url, const InfluxdbOptions& options) {
    if (!options.bucket.empty()) {
        return url.path + "/api/v2/write?bucket=" + percent_encoded(options.bucket) +
               (options.org.empty() ? "" : "&org=" + percent_encoded(options.org)) + "&precision=ns";
    }
    return url.path + "/write?" + (options.database.empty() ? "" : "db=" + percent_encoded(options.database) + '&') +
           "precision=ns";
}

Refusal refusal_of(unsigned status) noexcept {
    switch (status) {
        case 400:
        case 422: return Refusal::permanent;
        case 413: return Refusal::too_large;
        default: return Refusal::transient;
    }
}

}  // namespace

std::string write_request_head(const ServerUrl& url, const InfluxdbOptions& options, const AdapterFile& credentials) {
    // A proxy needs the whole URL, unless it passes on an encrypted connection.
    const std::string server = options.proxy.empty() || url.has_tls ? "" : "http://" + authority(url);
    std::string head = "POST " + server + target(url, options) + " HTTP/1.1\r\nHost: " + authority(url) +
                       "\r\nUser-Agent: telegate/" TELEGATE_MODULE_VERSION
                       "\r\nContent-Type: text/plain; charset=utf-8\r\n";
    if (!credentials.path.empty()) {
        head += "Authorization: " + authorization(credentials, options) + "\r\n";
    }
    if (options.compression == InfluxdbOptions::Compression::gzip) {
        head += "Content-Encoding: gzip\r\n";
    }
    return head + "Content-Length: ";
}

std::string tunnel_request(const ServerUrl& url) {
    return "CONNECT " + authority(url) + " HTTP/1.1\r\nHost: " + authority(url) + "\r\n\r\n";
}

std::uint64_t store_identity(const ServerUrl& url, const InfluxdbOptions& options) {
    return digest_of("influxdb " + target(url, options));
}

WriteResult result_of(const HttpResponse& response) {
    if (response.status >= 200 && response.status < 300) {
        return {};
    }
    const std::string status = std::to_string(response.status) + ' ' + response.reason;
    if (response.status < 400) {
        const std::string_view location = response.location;  // its query may contain secrets
        return {Refusal::transient, status + ": redirects are not followed; the server names " +
                                        std::string(location.substr(0, location.find_first_of("?#")))};
    }
    if (response.status == 400 && response.error.find("points beyond retention policy") != std::string::npos) {
        return {std::nullopt, "the database drops points that are older than its retention policy: " + response.error};
    }
    return {refusal_of(response.status), status + (response.error.empty() ? "" : ": " + response.error)};
}

std::string gzip(std::string_view text) {
    constexpr int level = 1;              // 9 times smaller; higher levels cost more time than they save
    constexpr int gzip_window = 15 + 16;  // the largest window, in the format of gzip
    constexpr int memory_level = 8;       // of zlib's default
    z_stream stream{};
    if (::deflateInit2(&stream, level, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
        throw std::bad_alloc();
    }
    std::string out(::deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<const Bytef*>(text.data());
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    (void)::deflate(&stream, Z_FINISH);  // cannot fail: there is memory for all of it
    out.resize(stream.total_out);
    ::deflateEnd(&stream);
    return out;
}

}  // namespace telegate::uplink
