#include "core/transport/listening.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Returns the error of listening at `path`.
std::string complaint_at(const std::string& path) {
    Reactor reactor;
    try {
        (void)transport::listen(reactor, {Transport::ipc, "", 0, path}, {}, {});
    } catch (const std::system_error& error) {
        CHECK(error.code() == std::errc::address_in_use);
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a file in the way that is not a socket is described in the error", "[core][transport][ipc]") {
    const ScratchDir scratch;
    std::ofstream(scratch.path("file")) << "text";
    std::filesystem::create_symlink(scratch.path("nowhere"), scratch.path("link"));
    const auto expected = [](const std::string& path, const std::string& what) {
        return "ipc://" + path + what + ": Address already in use";
    };
    CHECK(complaint_at(scratch.path()) == expected(scratch.path(), " (is a directory)"));
    CHECK(complaint_at(scratch.path("file")) == expected(scratch.path("file"), " (is not a socket)"));
    CHECK(complaint_at("/dev/null") == expected("/dev/null", " (is not a socket)"));
    CHECK(complaint_at(scratch.path("link")) == expected(scratch.path("link"), " (is a symbolic link)"));
}

TEST_CASE("a live socket in the way is only an address in use", "[core][transport][ipc]") {
    const ScratchDir scratch;
    const std::string path = scratch.path("socket");
    const Listening listening({Transport::ipc, "", 0, path});
    CHECK(complaint_at(path) == "ipc://" + path + ": Address already in use");
}
