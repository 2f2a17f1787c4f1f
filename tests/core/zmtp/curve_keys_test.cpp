#include "core/curve.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using namespace telegate;
using telegate::test::ScratchDir;

namespace {

using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

// The client's pair in zmq_curve(7).
const std::string manual_public = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";
const std::string manual_secret = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs";

[[nodiscard]] std::string write_file(const std::string& path, const std::string& text, mode_t mode = 0600) {
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
}

[[nodiscard]] mode_t mode_of(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

/// Returns what load_curve_secret_key() reports for `path`, which it must refuse, without the path itself.
[[nodiscard]] std::string refusal(const std::string& path) {
    try {
        (void)load_curve_secret_key(path);
    } catch (const std::runtime_error& error) {
        const std::string text = error.what();
        CHECK_THAT(text, StartsWith(path + ": "));
        return text.substr(std::min(text.size(), path.size() + 2));
    }
    return "";
}

}  // namespace

TEST_CASE("a key is the same after Z85 and back", "[core][curve]") {
    const CurveKeyPair pair = make_curve_key_pair();
    const std::string text = to_z85(pair.public_key);
    CHECK(text.size() == 40);
    CHECK(parse_z85(text) == pair.public_key);
    CurveKey key{};
    CHECK(to_z85(key) == std::string(40, '0'));
    key.fill(std::byte{0xFF});
    CHECK(parse_z85(to_z85(key)) == key);
}

TEST_CASE("Z85 is that of the standard", "[core][curve]") {
    // RFC 32's example is these eight bytes: "HelloWorld".
    CurveKey key{};
    const unsigned char bytes[] = {0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B};
    for (std::size_t i = 0; i < key.size(); ++i) {
        key[i] = std::byte{bytes[i % sizeof bytes]};
    }
    CHECK(to_z85(key) == "HelloWorldHelloWorldHelloWorldHelloWorld");
    CHECK(parse_z85("HelloWorldHelloWorldHelloWorldHelloWorld") == key);
}

TEST_CASE("text that is not a key in Z85 is refused", "[core][curve]") {
    const std::string text =
        GENERATE(std::string(), std::string(39, '0'), std::string(41, '0'), std::string(39, '0') + " ",
                 std::string(39, '0') + "\"", std::string(35, '0') + "#####", "%nSc1" + std::string(35, '0'),
                 std::string(39, '0') + '\0', std::string(39, '0') + "\xFF");
    CAPTURE(text);
    CHECK_FALSE(parse_z85(text));
    CHECK(parse_z85("%nSc0" + std::string(35, '0')));  // the largest group: 2^32 - 1
}

TEST_CASE("no two new pairs are alike", "[core][curve]") {
    const CurveKeyPair one = make_curve_key_pair();
    const CurveKeyPair two = make_curve_key_pair();
    CHECK(one.public_key != two.public_key);
    CHECK(one.secret_key != two.secret_key);
    CHECK(one.public_key != one.secret_key);
}

TEST_CASE("a saved pair is loaded again, and its secret file is closed to other users", "[core][curve]") {
    const ScratchDir scratch;
    const CurveKeyPair pair = make_curve_key_pair();
    save_curve_key_pair(pair, scratch.path("site"));
    CHECK(mode_of(scratch.path("site.secret")) == 0600);
    const CurveKeyPair loaded = load_curve_secret_key(scratch.path("site.secret"));
    CHECK(loaded.secret_key == pair.secret_key);
    CHECK(loaded.public_key == pair.public_key);
    CHECK(load_curve_public_key(scratch.path("site.public")) == pair.public_key);
}

TEST_CASE("the public key is computed as libzmq computes it", "[core][curve]") {
    const ScratchDir scratch;
    const CurveKeyPair pair = load_curve_secret_key(write_file(scratch.path("k"), manual_secret));
    CHECK(to_z85(pair.public_key) == manual_public);
}

TEST_CASE("saving never overwrites, and leaves no partial file", "[core][curve]") {
    const ScratchDir scratch;
    const std::string taken = GENERATE("site.secret", "site.public");
    (void)write_file(scratch.path(taken), "keep me");
    CHECK_THROWS_WITH(save_curve_key_pair(make_curve_key_pair(), scratch.path("site")),
                      scratch.path(taken) + ": File exists");
    CHECK(std::filesystem::file_size(scratch.path(taken)) == 7);
    CHECK(std::distance(std::filesystem::directory_iterator(scratch.path()), {}) == 1);
}

TEST_CASE("saving into a missing directory is reported", "[core][curve]") {
    const ScratchDir scratch;
    CHECK_THROWS_WITH(save_curve_key_pair(make_curve_key_pair(), scratch.path("none/site")),
                      scratch.path("none/site.secret") + ": No such file or directory");
}

TEST_CASE("a secret key that others may read or write, or that has an unusual mode, is refused", "[core][curve]") {
    const ScratchDir scratch;
    const auto [mode, shown] = GENERATE(table<mode_t, std::string>({{0640, "0640"},
                                                                    {0604, "0604"},
                                                                    {0620, "0620"},
                                                                    {0602, "0602"},
                                                                    {0601, "0601"},
                                                                    {0777, "0777"},
                                                                    {0700, "0700"},
                                                                    {0500, "0500"},
                                                                    {01600, "1600"},
                                                                    {04600, "4600"},
                                                                    {04400, "4400"}}));
    CHECK(refusal(write_file(scratch.path("k"), manual_secret, mode)) ==
          "mode " + shown + "; a secret key must have mode 0600 or 0400");
}

TEST_CASE("a secret key that only its owner may read is accepted", "[core][curve]") {
    const ScratchDir scratch;
    const mode_t mode = GENERATE(mode_t{0600}, mode_t{0400});
    CHECK(refusal(write_file(scratch.path("k"), manual_secret, mode)).empty());
}

TEST_CASE("a secret key of another user is refused", "[core][curve]") {
    const ScratchDir scratch;
    const std::string path = write_file(scratch.path("k"), manual_secret);
    if (::chown(path.c_str(), 12345, static_cast<gid_t>(-1)) != 0) {
        WARN("skipped: only root can give a file away");
        return;
    }
    CHECK(refusal(path) == "owned by uid 12345; a secret key must be owned by uid " + std::to_string(::geteuid()) +
                               ", the user that reads it");
}

TEST_CASE("a path that is not a regular file is not read", "[core][curve]") {
    const ScratchDir scratch;
    CHECK(refusal(scratch.path("none")) == "No such file or directory");
    CHECK(refusal(scratch.path()) == "not a regular file");
    REQUIRE(::mkfifo(scratch.path("pipe").c_str(), 0600) == 0);
    CHECK(refusal(scratch.path("pipe")) == "not a regular file");  // and does not wait for a writer
}

TEST_CASE("a key file may end in white space and holds nothing else", "[core][curve]") {
    const ScratchDir scratch;
    const auto [text, good] = GENERATE(table<std::string, bool>({{manual_secret, true},
                                                                 {manual_secret + "\n", true},
                                                                 {manual_secret + " \r\n\n", true},
                                                                 {"", false},
                                                                 {"\n", false},
                                                                 {"\n" + manual_secret, false},
                                                                 {manual_secret.substr(1), false},
                                                                 {manual_secret + "0", false},
                                                                 {manual_secret + "\n" + manual_secret, false},
                                                                 {manual_secret + std::string(56, '\n'), true},
                                                                 {manual_secret + std::string(57, '\n'), false},
                                                                 {"# CURVE secret key\n" + manual_secret, true},
                                                                 {"# CURVE secret key\n", false},
                                                                 {"# CURVE public key\n" + manual_secret, false},
                                                                 {std::string(40, '#'), false},
                                                                 {manual_secret + std::string(100'000, '\n'), false}}));
    CAPTURE(text.substr(0, 100));
    CHECK(refusal(write_file(scratch.path("k"), text)) ==
          (good ? "" : "not a key; must contain 40 Z85 characters and nothing else"));
}

TEST_CASE("a public key may be readable by everybody", "[core][curve]") {
    const ScratchDir scratch;
    CHECK(to_z85(load_curve_public_key(write_file(scratch.path("k"), manual_public + "\n", 0644))) == manual_public);
    CHECK_THROWS_WITH(load_curve_public_key(scratch.path("none")), EndsWith(": No such file or directory"));
}

TEST_CASE("the accepted clients are the public keys of a directory", "[core][curve]") {
    const ScratchDir scratch;
    const CurveKeyPair known = make_curve_key_pair();
    save_curve_key_pair(known, scratch.path("north"));
    (void)write_file(scratch.path("README"), "not a key");
    (void)write_file(scratch.path("same.public"), to_z85(known.public_key));
    const CurveClients clients(scratch.path());
    CHECK(clients.size() == 1);
    CHECK(clients.allows(known.public_key));
    CHECK_FALSE(clients.allows(known.secret_key));
    CHECK_FALSE(clients.allows(make_curve_key_pair().public_key));
}

TEST_CASE("a client is named after its file, the first of several with its key", "[core][curve]") {
    const ScratchDir scratch;
    const CurveKeyPair known = make_curve_key_pair();
    save_curve_key_pair(known, scratch.path("north"));
    const CurveClients clients(scratch.path());
    CHECK(clients.name_of(known.public_key) == "north");
    CHECK_FALSE(clients.name_of(known.secret_key).has_value());
    (void)write_file(scratch.path("line.7.public"), to_z85(known.public_key));
    const CurveClients renamed(scratch.path());
    CHECK(renamed.name_of(known.public_key) == "line.7");
    CHECK(renamed.size() == 1);
    CHECK_FALSE(clients.is_same_as(renamed));
}

TEST_CASE("a credential may have another owner and be readable by a group, but not by others", "[core][curve]") {
    const ScratchDir scratch;
    const std::string file = write_file(scratch.path("k"), manual_secret, 0440);
    CHECK_THROWS_WITH(load_curve_secret_key(file), EndsWith("; a secret key must have mode 0600 or 0400"));
    CHECK_THROWS_WITH(load_curve_secret_key(file, SecretFile::of_any),
                      EndsWith("; a secret key must have mode 0600 or 0400"));
    CHECK(to_z85(load_curve_secret_key(file, SecretFile::credential).public_key) == manual_public);
    CHECK_THROWS_WITH(load_curve_secret_key(write_file(scratch.path("o"), manual_secret, 0444), SecretFile::credential),
                      EndsWith("mode 0444; a credential must not be accessible to other users"));
}

TEST_CASE("a secret key of another user is read only for a check", "[core][curve]") {
    const ScratchDir scratch;
    const std::string file = write_file(scratch.path("k"), manual_secret);
    if (::chown(file.c_str(), 1, 1) != 0) {
        return;  // only root can
    }
    CHECK_THROWS_WITH(load_curve_secret_key(file), EndsWith(", the user that reads it"));
    CHECK(to_z85(load_curve_secret_key(file, SecretFile::of_any).public_key) == manual_public);
}

TEST_CASE("a secret key is not taken for a client's public key", "[core][curve]") {
    const ScratchDir scratch;
    save_curve_key_pair(make_curve_key_pair(), scratch.path("north"));
    std::filesystem::rename(scratch.path("north.secret"), scratch.path("mistake.public"));
    const std::string complaint = scratch.path("mistake.public") + ": contains a secret key; must be a public key";
    CHECK_THROWS_WITH(load_curve_public_key(scratch.path("mistake.public")), complaint);
    CHECK_THROWS_WITH(CurveClients(scratch.path()), complaint);
}

TEST_CASE("an empty directory accepts no client", "[core][curve]") {
    const ScratchDir scratch;
    const CurveClients clients(scratch.path());
    CHECK(clients.size() == 0);
    CHECK_FALSE(clients.allows(CurveKey{}));
}

TEST_CASE("added and removed keys take effect after a reload", "[core][curve]") {
    const ScratchDir scratch;
    const CurveKeyPair one = make_curve_key_pair();
    const CurveKeyPair two = make_curve_key_pair();
    save_curve_key_pair(one, scratch.path("one"));
    CurveClients clients(scratch.path());
    std::filesystem::remove(scratch.path("one.public"));
    save_curve_key_pair(two, scratch.path("two"));
    CHECK(clients.allows(one.public_key));
    clients.reload();
    CHECK_FALSE(clients.allows(one.public_key));
    CHECK(clients.allows(two.public_key));
}

TEST_CASE("a reload that fails names the file and changes nothing", "[core][curve]") {
    const ScratchDir scratch;
    const CurveKeyPair one = make_curve_key_pair();
    save_curve_key_pair(one, scratch.path("one"));
    CurveClients clients(scratch.path());
    (void)write_file(scratch.path("bad.public"), "short");
    CHECK_THROWS_WITH(clients.reload(), StartsWith(scratch.path("bad.public") + ": not a key"));
    CHECK(clients.allows(one.public_key));
    std::filesystem::remove_all(scratch.path());
    CHECK_THROWS_WITH(clients.reload(), scratch.path() + ": No such file or directory");
    CHECK(clients.size() == 1);
}

TEST_CASE("a missing directory of clients is refused at once", "[core][curve]") {
    const ScratchDir scratch;
    CHECK_THROWS_WITH(CurveClients(scratch.path("none")), scratch.path("none") + ": No such file or directory");
}
