#pragma once

#include "device/peer_thread.hpp"
#include "device/pty.hpp"

#include <modbus/modbus.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace telegate::test {

struct ReceivedRequest {
    int unit = 0;
    int function = 0;
    int address = 0;
    int count = 0;
    bool operator==(const ReceivedRequest&) const = default;
};

/// Units served by libmodbus, all with the same registers, with faults that tests can inject. Threads: handle() on the
/// server's thread; other functions on the test's thread, at any time.
class ModbusUnits {
  public:
    static constexpr int table_size = 200;  // addresses beyond are illegal

    ModbusUnits();

    void set_holding(int address, std::vector<std::uint16_t> values);
    void set_input(int address, std::uint16_t value);
    void set_coil(int address, bool value);

    void silence(int unit);
    void heal(int unit);
    /// Responds to every request of the unit with this exception.
    void refuse(int unit, int exception);
    /// Requests that touch this holding register get an exception.
    void refuse_holding(int address, int exception = MODBUS_EXCEPTION_ILLEGAL_DATA_ADDRESS);
    void accept_holding(int address);
    /// Delays the response until the next request has arrived, and sends it before the next response.
    void answer_late(int unit);
    void hang_up_at(int unit);

    /// Since the last call.
    std::vector<ReceivedRequest> take_requests();

    /// Receives one request and responds. Returns false at the end of the connection.
    bool handle(modbus_t* context);

  private:
    using Query = std::array<std::uint8_t, MODBUS_MAX_ADU_LENGTH>;
    struct Late {
        Query query{};
        int bytes = 0;
    };

    void reply(modbus_t* context, const ReceivedRequest& request, const Query& query, int bytes);

    std::mutex mutex_;
    std::unique_ptr<modbus_mapping_t, decltype(&::modbus_mapping_free)> mapping_;
    std::set<int> silent_;
    std::set<int> late_;
    std::set<int> hanging_up_;
    std::map<int, int> exceptions_;
    std::map<int, int> refused_holding_;  // exceptions by address
    std::vector<ReceivedRequest> requests_;
    std::vector<Late> owed_;
};

/// The units behind a TCP connection.
class TcpUnits : public ModbusUnits {
  public:
    TcpUnits();
    ~TcpUnits() { thread_.stop(); }

    [[nodiscard]] std::string endpoint() const { return listener_.endpoint(); }
    [[nodiscard]] int port() const { return listener_.port(); }
    [[nodiscard]] int connections() const { return connections_.load(); }
    /// Ends the connection before it is used again.
    void hang_up();

  private:
    Listener listener_;
    std::unique_ptr<modbus_t, decltype(&::modbus_free)> context_;
    std::atomic<int> connections_{0};
    std::atomic<int> connection_{-1};
    PeerThread thread_;
};

/// One unit at the other end of a serial line.
class RtuUnit : public ModbusUnits {
  public:
    explicit RtuUnit(int unit);
    ~RtuUnit() { thread_.stop(); }

    [[nodiscard]] const std::string& path() const { return pty_.path(); }

  private:
    Pty pty_{0};
    std::unique_ptr<modbus_t, decltype(&::modbus_free)> context_;
    PeerThread thread_;
};

}  // namespace telegate::test
