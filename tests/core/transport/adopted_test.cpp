#include "core/transport/listening.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"
#include "transport/ipc/ipc_file.hpp"
#include "transport/tcp/tcp_address.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Makes a socket as a service manager does: blocking, and inherited by children.
int make_socket(const transport::SocketAddress& address, bool listens = true) {
    const int descriptor = ::socket(address.family(), SOCK_STREAM, 0);
    REQUIRE(::bind(descriptor, address.get(), address.bytes) == 0);
    REQUIRE((!listens || ::listen(descriptor, 10) == 0));
    return descriptor;
}

int tcp_socket(bool listens = true) {
    return make_socket(transport::resolve(tcp_at("127.0.0.1")).addresses.front(), listens);
}

std::uint16_t port_of(int descriptor) {
    transport::SocketAddress address;
    address.bytes = sizeof address.storage;
    REQUIRE(::getsockname(descriptor, address.get(), &address.bytes) == 0);
    return transport::to_endpoint(address).port;
}

struct Adopted {
    Adopted(const Endpoint& endpoint, int descriptor)
        : listener(transport::adopt(reactor, endpoint, UniqueFd(descriptor),
                                    {[this](std::unique_ptr<Stream>) { ++accepted; },
                                     [](int) {
                                     }})) {}

    bool reached(const Endpoint& endpoint) {
        const Connecting connecting(reactor, endpoint);
        return eventually([&] {
            reactor.poll();
            return accepted == 1 && connecting.stream != nullptr;
        });
    }

    Reactor reactor;
    int accepted = 0;
    std::unique_ptr<transport::Listener> listener;
};

/// Returns the reason for the refusal; "" if there is none.
std::string refusal(const Endpoint& endpoint, int descriptor) {
    try {
        const Adopted adopted(endpoint, descriptor);
        return "";
    } catch (const std::system_error& error) {
        CHECK(::close(descriptor) != 0);  // the descriptor was taken over
        return error.what();
    }
}

}  // namespace

TEST_CASE("an inherited tcp socket is listened on", "[core][transport][adopted]") {
    const int descriptor = tcp_socket();
    const std::uint16_t port = port_of(descriptor);
    Adopted adopted(tcp_at("127.0.0.1", GENERATE(true, false) ? port : std::uint16_t{0}), descriptor);
    CHECK(adopted.listener->endpoint() == tcp_at("127.0.0.1", port));
    CHECK(adopted.reached(tcp_at("127.0.0.1", port)));
}

TEST_CASE("an inherited ipc socket is listened on, and its file is left to its creator", "[core][transport][adopted]") {
    const ScratchDir scratch;
    const Endpoint endpoint =
        ipc_at(GENERATE(true, false) ? scratch.path("pub") : "@telegate-adopted-" + std::to_string(::getpid()));
    {
        Adopted adopted(endpoint, make_socket(transport::ipc_address(endpoint)));
        CHECK(adopted.listener->endpoint() == endpoint);
        CHECK(adopted.reached(endpoint));
    }
    CHECK((endpoint.path.front() == '@' || std::filesystem::exists(endpoint.path)));
}

TEST_CASE("a socket that listens elsewhere is refused with both addresses", "[core][transport][adopted]") {
    const ScratchDir scratch;
    const int tcp = tcp_socket();
    const std::string where = to_string(tcp_at("127.0.0.1", port_of(tcp)));
    CHECK(refusal(tcp_at("127.0.0.1", 1), tcp) ==
          "tcp://127.0.0.1:1: the inherited socket is bound to " + where + ": Cannot assign requested address");
    CHECK_THAT(refusal(tcp_at("*"), tcp_socket()), Catch::Contains("is bound to tcp://127.0.0.1:"));
    CHECK_THAT(refusal(ipc_at("/a"), make_socket(transport::ipc_address(ipc_at(scratch.path("b"))))),
               Catch::StartsWith("ipc:///a: ") && Catch::Contains("is bound to ipc://" + scratch.path("b")));
}

TEST_CASE("a descriptor that is not a listening socket of the right kind is refused", "[core][transport][adopted]") {
    const ScratchDir scratch;
    CHECK_THAT(refusal(tcp_at("127.0.0.1"), tcp_socket(false)), Catch::Contains("is not a listening stream socket"));
    CHECK_THAT(refusal(tcp_at("127.0.0.1"), ::socket(AF_INET, SOCK_DGRAM, 0)),
               Catch::Contains("is not a listening stream socket"));
    CHECK_THAT(refusal(tcp_at("127.0.0.1"), ::dup(STDERR_FILENO)), Catch::Contains("is not a listening stream socket"));
    CHECK_THAT(refusal(ipc_at("/a"), tcp_socket()), Catch::Contains("is bound to tcp://127.0.0.1:"));
    CHECK_THAT(refusal(tcp_at("127.0.0.1"), make_socket(transport::ipc_address(ipc_at(scratch.path("c"))))),
               Catch::Contains("is bound to ipc://" + scratch.path("c")));
    CHECK_THAT(refusal({Transport::inproc, "", 0, "name"}, tcp_socket()), Catch::StartsWith("inproc://name"));
}
