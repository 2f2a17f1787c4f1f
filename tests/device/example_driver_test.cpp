// A small but complete driver with its tests. docs/drivers.md contains the parts between marks.
#include "core/text.hpp"
#include "device/allocation_counter.hpp"
#include "device/driver_bench.hpp"
#include "device/option_error.hpp"
#include "device/peer_thread.hpp"
#include "host/text_scan.hpp"
#include "support/eventually.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace telegate {
namespace {

using std::chrono::milliseconds;

// [options
struct ThermometerOptions {
    std::string host = "127.0.0.1";  // an IPv4 address
    std::uint16_t port = 4'001;
    Duration timeout = std::chrono::seconds(1);  // for a whole reading: connect, send the request, receive the reply
};
// options]

sockaddr_in to_address(const ThermometerOptions& options) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options.port);
    if (::inet_pton(AF_INET, options.host.c_str(), &address.sin_addr) != 1) {
        throw OptionError("host", '"' + options.host + "\"; must be an IPv4 address");
    }
    return address;
}

// [parser
/// Returns the number in a reply; NaN if the thermometer has no probe and sends "nan"; nullopt for other lines.
std::optional<double> to_degrees(std::string_view line) noexcept {
    return parse_number<double>(trimmed(line, host::blanks));
}
// parser]

// [class
/// A thermometer that replies to a request line "T?" over TCP with a line that contains a number.
///
/// Threads: those of Driver; it has its own thread.
/// Limits: one channel, one connection, replies of answer_bytes_max; read() takes at most the timeout.
/// Failure: OptionError for invalid options. A reading fails if the connection is refused, no reply arrives in time, or
/// the reply is not a number. Then, and after a cancel, the connection is closed, so a late reply is not taken for the
/// next one.
class ThermometerDriver final : public Driver {
  public:
    static constexpr std::size_t answer_bytes_max = 64;  // a number has about 20

    explicit ThermometerDriver(const ThermometerOptions& options)
        : address_(to_address(options)),
          timeout_(options.timeout),
          place_(options.host + ':' + std::to_string(options.port)) {}
    ~ThermometerDriver() override { disconnect(); }
    ThermometerDriver(const ThermometerDriver&) = delete;
    ThermometerDriver& operator=(const ThermometerDriver&) = delete;

    [[nodiscard]] DriverTraits traits() const noexcept override { return {.own_thread = true}; }
    void cancel_with(const CancelSignal& signal) noexcept override { cancel_ = &signal; }
    void open(SampleBatch& batch) override { temperature_ = batch.add_channel("temperature", "Cel"); }
    // class]
    // [read
    ReadResult read(SampleBatch& batch, MonoTime /*now*/) noexcept override {
        try {
            until_ = batch.clock().mono_now() + timeout_;
            if (!connect(batch.clock()) || !request(batch.clock())) {
                disconnect();
                return {ReadResult::Status::interrupted};
            }
            const auto degrees = to_degrees(answer());
            if (!degrees) {
                throw fault("answered \"" + std::string(trimmed(answer(), host::blanks)) + "\", which is not a number");
            }
            batch.stamp_now();  // the driver has waited
            batch.add(temperature_, *degrees);
            return {};
        } catch (const std::runtime_error& error) {
            disconnect();
            fault_ = error;
            return {ReadResult::Status::failed, fault_.what()};
        }
    }
    void reset() noexcept override { disconnect(); }
    // read]

  private:
    [[nodiscard]] std::runtime_error fault(const std::string& what) const {
        return std::runtime_error(place_ + ": " + what);
    }
    [[nodiscard]] std::runtime_error system_fault(const char* what, int error) const {
        return fault(what + std::string(": ") + std::generic_category().message(error));
    }
    [[nodiscard]] std::string_view answer() const noexcept { return {answer_.data(), answer_bytes_}; }

    // [wait
    /// Waits until the socket is ready. Returns false if the cancel signal was set first; throws on timeout.
    bool wait_for(short events, const Clock& clock) {
        std::array<pollfd, 2> watched{pollfd{cancel_->descriptor(), POLLIN, 0}, pollfd{socket_, events, 0}};
        do {
            const auto left = std::chrono::ceil<milliseconds>(until_ - clock.mono_now());
            if (left <= milliseconds(0)) {
                throw fault("no reply in time");
            }
            ::poll(watched.data(), watched.size(), static_cast<int>(left.count()));
        } while (!cancel_->is_set() && watched[1].revents == 0);
        return !cancel_->is_set();
    }
    // wait]

    bool connect(const Clock& clock) {
        if (socket_ >= 0) {
            return true;
        }
        socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        const auto* const to = reinterpret_cast<const sockaddr*>(&address_);
        if (socket_ < 0 || (::connect(socket_, to, sizeof address_) != 0 && errno != EINPROGRESS)) {
            throw system_fault("connect", errno);
        }
        if (!wait_for(POLLOUT, clock)) {
            return false;
        }
        int error = 0;
        socklen_t bytes = sizeof error;
        if (::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0 || error != 0) {
            throw system_fault("connect", error);
        }
        return true;
    }

    bool request(const Clock& clock) {
        constexpr std::string_view question = "T?\n";
        if (::send(socket_, question.data(), question.size(), MSG_NOSIGNAL) != ssize_t{question.size()}) {
            throw system_fault("send", errno);
        }
        answer_bytes_ = 0;
        while (!answer().ends_with('\n')) {
            if (answer_bytes_ == answer_.size()) {
                throw fault("reply longer than " + std::to_string(answer_.size()) + " bytes without a line end");
            }
            if (!wait_for(POLLIN, clock)) {
                return false;
            }
            const ssize_t got = ::recv(socket_, answer_.data() + answer_bytes_, answer_.size() - answer_bytes_, 0);
            if (got <= 0) {
                throw got == 0 ? fault("connection closed") : system_fault("receive", errno);
            }
            answer_bytes_ += static_cast<std::size_t>(got);
        }
        return true;
    }

