#include "core/transport/listening.hpp"
#include "core/transport/stream_reader.hpp"
#include "core/unique_fd.hpp"
#include "support/catch.hpp"
#include "support/raw_peer.hpp"
#include "support/scratch_dir.hpp"
#include "transport/ipc/ipc_file.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

using namespace telegate;
using namespace telegate::test;

namespace {

bool exists(const std::string& path) {
    return std::filesystem::exists(std::filesystem::symlink_status(path));
}

mode_t mode_of(const std::string& path) {
    struct stat file {};
    return ::lstat(path.c_str(), &file) == 0 ? file.st_mode & 07777 : 0;
}

/// Leaves a socket file behind like a process that is killed.
void leave_stale_socket(const Endpoint& endpoint, int type = SOCK_STREAM) {
    const UniqueFd socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    const transport::SocketAddress address = transport::ipc_address(endpoint);
    REQUIRE(::bind(socket.get(), address.get(), address.bytes) == 0);
}

std::size_t files_in(const std::string& directory) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

/// Sets the umask for its lifetime.
struct Umask {
    explicit Umask(mode_t mask) : before(::umask(mask)) {}
    ~Umask() { ::umask(before); }
    const mode_t before;
};

}  // namespace

TEST_CASE("a socket file that a dead process left behind is replaced", "[core][transport][ipc]") {
    const ScratchDir scratch;
    const Endpoint endpoint = ipc_at(scratch.path("pub.sock"));
    leave_stale_socket(endpoint);
    Listening listening(endpoint);
    CHECK(listening.endpoint() == endpoint);
    const RawPeer peer(endpoint);
    CHECK(listening.turn_until([&] { return listening.accepted.size() == 1; }));
}

TEST_CASE("a socket file with a listener is an address in use", "[core][transport][ipc]") {
    const ScratchDir scratch;
    const Endpoint endpoint = ipc_at(scratch.path("pub.sock"));
    const Listening listening(endpoint);
    CHECK(listen_error(endpoint) == EADDRINUSE);
    const RawPeer peer(endpoint);
}

TEST_CASE("checking for a listener costs it one connection that ends at once", "[core][transport][ipc]") {
    const ScratchDir scratch;
    Listening listening(ipc_at(scratch.path("pub.sock")));
    CHECK(listen_error(listening.endpoint()) == EADDRINUSE);
    REQUIRE(listening.turn_until([&] { return listening.accepted.size() == 1; }));
    StreamReader reader(*listening.accepted[0]);
    CHECK(reader.at_end());
}

