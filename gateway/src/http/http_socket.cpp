#include "http/http_socket.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace telegate {
namespace {

class PlainSocket final : public HttpSocket {
  public:
    PlainSocket(boost::asio::io_context& io, UniqueFd descriptor) : socket_(stream_socket(io, std::move(descriptor))) {}

    void open(HttpDone done) override { boost::asio::post(socket_.get_executor(), std::move(done)); }
    void receive(std::span<char> bytes, HttpDone done) override {
        socket_.async_read_some(boost::asio::buffer(bytes.data(), bytes.size()), std::move(done));
    }
    void send(const HttpBuffers& bytes, HttpDone done) override { socket_.async_write_some(bytes, std::move(done)); }
    void end(HttpDone done) override {
        boost::system::error_code ignored;
        socket_.shutdown(StreamSocket::shutdown_send, ignored);
        boost::asio::post(socket_.get_executor(), std::move(done));
    }
    void close() noexcept override {
        boost::system::error_code ignored;
        socket_.close(ignored);
    }

  private:
    StreamSocket socket_;
};

}  // namespace

StreamSocket stream_socket(boost::asio::io_context& io, UniqueFd descriptor) {
    StreamSocket socket(io, boost::asio::generic::stream_protocol(AF_UNSPEC, 0), descriptor.get());
    (void)descriptor.release();
    return socket;
}

std::unique_ptr<HttpSocket> make_plain_socket(boost::asio::io_context& io, UniqueFd descriptor) {
    return std::make_unique<PlainSocket>(io, std::move(descriptor));
}

}  // namespace telegate
