#include "http/http_socket.hpp"

#include "http/stream_socket.hpp"

#include <boost/asio/post.hpp>

namespace telegate {
namespace {

class PlainSocket final : public HttpSocket {
  public:
    PlainSocket(boost::asio::io_context& io, UniqueFd descriptor) : socket_(stream_socket(io, std::move(descriptor))) {}

    void open(HttpDone done) override { post(std::move(done)); }
    void receive(std::span<char> bytes, HttpDone done) override {
        socket_.async_read_some(boost::asio::buffer(bytes.data(), bytes.size()), handler_of(std::move(done)));
    }
    void send(std::string_view first, std::string_view second, HttpDone done) override {
        socket_.async_write_some(buffers_of(first, second), handler_of(std::move(done)));
    }
    void end(HttpDone done) override {
        boost::system::error_code ignored;
        socket_.shutdown(StreamSocket::shutdown_send, ignored);
        post(std::move(done));
    }
    void close() noexcept override {
        boost::system::error_code ignored;
        socket_.close(ignored);
    }

  private:
    void post(HttpDone done) {
        boost::asio::post(socket_.get_executor(), [done = std::move(done)] { done(true); });
    }

    StreamSocket socket_;
};

}  // namespace

std::unique_ptr<HttpSocket> make_plain_socket(boost::asio::io_context& io, UniqueFd descriptor) {
    return std::make_unique<PlainSocket>(io, std::move(descriptor));
}

}  // namespace telegate