TEST_CASE("a listener with a full queue is not taken for dead", "[core][transport][ipc]") {
    const ScratchDir scratch;
    const Endpoint endpoint = ipc_at(scratch.path("pub.sock"));
    const UniqueFd busy(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const transport::SocketAddress address = transport::ipc_address(endpoint);
    REQUIRE(::bind(busy.get(), address.get(), address.bytes) == 0);
    REQUIRE(::listen(busy.get(), 0) == 0);
    const RawPeer waiting(endpoint);
    CHECK(listen_error(endpoint) == EADDRINUSE);
    CHECK(exists(endpoint.path));
}

TEST_CASE("a file that is not a socket is never removed", "[core][transport][ipc]") {
    const ScratchDir scratch;
    const std::string path = scratch.path("settings.ini");
    std::ofstream(path) << "precious";
    CHECK(listen_error(ipc_at(path)) == EADDRINUSE);
    std::string text;
    std::ifstream(path) >> text;
    CHECK(text == "precious");
}

TEST_CASE("a socket of a different kind is never removed", "[core][transport][ipc]") {
    const ScratchDir scratch;
    const Endpoint endpoint = ipc_at(scratch.path("log"));
    const UniqueFd datagram(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const transport::SocketAddress address = transport::ipc_address(endpoint);
    REQUIRE(::bind(datagram.get(), address.get(), address.bytes) == 0);
    CHECK(listen_error(endpoint) == EADDRINUSE);
    CHECK(exists(endpoint.path));
}

TEST_CASE("a symbolic link is never removed, even to a dead socket", "[core][transport][ipc]") {
    const ScratchDir scratch;
    const Endpoint dead = ipc_at(scratch.path("dead"));
    leave_stale_socket(dead);
    const bool leads_to_it = GENERATE(true, false);
    std::filesystem::create_symlink(leads_to_it ? dead.path : scratch.path("nowhere"), scratch.path("link"));
    CHECK(listen_error(ipc_at(scratch.path("link"))) == EADDRINUSE);
    CHECK(exists(scratch.path("link")));
    CHECK(exists(dead.path));
}

TEST_CASE("a listener removes its socket file, and leaves nothing else", "[core][transport][ipc]") {
    const ScratchDir scratch;
    {
        const Listening listening(ipc_at(scratch.path("pub.sock")));
        CHECK(files_in(scratch.path()) == 1);
    }
    CHECK(files_in(scratch.path()) == 0);
}

TEST_CASE("the socket file of a successor at the same path is not removed", "[core][transport][ipc]") {
    const ScratchDir scratch;
    const Endpoint endpoint = ipc_at(scratch.path("pub.sock"));
    std::optional<Listening> first(endpoint);
    REQUIRE(::unlink(endpoint.path.c_str()) == 0);
    const Listening successor(endpoint);
    first.reset();
    CHECK(exists(endpoint.path));
    const RawPeer peer(endpoint);
}

TEST_CASE("an abstract name needs no file and is free again at once", "[core][transport][ipc]") {
    const ScratchDir scratch;
    const Endpoint endpoint = ipc_at('@' + scratch.path("abstract"));
    {
        const Listening listening(endpoint);
        CHECK(listening.endpoint() == endpoint);
        const RawPeer peer(endpoint);
        CHECK(listen_error(endpoint) == EADDRINUSE);
        CHECK_FALSE(exists(scratch.path("abstract")));
    }
    CHECK(listen_error(endpoint) == 0);
}

TEST_CASE("a star is a socket in a new directory of our own, and both are removed with the listener",
          "[core][transport][ipc]") {
    const ScratchDir scratch;
    ::setenv("TMPDIR", scratch.path().c_str(), 1);
    std::optional<Listening> listening(ipc_at("*"));
    ::unsetenv("TMPDIR");
    const std::filesystem::path path = listening->endpoint().path;
    CHECK(path.string().starts_with(scratch.path()));
    CHECK(mode_of(path.parent_path()) == 0700);
    const RawPeer peer(listening->endpoint());
    const Listening second(ipc_at("*"));
    CHECK(second.endpoint() != listening->endpoint());
    listening.reset();
    CHECK(files_in(scratch.path()) == 0);
}

TEST_CASE("a star where no directory can be made fails and reports the directory", "[core][transport][ipc]") {
    const ScratchDir scratch;
    ::setenv("TMPDIR", scratch.path("missing").c_str(), 1);
    const int error = listen_error(ipc_at("*"));
    ::unsetenv("TMPDIR");
    CHECK(error == ENOENT);
}

TEST_CASE("a star leaves no directory when its path is too long", "[core][transport][ipc]") {
    const ScratchDir scratch;
    const std::string parent = scratch.path(std::string(100, 'd'));
    std::filesystem::create_directory(parent);
    ::setenv("TMPDIR", parent.c_str(), 1);
    Reactor reactor;
    CHECK_THROWS_AS(transport::listen(reactor, ipc_at("*"), {}, {}), std::system_error);
    ::unsetenv("TMPDIR");
    CHECK(files_in(parent) == 0);
}

TEST_CASE("a path of 107 bytes is bound, a longer one fails", "[core][transport][ipc]") {
    const ScratchDir scratch;
    std::string path = scratch.path("p");
    path.resize(107, 'p');
    CHECK(listen_error(ipc_at(path)) == 0);
    CHECK(listen_error(ipc_at(path + 'p')) == ENAMETOOLONG);
    CHECK(connect_error(ipc_at(path + 'p')) == ENAMETOOLONG);
    CHECK_FALSE(exists(path + 'p'));
}

TEST_CASE("a path in a directory that does not exist fails", "[core][transport][ipc]") {
    const ScratchDir scratch;
    CHECK(listen_error(ipc_at(scratch.path("missing/pub.sock"))) == ENOENT);
}

TEST_CASE("the mode of the socket file is the requested one, whatever the umask", "[core][transport][ipc]") {
    const ScratchDir scratch;
    const Umask umask(GENERATE(mode_t{0}, mode_t{0177}, mode_t{0777}));
    SocketOptions options;
    options.ipc_mode = GENERATE(mode_t{0600}, mode_t{0660}, mode_t{0666});
    const Listening listening(ipc_at(scratch.path("pub.sock")), options);
    CHECK(mode_of(listening.endpoint().path) == *options.ipc_mode);
}

TEST_CASE("without a mode the umask applies", "[core][transport][ipc]") {
    const ScratchDir scratch;
    const Umask umask(0027);
    const Listening listening(ipc_at(scratch.path("pub.sock")));
    CHECK(mode_of(listening.endpoint().path) == 0750);
}

TEST_CASE("owner and group of the socket file are set, or listening fails and leaves no file",
          "[core][transport][ipc]") {
    const ScratchDir scratch;
    SocketOptions options;
    options.ipc_owner = 12345;
    options.ipc_group = 23456;
    const Endpoint endpoint = ipc_at(scratch.path("pub.sock"));
    if (::geteuid() != 0) {
        CHECK(listen_error(endpoint, options) == EPERM);
        CHECK_FALSE(exists(endpoint.path));
        return;
    }
    const Listening listening(endpoint, options);
    struct stat file {};
    REQUIRE(::lstat(endpoint.path.c_str(), &file) == 0);
    CHECK(file.st_uid == 12345);
    CHECK(file.st_gid == 23456);
}

TEST_CASE("an owner that may not be set is reported as an error, and no file is left", "[core][transport][ipc]") {
    const ScratchDir scratch;
    std::filesystem::permissions(scratch.path(), std::filesystem::perms::all);
    const std::string path = scratch.path("pub.sock");
    const pid_t child = ::fork();  // to drop the privilege of setting owners
    REQUIRE(child >= 0);
    if (child == 0) {
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) {
            ::_exit(2);
        }
        SocketOptions options;
        options.ipc_owner = 0;
        try {
            const Listening listening(ipc_at(path), options);
        } catch (const std::system_error& failure) {
            const bool is_told = std::string(failure.what()).find("owner of ipc://") != std::string::npos;
            ::_exit(failure.code().value() == EPERM && is_told && !exists(path) ? 0 : 3);
        }
        ::_exit(4);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("of many simultaneous starts on one stale socket exactly one succeeds", "[core][transport][ipc][thread]") {
    const ScratchDir scratch;
    constexpr std::size_t starters = 4;
    for (int round = 0; round < 50; ++round) {
        const Endpoint endpoint = ipc_at(scratch.path("pub.sock"));
        leave_stale_socket(endpoint);
        std::atomic<std::size_t> ready{0};
        std::array<std::optional<Listening>, starters> listening;
        std::array<int, starters> errors{};
        std::vector<std::thread> threads;
        for (std::size_t index = 0; index < starters; ++index) {
            threads.emplace_back([&, index] {
                ++ready;
                while (ready < starters) {
                    std::this_thread::yield();
                }
                try {
                    listening[index].emplace(endpoint);
                } catch (const std::system_error& failure) {
                    errors[index] = failure.code().value();
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        REQUIRE(std::count(errors.begin(), errors.end(), 0) == 1);
        REQUIRE(std::count(errors.begin(), errors.end(), EADDRINUSE) == starters - 1);
        auto& winner =
            *listening[static_cast<std::size_t>(std::find(errors.begin(), errors.end(), 0) - errors.begin())];
        const std::size_t probes = starters - 1;  // each loser may have checked
        const RawPeer peer(endpoint);
        REQUIRE(winner.turn_until([&] { return !winner.accepted.empty(); }));
        REQUIRE(winner.accepted.size() <= probes + 1);
    }
}

TEST_CASE("starting waits for the holder of the directory's lock, and no longer than a second",
          "[core][transport][ipc]") {
    const ScratchDir scratch;
    const UniqueFd directory(::open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(::flock(directory.get(), LOCK_EX) == 0);
    CHECK(listen_error(ipc_at(scratch.path("pub.sock"))) == EWOULDBLOCK);
    CHECK_FALSE(exists(scratch.path("pub.sock")));
    REQUIRE(::flock(directory.get(), LOCK_UN) == 0);
    CHECK(listen_error(ipc_at(scratch.path("pub.sock"))) == 0);
}

TEST_CASE("connecting to a star or without a name is refused", "[core][transport][ipc]") {
    CHECK(connect_error(ipc_at("*")) == EINVAL);
    CHECK(connect_error(ipc_at("")) == EINVAL);
    CHECK(connect_error(ipc_at("@")) == EINVAL);
}

TEST_CASE("a path without a listener refuses in a later iteration", "[core][transport][ipc]") {
    const ScratchDir scratch;
    const Endpoint endpoint = ipc_at(scratch.path("pub.sock"));
    const bool is_stale = GENERATE(false, true);
    if (is_stale) {
        leave_stale_socket(endpoint);
    }
    Reactor reactor;
    Connecting connecting(reactor, endpoint);
    CHECK(connecting.calls == 0);
    CHECK(eventually([&] {
        reactor.poll();
        return connecting.calls == 1;
    }));
    CHECK(connecting.error == (is_stale ? ECONNREFUSED : ENOENT));
}