    void disconnect() noexcept {
        if (socket_ >= 0) {
            ::close(std::exchange(socket_, -1));
        }
    }

    const sockaddr_in address_;
    const Duration timeout_;
    const std::string place_;
    const CancelSignal* cancel_ = nullptr;
    SampleBatch::Channel temperature_ = SampleBatch::Channel::none;
    MonoTime until_{};  // deadline of this read
    int socket_ = -1;
    std::array<char, answer_bytes_max> answer_{};
    std::size_t answer_bytes_ = 0;
    std::runtime_error fault_{""};
};

/// A thermometer with its own port. It sends these replies in turn, and then repeats the last one; "" means none.
class Thermometer {
  public:
    explicit Thermometer(std::vector<std::string> answers) : answers_(std::move(answers)) {}

    [[nodiscard]] std::string place() const { return listener_.endpoint().substr(std::string_view("tcp://").size()); }
    [[nodiscard]] test::DriverBench bench_with(Duration timeout = std::chrono::seconds(10)) const {
        ThermometerOptions options;
        options.port = static_cast<std::uint16_t>(listener_.port());
        options.timeout = timeout;
        return test::DriverBench(std::make_unique<ThermometerDriver>(options));
    }
    void switch_on(std::function<void()> when_asked = [] {}) {
        REQUIRE(::listen(listener_.descriptor(), 8) == 0);
        peer_.accept_on(
            listener_.descriptor(), [](int /*connection*/) { return true; },
            [this, asked = std::move(when_asked)](int connection) {
                std::array<char, 64> question;
                if (::recv(connection, question.data(), question.size(), 0) <= 0) {
                    return false;
                }
                asked();
                const std::string& answer = answers_[std::min(next_++, answers_.size() - 1)];
                return ::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL) >= 0;
            });
    }

    void switch_off() { peer_.stop(); }

  private:
    const std::vector<std::string> answers_;
    std::size_t next_ = 0;
    test::Listener listener_{0};  // does not listen yet
    test::PeerThread peer_;
};

// [tests
TEST_CASE("the reply of a thermometer is a sample with its unit", "[device][example]") {
    Thermometer thermometer({"21.5\n"});
    thermometer.switch_on();
    auto bench = thermometer.bench_with();
    REQUIRE(bench.reads_ok());
    const TelemetrySample sample = bench.sample_of("temperature");
    CHECK(sample.value.real == 21.5);
    CHECK(sample.quality == Quality::good);
    CHECK(bench.channels().at(sample.channel).unit == "Cel");
}

TEST_CASE("the cancel signal ends waiting for a thermometer", "[device][example]") {
    Thermometer thermometer({""});
    auto bench = thermometer.bench_with();
    thermometer.switch_on([&] { bench.cancel.set(); });
    CHECK(bench.read().status == ReadResult::Status::interrupted);
    CHECK(bench.samples().empty());
    thermometer.switch_off();  // before the signal that it sets is destroyed
}
// tests]

TEST_CASE("a thermometer without a probe produces a bad value, not a failed reading", "[device][example]") {
    Thermometer thermometer({"nan\n"});
    thermometer.switch_on();
    auto bench = thermometer.bench_with();
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("temperature").quality == Quality::bad);
}

TEST_CASE("a reply that is not a number is reported with its source", "[device][example]") {
    Thermometer thermometer({"21,5 C\n", std::string(ThermometerDriver::answer_bytes_max, '1'), "22\n"});
    thermometer.switch_on();
    auto bench = thermometer.bench_with();
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == thermometer.place() + ": answered \"21,5 C\", which is not a number");
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == thermometer.place() + ": reply longer than 64 bytes without a line end");
    CHECK(bench.samples().empty());
    CHECK(bench.reads_ok());
}

TEST_CASE("a hanging thermometer costs its timeout and is read again", "[device][example]") {
    Thermometer thermometer({"", "22\n"});
    thermometer.switch_on();
    auto bench = thermometer.bench_with(milliseconds(50));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == thermometer.place() + ": no reply in time");
    REQUIRE(test::eventually([&] { return bench.reads_ok(); }));
    CHECK(bench.sample_of("temperature").value.real == 22);
}

TEST_CASE("a reading fails until the thermometer is reachable", "[device][example]") {
    Thermometer thermometer({"22\n"});
    auto bench = thermometer.bench_with();
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == thermometer.place() + ": connect: Connection refused");
    thermometer.switch_on();
    CHECK(bench.reads_ok());
}

TEST_CASE("reading a thermometer allocates nothing", "[device][example]") {
    Thermometer thermometer({"21.5\n"});
    thermometer.switch_on();
    auto bench = thermometer.bench_with();
    REQUIRE(bench.reads_ok());
    const auto before = test::allocations();
    const bool is_ok = bench.reads_ok();
    CHECK(test::allocations() == before);
    CHECK(is_ok);
}

TEST_CASE("invalid options of a thermometer are refused with a reason", "[device][example]") {
    ThermometerOptions options;
    options.host = "boiler";
    CHECK_THROWS_WITH(ThermometerDriver(options), "host: \"boiler\"; must be an IPv4 address");
}

}  // namespace
}  // namespace telegate
