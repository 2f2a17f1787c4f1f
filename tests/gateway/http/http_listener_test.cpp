#include "http/http_listener.hpp"

#include "gateway/http/echo_server.hpp"
#include "gateway/rest/fake_gateway.hpp"
#include "rest/rest_access.hpp"
#include "rest/rest_server.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

using namespace telegate;
using namespace telegate::test;

namespace {

HttpServerOptions on_unix(const std::string& path) {
    HttpServerOptions options;
    options.host.clear();
    options.unix_socket = path;
    return options;
}

/// Changes the working directory until it is destroyed.
class WorkingDirectory {
  public:
    explicit WorkingDirectory(const std::string& path) { std::filesystem::current_path(path); }
    ~WorkingDirectory() { std::filesystem::current_path(before_); }
    WorkingDirectory(const WorkingDirectory&) = delete;
    WorkingDirectory& operator=(const WorkingDirectory&) = delete;

  private:
    const std::filesystem::path before_ = std::filesystem::current_path();
};

}  // namespace

TEST_CASE("a Unix socket is served, for its owner and group only", "[gateway][http][unix]") {
    ScratchDir folder;
    const std::string path = folder.path("rest.sock");
    HttpServer server(on_unix(path), {EchoServer::echo});
    server.start();
    CHECK(server.address() == "unix:" + path);
    CHECK(status_of(RawHttpClient("unix:" + path).send(get_and_close).read_all()) == 200);
    struct stat facts {};
    REQUIRE(::stat(path.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0660);
    server.stop();
    CHECK(::access(path.c_str(), F_OK) != 0);
}

TEST_CASE("TCP and a Unix socket are served at the same time", "[gateway][http][unix]") {
    ScratchDir folder;
    HttpServerOptions options = on_unix(folder.path("rest.sock"));
    options.host = "127.0.0.1";
    HttpServer server(options, {EchoServer::echo});
    server.start();
    CHECK(server.urls() == std::vector<std::string>{"http://" + server.address(), "unix:" + options.unix_socket});
    CHECK(status_of(RawHttpClient(server.address()).send(get_and_close).read_all()) == 200);
    CHECK(status_of(RawHttpClient("unix:" + options.unix_socket).send(get_and_close).read_all()) == 200);
}

TEST_CASE("the path of a Unix socket has no special forms as in endpoints", "[gateway][http][unix]") {
    const ScratchDir folder;
    const std::string path = GENERATE("@rest", "*");
    const WorkingDirectory there(folder.path());
    const HttpListener listener = HttpListener::on_unix(path);
    CHECK(listener.address() == "unix:./" + path);
    CHECK(::access(folder.path(path).c_str(), F_OK) == 0);
}

TEST_CASE("a listening socket is adopted", "[gateway][http]") {
    HttpListener bound = HttpListener::on_tcp("127.0.0.1", 0);
    const std::string address = bound.address();
    HttpServerOptions options;
    options.adopted_socket = ::dup(bound.socket());
    bound.close();
    HttpServer server(options, {EchoServer::echo});
    server.start();
    CHECK(server.address() == address);
    CHECK(status_of(RawHttpClient(address).send(get_and_close).read_all()) == 200);
}

TEST_CASE("a socket that does not listen is not adopted", "[gateway][http]") {
    CHECK_THROWS_AS(HttpListener::adopt(::socket(AF_INET, SOCK_STREAM, 0)), std::system_error);
    CHECK_THROWS_AS(HttpListener::adopt(::dup(STDIN_FILENO)), std::system_error);
}

TEST_CASE("a client with the user id of the gateway is an admin at the Unix socket, with or without tokens",
          "[gateway][rest][access][unix]") {
    ScratchDir folder;
    FakeGateway gateway;
    RestOptions options;
    options.host.clear();
    options.unix_socket = folder.path("rest.sock");
    options.credentials.tokens_file = write_private(folder, "tokens", "reader someone a-token-of-someone\n");
    RestServer server(options, gateway.handlers());
    server.start();
    CHECK(status_of(RawHttpClient(server.address()).send(get_status).read_all()) == 200);
    CHECK(status_of(RawHttpClient(server.address())
                        .send("POST /start HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                        .read_all()) == 200);
}

TEST_CASE("other users at the Unix socket are readers, and root is an admin", "[gateway][rest][access][unix]") {
    RestAccess access({});
    CHECK(access.identify({.address = "unix", .uid = 4'000'000'000U}, "").role == HttpRole::reader);
    CHECK(access.identify({.address = "unix", .uid = 0}, "").role == HttpRole::admin);
    CHECK(access.identify({.address = "unix", .uid = 0}, "").who == "uid=0");
}

TEST_CASE("a client from another machine has no role if no credentials are configured", "[gateway][rest][access]") {
    RestAccess access({});
    CHECK(access.identify({.address = "192.0.2.7"}, "").role == HttpRole::none);
    CHECK(access.identify({.address = "127.0.0.1"}, "").role == HttpRole::admin);
}
