#include "modbus_units.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace telegate::test {

ModbusUnits::ModbusUnits()
    : mapping_(::modbus_mapping_new(table_size, table_size, table_size, table_size), &::modbus_mapping_free) {
    if (mapping_ == nullptr) {
        throw std::runtime_error("modbus_mapping_new");
    }
}

void ModbusUnits::set_holding(int address, std::vector<std::uint16_t> values) {
    const std::lock_guard lock(mutex_);
    std::copy(values.begin(), values.end(), mapping_->tab_registers + address);
}

void ModbusUnits::set_input(int address, std::uint16_t value) {
    const std::lock_guard lock(mutex_);
    mapping_->tab_input_registers[address] = value;
}

void ModbusUnits::set_coil(int address, bool value) {
    const std::lock_guard lock(mutex_);
    mapping_->tab_bits[address] = value ? 1 : 0;
}

void ModbusUnits::silence(int unit) {
    const std::lock_guard lock(mutex_);
    silent_.insert(unit);
}

void ModbusUnits::heal(int unit) {
    const std::lock_guard lock(mutex_);
    silent_.erase(unit);
    late_.erase(unit);
    hanging_up_.erase(unit);
    exceptions_.erase(unit);
}

void ModbusUnits::refuse(int unit, int exception) {
    const std::lock_guard lock(mutex_);
    exceptions_[unit] = exception;
}

void ModbusUnits::refuse_holding(int address, int exception) {
    const std::lock_guard lock(mutex_);
    refused_holding_[address] = exception;
}

void ModbusUnits::accept_holding(int address) {
    const std::lock_guard lock(mutex_);
    refused_holding_.erase(address);
}

void ModbusUnits::answer_late(int unit) {
    const std::lock_guard lock(mutex_);
    late_.insert(unit);
}

void ModbusUnits::hang_up_at(int unit) {
    const std::lock_guard lock(mutex_);
    hanging_up_.insert(unit);
}

std::vector<ReceivedRequest> ModbusUnits::take_requests() {
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, {});
}

bool ModbusUnits::handle(modbus_t* context) {
    Query query{};
    const int bytes = ::modbus_receive(context, query.data());
    if (bytes < 0) {
        return false;
    }
    if (bytes == 0) {  // for another unit
        return true;
    }
    const std::lock_guard lock(mutex_);
    const auto at = static_cast<std::size_t>(::modbus_get_header_length(context));
    const auto number = [&](std::size_t offset) {
        return query[at + offset] * 256 + query[at + offset + 1];
    };
    const ReceivedRequest request{query[at - 1], query[at], number(1), number(3)};
    requests_.push_back(request);
    for (const Late& late : std::exchange(owed_, {})) {
        ::modbus_reply(context, late.query.data(), late.bytes, mapping_.get());
    }
    if (hanging_up_.contains(request.unit)) {
        return false;
    }
    if (late_.contains(request.unit)) {
        owed_.push_back({query, bytes});
    } else if (!silent_.contains(request.unit)) {
        reply(context, request, query, bytes);
    }
    return true;
}

void ModbusUnits::reply(modbus_t* context, const ReceivedRequest& request, const Query& query, int bytes) {
    const auto exception = exceptions_.find(request.unit);
    if (exception != exceptions_.end()) {
        ::modbus_reply_exception(context, query.data(), static_cast<unsigned>(exception->second));
        return;
    }
    const auto refused = refused_holding_.lower_bound(request.address);
    const bool is_refused = request.function == MODBUS_FC_READ_HOLDING_REGISTERS && refused != refused_holding_.end() &&
                            refused->first < request.address + request.count;
    if (is_refused) {
        ::modbus_reply_exception(context, query.data(), static_cast<unsigned>(refused->second));
    } else {
        ::modbus_reply(context, query.data(), bytes, mapping_.get());
    }
}

TcpUnits::TcpUnits() : context_(::modbus_new_tcp("127.0.0.1", 0), &::modbus_free) {
    const auto begin = [this](int connection) {
        ::modbus_set_socket(context_.get(), connection);
        connection_ = connection;
        ++connections_;
        return true;
    };
    thread_.accept_on(listener_.descriptor(), begin, [this](int) { return handle(context_.get()); });
}

void TcpUnits::hang_up() {
    ::shutdown(connection_, SHUT_RDWR);
}

RtuUnit::RtuUnit(int unit) : context_(::modbus_new_rtu("/nowhere", 9'600, 'N', 8, 1), &::modbus_free) {
    ::modbus_set_slave(context_.get(), unit);
    ::modbus_set_socket(context_.get(), pty_.master());
    thread_.serve_line(pty_.master(), [this](int) { return handle(context_.get()); });
}

}  // namespace telegate::test
