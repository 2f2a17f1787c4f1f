#include "rest/rest_server.hpp"

#include "gateway/http/echo_server.hpp"
#include "gateway/http/raw_http_client.hpp"
#include "gateway/rest/fake_gateway.hpp"
#include "support/catch.hpp"
#include "support/certificates.hpp"
#include "support/scratch_dir.hpp"

#include <httplib.h>
#include <openssl/ssl.h>

#include <chrono>
#include <cstdio>
#include <list>
#include <memory>
#include <string>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

struct TlsFixture {
    RestCredentialPaths paths(bool with_clients = false) const {
        return {.tokens_file = {},
                .tls = {server_certificate.certificate_path, server_certificate.key_path,
                        with_clients ? authority.certificate_path : std::string()}};
    }
    void start(RestCredentialPaths credentials) {
        rest = std::make_unique<RestServer>(RestOptions{.port = 0, .credentials = std::move(credentials)},
                                            gateway.handlers());
        rest->start();
    }
    /// A client that trusts our CA, with or without its own certificate.
    std::unique_ptr<httplib::SSLClient> connect(const Certificate* own = nullptr) const {
        const int port = port_of(rest->address());
        auto client = own == nullptr ? std::make_unique<httplib::SSLClient>("127.0.0.1", port)
                                     : std::make_unique<httplib::SSLClient>("127.0.0.1", port, own->certificate_path,
                                                                            own->key_path);
        client->set_ca_cert_path(authority.certificate_path.c_str());
        // of the name; the certificates are not issued for 127.0.0.1
        client->enable_server_certificate_verification(false);
        client->set_keep_alive(true);
        return client;
    }

    ScratchDir folder;
    const Certificate authority{folder, "authority"};
    const Certificate server_certificate{folder, "gateway", &authority};
    const Certificate operator_certificate{folder, "operator", &authority};
    const Certificate stranger{folder, "stranger"};
    FakeGateway gateway;
    std::unique_ptr<RestServer> rest;
};

int status_of_answer(const httplib::Result& answer) {
    return answer ? answer->status : 0;
}

}  // namespace

TEST_CASE("with a certificate the server accepts only TLS", "[gateway][rest][tls]") {
    TlsFixture tls;
    tls.start(tls.paths());
    CHECK(tls.rest->urls() == std::vector<std::string>{"https://" + tls.rest->address()});
    const auto client = tls.connect();
    CHECK(status_of_answer(client->Get("/status")) == 200);
    CHECK(status_of_answer(client->Post("/start", "", "text/plain")) == 200);
    CHECK(status_of_answer(client->Get("/samples/latest?prefix=%20")) == 200);
    CHECK(status_of_answer(httplib::Client("127.0.0.1", port_of(tls.rest->address())).Get("/status")) == 0);
}

TEST_CASE("a large body is sent completely over TLS", "[gateway][rest][tls]") {
    TlsFixture tls;
    tls.start(tls.paths());
    const std::string body(RestServer::body_bytes_max, 'x');
    const auto client = tls.connect();
    CHECK(status_of_answer(client->Post("/start", body, "text/plain")) == 200);
    CHECK(status_of_answer(client->Post("/start", body + 'x', "text/plain")) == 413);
}

TEST_CASE("only a client with a certificate of the CA is accepted", "[gateway][rest][tls]") {
    TlsFixture tls;
    tls.start(tls.paths(true));
    CHECK(status_of_answer(tls.connect(&tls.operator_certificate)->Post("/start", "", "text/plain")) == 200);
    CHECK(status_of_answer(tls.connect(&tls.stranger)->Get("/status")) == 0);
    CHECK(status_of_answer(tls.connect()->Get("/status")) == 0);
}

TEST_CASE("with tokens too, either a certificate or a token is sufficient", "[gateway][rest][tls]") {
    TlsFixture tls;
    RestCredentialPaths paths = tls.paths(true);
    paths.tokens_file = write_private(tls.folder, "tokens", "reader someone a-token-of-someone\n");
    tls.start(paths);
    CHECK(status_of_answer(tls.connect(&tls.operator_certificate)->Get("/status")) == 200);
    CHECK(status_of_answer(tls.connect()->Get("/status")) == 401);
    CHECK(status_of_answer(tls.connect()->Get("/status", {{"Authorization", "Bearer a-token-of-someone"}})) == 200);
    CHECK(status_of_answer(tls.connect(&tls.stranger)->Get("/status")) == 0);
}

