#include "support/catch.hpp"
#include "support/publisher_harness.hpp"
#include "transport/transport.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

Endpoint ipc_at(const std::string& path) {
    return {Transport::ipc, "", 0, path};
}

/// What listening there ends with: 0, or the error's number.
int listen_error(const Endpoint& endpoint) {
    try {
        const transport::Bound bound = transport::listen(endpoint);
        return 0;
    } catch (const std::system_error& failure) {
        CHECK(std::string(failure.what()).find(to_string(endpoint)) != std::string::npos);
        return failure.code().value();
    }
}

bool exists(const std::string& path) {
    return std::filesystem::exists(std::filesystem::symlink_status(path));
}

}  // namespace

TEST_CASE("a socket file that a dead process left behind is taken over", "[core][publisher][ipc]") {
    const ScratchDir scratch;
    const Endpoint endpoint = ipc_at(scratch.path("pub.sock"));
    REQUIRE(listen_error(endpoint) == 0);  // closed by now, and its file stays
    REQUIRE(exists(endpoint.path));
    const transport::Bound bound = transport::listen(endpoint);
    CHECK(bound.endpoint == endpoint);
    const RawPeer peer(endpoint);
}

TEST_CASE("a socket file that somebody listens on is an address in use", "[core][publisher][ipc]") {
    const ScratchDir scratch;
    const Endpoint endpoint = ipc_at(scratch.path("pub.sock"));
    const transport::Bound bound = transport::listen(endpoint);
    CHECK(listen_error(endpoint) == EADDRINUSE);
    const RawPeer peer(endpoint);
}

TEST_CASE("looking whether somebody listens costs him no more than a failed handshake", "[core][publisher][ipc]") {
    PublisherHarness h({}, Transport::ipc);
    CHECK(listen_error(h.endpoint) == EADDRINUSE);
    RawPeer peer = h.subscriber();
    CHECK(h.totals().handshakes_failed == 1);
    h.publish("t", "x");
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + message("t", "x"); }));
}

TEST_CASE("a file that is no socket is never removed", "[core][publisher][ipc]") {
    const ScratchDir scratch;
    const std::string path = scratch.path("settings.ini");
    std::ofstream(path) << "precious";
    CHECK(listen_error(ipc_at(path)) == EADDRINUSE);
    std::string text;
    std::ifstream(path) >> text;
    CHECK(text == "precious");
}

TEST_CASE("a socket of another kind is never removed", "[core][publisher][ipc]") {
    const ScratchDir scratch;
    const std::string path = scratch.path("log");
    sockaddr_un address{AF_UNIX, {}};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const UniqueFd datagram(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(datagram.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    CHECK(listen_error(ipc_at(path)) == EADDRINUSE);
    CHECK(exists(path));
}

TEST_CASE("a symbolic link is never removed", "[core][publisher][ipc]") {
    const ScratchDir scratch;
    std::filesystem::create_symlink(scratch.path("nowhere"), scratch.path("link"));
    CHECK(listen_error(ipc_at(scratch.path("link"))) == EADDRINUSE);
    CHECK(exists(scratch.path("link")));
}

TEST_CASE("closing removes the socket file, and so does going", "[core][publisher][ipc]") {
    const bool is_closed = GENERATE(true, false);
    PublisherHarness h({}, Transport::ipc);
    REQUIRE(exists(h.endpoint.path));
    if (is_closed) {
        h.publisher->close(1s, [] {});
    } else {
        h.publisher.reset();
    }
    CHECK_FALSE(exists(h.endpoint.path));
}

TEST_CASE("closing does not remove the socket file of whoever came after", "[core][publisher][ipc]") {
    PublisherHarness h({}, Transport::ipc);
    h.publisher->close(1s, [] {});
    const transport::Bound successor = transport::listen(h.endpoint);
    h.turn();
    h.publisher.reset();
    CHECK(exists(h.endpoint.path));
    const RawPeer peer(h.endpoint);
}

TEST_CASE("an abstract name needs no file and is free again at once", "[core][publisher][ipc]") {
    const ScratchDir scratch;
    const Endpoint endpoint = ipc_at('@' + scratch.path("abstract"));
    {
        const transport::Bound bound = transport::listen(endpoint);
        const RawPeer peer(endpoint);
        CHECK(listen_error(endpoint) == EADDRINUSE);
        CHECK_FALSE(exists(scratch.path("abstract")));
    }
    CHECK(listen_error(endpoint) == 0);
}

TEST_CASE("a publisher serves an abstract name", "[core][publisher][ipc]") {
    PublisherHarness h;
    const Endpoint endpoint = h.publisher->bind(ipc_at('@' + h.scratch.path("abstract")));
    RawPeer peer(endpoint);
    peer.send(greeting() + ready("SUB") + subscribe("t"));
    REQUIRE(h.turn_until([&] { return h.last_status().subscriptions_count == 1; }));
    h.publish("t", "x");
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + message("t", "x"); }));
}

TEST_CASE("a path of 107 bytes is bound, a longer one fails", "[core][publisher][ipc]") {
    const ScratchDir scratch;
    std::string path = scratch.path("p");
    path.resize(107, 'p');
    CHECK(listen_error(ipc_at(path)) == 0);
    CHECK(listen_error(ipc_at(path + 'p')) == ENAMETOOLONG);
    CHECK_FALSE(exists(path + 'p'));
}

TEST_CASE("a path in a directory that does not exist fails", "[core][publisher][ipc]") {
    const ScratchDir scratch;
    CHECK(listen_error(ipc_at(scratch.path("missing/pub.sock"))) == ENOENT);
}

TEST_CASE("the file of a successor at the same path is left alone", "[core][publisher][ipc]") {
    const ScratchDir scratch;
    Endpoint endpoint;
    endpoint.transport = Transport::ipc;
    endpoint.path = scratch.path("pub.sock");
    const transport::Bound first = transport::listen(endpoint);
    REQUIRE(::unlink(endpoint.path.c_str()) == 0);
    const transport::Bound successor = transport::listen(endpoint);
    transport::forget(endpoint, first.file);
    CHECK(transport::identify(endpoint.path) == successor.file);
    transport::forget(endpoint, successor.file);
    CHECK(transport::identify(endpoint.path) == transport::FileIdentity{});
}
