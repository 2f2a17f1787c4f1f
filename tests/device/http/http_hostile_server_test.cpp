#include "http_bench.hpp"
#include "support/certificates.hpp"
#include "support/eventually.hpp"

#include <httplib.h>

#include <chrono>
#include <thread>

namespace telegate::test {
namespace {

using Catch::Contains;
using std::chrono::milliseconds;
using Status = ReadResult::Status;

TEST_CASE("an invalid response is a failed reading with the reason", "[device][http]") {
    struct Case {
        std::string answer;
        std::string what;
    };
    const auto [answer, what] = GENERATE(values<Case>({
        {http_answer("sorry", "", "404 Not Found"), ": response status 404 Not Found"},
        {http_answer("", "", "503 Service Unavailable"), ": response status 503 Service Unavailable"},
        {"HTTP/1.1 204 No Content\r\n\r\n", ": the response is not a JSON object or array, or nested too deeply"},
        {http_answer("{}", "Content-Encoding: gzip\r\n"), ": unsupported Content-Encoding: gzip; must be none"},
        {http_answer("<html>"), ": the response is not a JSON object or array, or nested too deeply"},
        {http_answer("7"), ": the response is not a JSON object or array, or nested too deeply"},
        {http_answer(std::string(2'000, ' ')), ": the response is longer than response_bytes_max, 1024 bytes"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
         ": the response is longer than response_bytes_max, 1024 bytes"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n" + std::string(2'048, ' ') + "\r\n0\r\n\r\n",
         ": the response is longer than response_bytes_max, 1024 bytes"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", ": the response ended early or is not HTTP"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", ": the response ended early or is not HTTP"},
        {"HTTP/1.1 200 OK\r\n" + std::string(20'000, 'x'), ": the response ended early or is not HTTP"},
        {"SSH-2.0-OpenSSH_9.2\r\n", ": the response ended early or is not HTTP"},
        {"", ": the response ended early or is not HTTP"},
    }));
    CAPTURE(answer.substr(0, 80));
    HttpPeer peer;
    peer.answer(answer, true);
    HttpDriverOptions options = peer.options();
    options.response_bytes_max = 1'024;
    DriverBench bench(make_http_driver(options));
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.what == options.url + what);

    peer.answer(http_answer("{\"a\":1}"));
    CHECK(bench.reads_ok());
}

TEST_CASE("a reading fails if the response takes longer than the timeout", "[device][http]") {
    const std::string answer = GENERATE("", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{",
                                        "HTTP/1.1 100 Continue\r\n\r\n");
    CAPTURE(answer);
    HttpPeer peer;
    peer.answer(answer);
    HttpDriverOptions options = peer.options();
    options.timeout = milliseconds(30);
    DriverBench bench(make_http_driver(options));
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.what == options.url + ": no complete response within 30 ms");
}

TEST_CASE("a slow response does not extend the timeout", "[device][http]") {
    const Listener listener;
    PeerThread peer;
    peer.accept_on(
        listener.descriptor(), [](int) { return true; },
        [](int descriptor) {  // sends single bytes until the client closes
            for (const char byte : "HTTP/1.1 200 OK\r\nX: " + std::string(7'000, 'x')) {
                if (::send(descriptor, &byte, 1, MSG_NOSIGNAL) != 1) {
                    return false;
                }
                ::poll(nullptr, 0, 1);
            }
            return false;
        });
    HttpDriverOptions options;
    options.url = "http://127.0.0.1:" + std::to_string(listener.port()) + '/';
    options.timeout = milliseconds(100);
    DriverBench bench(make_http_driver(options));
    const auto begin = std::chrono::steady_clock::now();
    CHECK(bench.read().status == Status::failed);
    CHECK(std::chrono::steady_clock::now() - begin >= milliseconds(100));
    CHECK(bench.what == options.url + ": no complete response within 100 ms");
}

TEST_CASE("the cancel signal ends a request", "[device][http]") {
    HttpPeer peer;
    peer.answer("");
    DriverBench bench(make_http_driver(peer.options()));
    std::thread canceller([&] {
        (void)eventually([&] { return !peer.last_request().empty(); });
        bench.cancel.set();
    });
    CHECK(bench.read().status == Status::interrupted);
    canceller.join();
    CHECK(bench.samples().empty());
    bench.cancel.clear();
    peer.answer(http_answer("{\"a\":1}"));
    CHECK(bench.reads_ok());
}

TEST_CASE("a refused connection and an unknown host are failed readings", "[device][http]") {
    const Listener deaf(0);
    HttpDriverOptions options;
    options.url = "http://127.0.0.1:" + std::to_string(deaf.port()) + '/';
    options.timeout = milliseconds(10'000);
    DriverBench bench(make_http_driver(options));
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.what == options.url + ": cannot connect");

    options.url = "http://nobody.invalid/";
    DriverBench stranger(make_http_driver(options));
    CHECK(stranger.read().status == Status::failed);
    CHECK_THAT(stranger.what, Contains("nobody.invalid"));
}

/// Responds to GET / with {"a":1} over TLS.
class TlsPeer {
  public:
    explicit TlsPeer(const Certificate& certificate)
        : server_(certificate.certificate_path.c_str(), certificate.key_path.c_str()) {
        server_.Get("/", [](const httplib::Request&, httplib::Response& response) {
            response.set_content("{\"a\":1}", "application/json");
        });
        port_ = server_.bind_to_any_port("127.0.0.1");
        thread_ = std::thread([this] { server_.listen_after_bind(); });
    }
    ~TlsPeer() {
        server_.wait_until_ready();
        server_.stop();
        thread_.join();
    }
    TlsPeer(const TlsPeer&) = delete;
    TlsPeer& operator=(const TlsPeer&) = delete;

    [[nodiscard]] HttpDriverOptions options(const std::string& host, const std::string& ca_file) const {
        HttpDriverOptions options;
        options.url = "https://" + host + ':' + std::to_string(port_) + '/';
        options.timeout = milliseconds(10'000);
        options.ca_file = ca_file;
        return options;
    }

  private:
    httplib::SSLServer server_;
    int port_ = 0;
    std::thread thread_;
};

TEST_CASE("the server certificate must be signed by the CA file and match the host of the URL", "[device][http][tls]") {
    const ScratchDir folder;
    const Certificate ca(folder, "ca");
    const Certificate certificate(folder, "localhost", &ca);
    const Certificate stranger(folder, "stranger");
    const TlsPeer peer(certificate);

    DriverBench trusting(make_http_driver(peer.options("localhost", ca.certificate_path)));
    CHECK(trusting.reads_ok());
    CHECK(trusting.reads_ok());
    CHECK(trusting.what.empty());

    DriverBench doubting(make_http_driver(peer.options("localhost", stranger.certificate_path)));
    CHECK(!doubting.reads_ok());
    CHECK_THAT(doubting.what, Contains(": the certificate is not trusted: "));

    DriverBench by_default(make_http_driver(peer.options("localhost", "")));
    CHECK(!by_default.reads_ok());
    CHECK_THAT(by_default.what, Contains(": the certificate is not trusted: "));

    DriverBench without(make_http_driver(peer.options("localhost", folder.path("gone.crt"))));
    CHECK(!without.reads_ok());
    CHECK_THAT(without.what, Contains(": cannot load certificates from ca_file"));

    DriverBench elsewhere(make_http_driver(peer.options("127.0.0.2", ca.certificate_path)));
    CHECK(!elsewhere.reads_ok());
}

TEST_CASE("a server that does not speak TLS is a failed reading", "[device][http][tls]") {
    HttpPeer peer;
    peer.answer("HTTP/1.1 400 Bad Request\r\n\r\n", true);
    HttpDriverOptions options = peer.options();
    options.url.insert(4, "s");
    options.timeout = milliseconds(200);  // the server waits for an empty line, which TLS never sends
    DriverBench bench(make_http_driver(options));
    CHECK(bench.read().status == Status::failed);
}

}  // namespace
}  // namespace telegate::test
