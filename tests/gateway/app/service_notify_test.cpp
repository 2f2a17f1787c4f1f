#include "app/service_notify.hpp"

#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <string>

using namespace telegate;
using namespace std::chrono_literals;
using telegate::test::ScratchDir;

namespace {

/// The service manager's side: a datagram socket, and the environment variable with its name.
struct Manager {
    explicit Manager(const std::string& name) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::copy(name.begin(), name.end(), std::begin(address.sun_path));
        address.sun_path[0] = name.front() == '@' ? '\0' : name.front();
        const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        REQUIRE(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), bytes) == 0);
        ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    }
    ~Manager() {
        ::close(descriptor);
        ::unsetenv("NOTIFY_SOCKET");
        ::unsetenv("WATCHDOG_USEC");
        ::unsetenv("WATCHDOG_PID");
    }
    Manager(const Manager&) = delete;
    Manager& operator=(const Manager&) = delete;

    /// Returns the next message; "": none.
    [[nodiscard]] std::string read() const {
        std::array<char, 4096> buffer{};
        const ssize_t bytes = ::recv(descriptor, buffer.data(), buffer.size(), MSG_DONTWAIT);
        return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))};
    }

    int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

std::string abstract_name() {
    return "@telegate-test-" + std::to_string(::getpid());
}

}  // namespace

TEST_CASE("a manager at a path or an abstract name is notified of the service's state", "[gateway][service]") {
    const ScratchDir scratch;
    const Manager manager(GENERATE(false, true) ? abstract_name() : scratch.path("notify"));
    Log log("off");
    ServiceNotify notify(log);
    notify.ready("running");
    notify.watchdog();
    notify.reloading();
    notify.stopping();
    CHECK(manager.read() == "READY=1\nSTATUS=running");
    CHECK(manager.read() == "WATCHDOG=1");
    CHECK(manager.read().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    CHECK(manager.read() == "STOPPING=1\nSTATUS=stopping");
    CHECK(manager.read().empty());
}

TEST_CASE("a status is sent only when it changes, as one line", "[gateway][service]") {
    const Manager manager(abstract_name());
    Log log("off");
    ServiceNotify notify(log);
    notify.ready("running");
    notify.status("running");
    notify.status("a\nREADY=1");
    notify.status("running");
    CHECK(manager.read() == "READY=1\nSTATUS=running");
    CHECK(manager.read() == "STATUS=a READY=1");
    CHECK(manager.read() == "STATUS=running");
    CHECK(manager.read().empty());
}

TEST_CASE("children do not inherit the notification variables", "[gateway][service]") {
    const Manager manager(abstract_name());
    ::setenv("WATCHDOG_USEC", "2000000", 1);
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
    Log log("off");
    const ServiceNotify notify(log);
    CHECK(std::getenv("NOTIFY_SOCKET") == nullptr);
    CHECK(std::getenv("WATCHDOG_USEC") == nullptr);
    CHECK(std::getenv("WATCHDOG_PID") == nullptr);
    CHECK(notify.watchdog_time() == 2s);
}

TEST_CASE("a watchdog for another process or with an invalid time is ignored", "[gateway][service]") {
    const Manager manager(abstract_name());
    const auto [usec, pid] =
        GENERATE(table<std::string, std::string>({{"2000000", "1"}, {"soon", ""}, {"-1", ""}, {"", ""}, {"0", ""}}));
    ::setenv("WATCHDOG_USEC", usec.c_str(), 1);
    ::setenv("WATCHDOG_PID", pid.c_str(), 1);
    Log log("off");
    CHECK(ServiceNotify(log).watchdog_time() == 0s);
}

TEST_CASE("without a manager, or after it has closed its socket, nothing happens", "[gateway][service]") {
    const std::string address = GENERATE(std::string(), std::string("/nonexistent/notify"), std::string("relative"),
                                         "/" + std::string(200, 'x'));
    ::setenv("NOTIFY_SOCKET", address.c_str(), 1);
    Log log("off");
    ServiceNotify notify(log);
    notify.ready("running");
    notify.watchdog();
    CHECK(notify.watchdog_time() == 0s);
}

TEST_CASE("a manager that does not read blocks the gateway only briefly", "[gateway][service]") {
    const Manager manager(abstract_name());
    Log log("off");
    ServiceNotify notify(log);
    for (int i = 0; i < 1'000; ++i) {  // far more than its queue holds
        const auto before = std::chrono::steady_clock::now();
        notify.watchdog();
        if (std::chrono::steady_clock::now() - before >= ServiceNotify::send_time_max / 2) {
            SUCCEED("sending timed out");
            return;
        }
    }
    FAIL("the queue never filled");
}
