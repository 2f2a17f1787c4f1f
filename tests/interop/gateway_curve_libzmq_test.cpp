#include "support/catch.hpp"
#include "support/curve_files.hpp"
#include "support/gateway_fixture.hpp"
#include "zmq_curve_socket.hpp"

#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

struct CurveSubscriber : ZmqCurveSocket {
    CurveSubscriber(const CurveKeyPair& keys, const CurveKey& server_key, std::uint16_t port)
        : ZmqCurveSocket(ZMQ_SUB) {
        be_client(keys, server_key);
        set(ZMQ_SUBSCRIBE, "d/");
        connect(port);
    }
};

}  // namespace

TEST_CASE("a libzmq subscriber is accepted only with a key from the folder", "[interop][gateway][curve]") {
    const CurveFiles files;
    GatewayFixture fixture(
        "[rest]\nlisten = 127.0.0.1:0\n[device \"d\"]\ndriver = simulated\ninterval_ms = 10\nwaveforms = sine\n"
        "[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n" +
        files.settings());
    const std::uint16_t port = fixture.gateway->endpoints().at(0).port;
    CurveSubscriber anna(files.anna, files.server.public_key, port);
    CHECK(anna.receive().at(0) == "d/sine");
    const CurveSubscriber stranger(make_curve_key_pair(), files.server.public_key, port);
    CHECK(fixture.wait_for([](const StatusSnapshot& s) { return s.publisher.handshakes_failed >= 1; }));
    const StatusSnapshot now = fixture.status();
    REQUIRE(now.subscribers.size() == 1);
    CHECK(now.subscribers.at(0).curve_key == files.anna.public_key);
}
