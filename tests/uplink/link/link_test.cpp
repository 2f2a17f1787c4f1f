#include "link/link.hpp"

#include "core/reactor.hpp"
#include "support/catch.hpp"
#include "support/certificates.hpp"
#include "support/eventually.hpp"
#include "support/raw_listener.hpp"
#include "support/scratch_dir.hpp"
#include "uplink/reactor_loop.hpp"

#include <openssl/ssl.h>

#include <array>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::uplink {
namespace {

AdapterFile file_of(const std::string& path) {
    std::ifstream file(path);
    return {path, {std::istreambuf_iterator<char>(file), {}}};
}

/// The server's side of TLS. It requires a certificate of the client.
class TlsServer {
  public:
    TlsServer(const test::Certificate& own, const test::Certificate& authority) {
        ::SSL_CTX_set_min_proto_version(context_.get(), TLS1_3_VERSION);
        REQUIRE(::SSL_CTX_use_certificate_file(context_.get(), own.certificate_path.c_str(), SSL_FILETYPE_PEM) == 1);
        REQUIRE(::SSL_CTX_use_PrivateKey_file(context_.get(), own.key_path.c_str(), SSL_FILETYPE_PEM) == 1);
        REQUIRE(::SSL_CTX_load_verify_locations(context_.get(), authority.certificate_path.c_str(), nullptr) == 1);
        ::SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
        ssl_.reset(::SSL_new(context_.get()));
        ::SSL_set_bio(ssl_.get(), in_, out_);
        ::SSL_set_accept_state(ssl_.get());
    }
    /// Continues the handshake, and returns what to send.
    std::string receive(std::string_view bytes) {
        ::BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
        ::SSL_do_handshake(ssl_.get());
        return take_output();
    }
    /// Returns a message that requests another one.
    std::string request_key() {
        REQUIRE(::SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED) == 1);
        REQUIRE(::SSL_do_handshake(ssl_.get()) == 1);
        return take_output();
    }
    /// Returns the last message and the end of the session.
    std::string say_and_close(std::string_view text) {
        REQUIRE(::SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) > 0);
        ::SSL_shutdown(ssl_.get());
        return take_output();
    }
    [[nodiscard]] bool is_established() const { return ::SSL_is_init_finished(ssl_.get()) == 1; }

  private:
    std::string take_output() {
        std::array<char, 16'384> buffer{};
        const int bytes = ::BIO_read(out_, buffer.data(), static_cast<int>(buffer.size()));
        return {buffer.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
    }

    std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)> context_{::SSL_CTX_new(::TLS_server_method()), &::SSL_CTX_free};
    BIO* in_ = ::BIO_new(::BIO_s_mem());  // owned by ssl_, like the next one
    BIO* out_ = ::BIO_new(::BIO_s_mem());
    std::unique_ptr<SSL, decltype(&::SSL_free)> ssl_{nullptr, &::SSL_free};
};

/// A link to a server with TLS, after the handshake.
struct SecureLink {
    SecureLink() {
        link.open("127.0.0.1", std::to_string(listener.endpoint().port));
        REQUIRE(test::eventually([&] {
            reactor.poll();
            if (auto accepted = listener.accept()) {
                peer.emplace(std::move(*accepted));
            }
            return is_open && peer;
        }));
        link.secure({.tls_ca = file_of(authority.certificate_path),
                     .tls_certificate = file_of(client.certificate_path),
                     .tls_key = file_of(client.key_path)},
                    "server");
        std::size_t handled = 0;
        REQUIRE(test::eventually([&] {
            reactor.poll();
            const std::string& all = peer->read();
            peer->send(server.receive(std::string_view(all).substr(handled)));
            handled = all.size();
            return is_secure && server.is_established();
        }));
    }

    const test::ScratchDir folder;
    const test::Certificate authority{folder, "authority"};
    const test::Certificate own{folder, "server", &authority};
    const test::Certificate client{folder, "client", &authority};
    TlsServer server{own, authority};
    test::RawListener listener;
    std::optional<test::RawPeer> peer;
    Reactor reactor;
    ReactorLoop loop{reactor};
    bool is_open = false;
    bool is_secure = false;
    std::string received;
    std::string ended;
    Link::End end = Link::End::failed;
    Link link{loop,
              {.opened = [this] { is_open = true; },
               .secured = [this] { is_secure = true; },
               .received = [this](std::string_view bytes) { received += bytes; },
               .ended =
                   [this](const std::string& reason, Link::End kind) {
                       ended = reason;
                       end = kind;
                   }}};
};

}  // namespace

TEST_CASE("a server that requests new TLS keys and does not read the responses is disconnected", "[uplink][nats]") {
    SecureLink secure;
    secure.link.write(std::string(32'000'000, 'x'));  // more than the kernel buffers
    for (int i = 0; i < 10'000 && secure.ended.empty(); ++i) {
        secure.peer->send(secure.server.request_key());
        secure.reactor.poll();
    }
    CHECK(secure.ended == "the server does not read the responses to its TLS messages");
}

TEST_CASE("the last message of a server that closes the connection is received over TLS too", "[uplink][nats]") {
    SecureLink secure;
    const std::string text = "-ERR 'Authorization Violation'\r\n";
    secure.peer->send(secure.server.say_and_close(text));
    CHECK(test::eventually([&] {
        secure.reactor.poll();
        return !secure.ended.empty();
    }));
    CHECK(secure.received == text);
    CHECK(secure.ended == "the server closed the connection");
    CHECK(secure.end == Link::End::closed);
}

}  // namespace telegate::uplink