TEST_CASE("the name in a certificate is logged", "[gateway][rest][tls]") {
    TlsFixture tls;
    std::string who;
    RestHandlers handlers = tls.gateway.handlers();
    handlers.log_change = [&who](const LogLine& line) {
        who = line.text();
    };
    tls.rest = std::make_unique<RestServer>(RestOptions{.port = 0, .credentials = tls.paths(true)}, handlers);
    tls.rest->start();
    REQUIRE(status_of_answer(tls.connect(&tls.operator_certificate)->Post("/start", "", "text/plain")) == 200);
    tls.rest->stop();
    CHECK(who == "rest change by=\"cn=operator\" method=POST path=/start result=200 command=start devices=2");
}

TEST_CASE("a new certificate is used for new connections, and open ones are kept", "[gateway][rest][tls]") {
    TlsFixture tls;
    tls.start(tls.paths());
    const auto open = tls.connect();
    REQUIRE(status_of_answer(open->Get("/status")) == 200);
    const Certificate renewed(tls.folder, "gateway", &tls.authority);  // the same files
    tls.rest->reload_credentials();
    CHECK(status_of_answer(open->Get("/status")) == 200);
    CHECK(status_of_answer(tls.connect()->Get("/status")) == 200);
}

TEST_CASE("a key that does not match the certificate changes nothing and is reported", "[gateway][rest][tls]") {
    TlsFixture tls;
    tls.start(tls.paths());
    std::filesystem::copy_file(tls.stranger.key_path, tls.server_certificate.key_path,
                               std::filesystem::copy_options::overwrite_existing);
    CHECK_THROWS_WITH(tls.rest->reload_credentials(), Catch::StartsWith(tls.server_certificate.key_path));
    CHECK(status_of_answer(tls.connect()->Get("/status")) == 200);
}

TEST_CASE("a key that all users can read is refused", "[gateway][rest][tls]") {
    TlsFixture tls;
    REQUIRE(::chmod(tls.server_certificate.key_path.c_str(), 0644) == 0);
    CHECK_THROWS_WITH(tls.start(tls.paths()), Catch::Contains("chmod o= " + tls.server_certificate.key_path));
}

TEST_CASE("a key with a password is refused, and not requested at the terminal", "[gateway][rest][tls]") {
    TlsFixture tls;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(tls.server_certificate.key_path.c_str(), "w"),
                                                               &std::fclose);
    const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(::EVP_EC_gen("P-256"), &::EVP_PKEY_free);
    std::string password = "secret";
    REQUIRE(::PEM_write_PrivateKey(file.get(), key.get(), ::EVP_aes_256_cbc(), nullptr, 0, nullptr, password.data()) ==
            1);
    REQUIRE(std::fflush(file.get()) == 0);
    CHECK_THROWS_WITH(tls.start(tls.paths()),
                      Catch::StartsWith(tls.server_certificate.key_path) && Catch::Contains("has a password"));
}

TEST_CASE("TLS older than 1.2 is refused", "[gateway][rest][tls]") {
    TlsFixture tls;
    tls.start(tls.paths());
    const auto client = tls.connect();
    ::SSL_CTX_set_max_proto_version(client->ssl_context(), TLS1_1_VERSION);
    ::SSL_CTX_set_security_level(client->ssl_context(), 0);
    CHECK(status_of_answer(client->Get("/status")) == 0);
    const auto newer = tls.connect();
    ::SSL_CTX_set_max_proto_version(newer->ssl_context(), TLS1_2_VERSION);
    CHECK(status_of_answer(newer->Get("/status")) == 200);
}

TEST_CASE("handshakes that stop half way, and invalid data, block no other client", "[gateway][rest][tls]") {
    TlsFixture tls;
    tls.start(tls.paths());
    std::list<RawHttpClient> others;
    for (int client = 0; client < 20; ++client) {
        others.emplace_back(tls.rest->address());
        others.emplace_back(tls.rest->address()).send("\x16\x03\x01\x02");
        others.emplace_back(tls.rest->address()).send("GET / HTTP/1.1\r\n\r\n");
    }
    const auto begin = std::chrono::steady_clock::now();
    CHECK(status_of_answer(tls.connect()->Get("/status")) == 200);
    CHECK(std::chrono::steady_clock::now() - begin < 4s);  // each of the others has 5 s
}
