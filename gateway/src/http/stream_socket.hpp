#pragma once

#include "core/unique_fd.hpp"
#include "http/http_socket.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace telegate {

/// A connected TCP or Unix socket. Included only by the sources of sockets, because Asio's headers are slow to compile.
using StreamSocket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol,  //
                                                      boost::asio::io_context::executor_type>;

/// Takes ownership of a connected socket.
inline StreamSocket stream_socket(boost::asio::io_context& io, UniqueFd descriptor) {
    StreamSocket socket(io, boost::asio::generic::stream_protocol(AF_UNSPEC, 0), descriptor.get());
    (void)descriptor.release();
    return socket;
}

/// Returns an Asio completion handler that calls `done`.
inline auto handler_of(HttpDone done) {
    return [done = std::move(done)](const boost::system::error_code& error, std::size_t bytes = 0) {
        done(!error, bytes);
    };
}

inline std::array<boost::asio::const_buffer, 2> buffers_of(std::string_view first, std::string_view second) {
    return {boost::asio::buffer(first), boost::asio::buffer(second)};
}

}  // namespace telegate
