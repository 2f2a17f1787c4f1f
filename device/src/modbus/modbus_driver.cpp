#include "modbus/modbus_driver.hpp"

#include "device/breaker.hpp"
#include "modbus/link.hpp"
#include "modbus/read_plan.hpp"
#include "modbus/register_map.hpp"
#include "network/host_finder.hpp"
#include "path_fault.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace telegate::modbus {
namespace {

/// Maximum number of connections per read: one to replace an idle connection that the peer has closed, and one each for
/// two units whose requests make the peer close the connection.
constexpr unsigned connects_per_read_max = 3;
/// Maximum time that one read may spend on units that do not respond. The values of units that were not requested by
/// then are absent.
constexpr Duration lost_per_read_max = std::chrono::seconds(3);

/// How long split requests stay split. The time doubles each time a request has to be split again.
constexpr Duration split_min = std::chrono::minutes(1);
constexpr Duration split_max = std::chrono::hours(1);

/// So often in a row, in one read, requests of a unit are split because of an exception that need not mean an address:
/// more often than it takes to find one address among the most that a request can have.
constexpr unsigned vague_splits_max = 16;

constexpr std::uint8_t illegal_function = 1;
constexpr std::uint8_t illegal_address = 2;
constexpr std::uint8_t illegal_value = 3;
constexpr std::uint8_t device_failure = 4;
constexpr std::uint8_t gateway_path_unavailable = 10;
constexpr std::uint8_t gateway_target_silent = 11;

std::string_view name_of(ModbusTable table) noexcept {
    return std::ranges::find(named_modbus_tables, table, &std::pair<std::string_view, ModbusTable>::second)->first;
}

/// Returns whether the unit may accept parts of the rejected request. Units respond to a request that contains an
/// address without a register with any of these.
bool is_of_address(std::uint8_t exception) noexcept {
    return exception == illegal_function || exception == illegal_address || exception == illegal_value ||
           exception == device_failure;
}

/// Returns whether a gateway in front of the unit reports that the unit did not respond.
bool is_of_gateway(std::uint8_t exception) noexcept {
    return exception == gateway_path_unavailable || exception == gateway_target_silent;
}

std::string words_for(std::uint8_t exception) {
    return std::string(exception_text(exception)) + " (exception " + std::to_string(exception) + ")";
}

/// Returns a text such as "unit 3: holding 100-109: ".
std::string words_for(const AddressRange& range) {
    std::string words = "unit " + std::to_string(range.unit) + ": ";
    words += name_of(range.table);
    words += ' ' + std::to_string(range.address);
    if (range.count > 1) {
        words += '-' + std::to_string(range.end() - 1);
    }
    return words + ": ";
}

/// Returns why nothing can be read there now, as far as can be found out without a connection; "" if nothing is known.
std::string place_fault(const Place& place, Duration lookup_max) {
    if (const auto* rtu = std::get_if<RtuPlace>(&place)) {
        return tty_fault(rtu->path, R_OK | W_OK);
    }
    const auto& tcp = std::get<TcpPlace>(place);
    const network::HostFinder::Found found =
        network::HostFinder(tcp).find(nullptr, std::chrono::steady_clock::now() + lookup_max);
    if (!found.addresses.empty()) {
        return "";
    }
    return "host " + tcp.host + ": " + (found.what.empty() ? "no response from the name server" : found.what);
}

std::unique_ptr<Link> make_link(const ModbusDriverOptions& options, const Place& place) {
    if (const auto* tcp = std::get_if<TcpPlace>(&place)) {
        return make_tcp_link(*tcp, options);
    }
    return make_rtu_link(std::get<RtuPlace>(place), options);
}

/// Requests the values of each unit's channels. A unit that does not respond is requested less and less often and does
/// not delay the others. A request that contains an address that the unit rejects is halved until that address is
/// alone, and merged again after a while, because the unit may have changed. A unit that is in
/// failure or does not support the function is requested with few requests.
///
/// Threads: those of Driver.
/// Limits: one link and one request at a time. A read spends at most lost_per_read_max or one timeout, whichever is
/// longer, on units that do not respond, and opens at most connects_per_read_max connections.
/// Failure: read() fails if there is no value at all, or no connection. Otherwise it succeeds; channels without a value
/// have quality bad, and the channels of their unit have `ok` false and the exception code.
class ModbusDriver final : public Driver {
  public:
    ModbusDriver(ModbusDriverOptions options, const Place& place)
        : options_(std::move(options)),
          map_(to_register_map(options_, std::holds_alternative<RtuPlace>(place))),
          plan_(map_.ranges,
                {static_cast<unsigned>(options_.read_gap_max), static_cast<unsigned>(options_.registers_max)}),
          link_(make_link(options_, place)) {
        for (const std::uint8_t id : map_.units) {
            units_.push_back({.id = id, .breaker = Breaker({}, id)});
        }
    }

    [[nodiscard]] DriverTraits traits() const noexcept override { return {.own_thread = true}; }
    void cancel_with(const CancelSignal& signal) noexcept override { cancel_ = &signal; }

    void open(SampleBatch& batch) override {
        channels_.clear();
        for (Unit& unit : units_) {
            unit.exception_channel = SampleBatch::Channel::none;
        }
        for (const ModbusChannel& channel : options_.channels) {
            channels_.push_back(batch.add_channel(channel.name, channel.unit));
        }
        if (units_.size() > 1) {
            for (Unit& unit : units_) {
                unit.ok_channel = batch.add_channel(ok_channel_of(unit.id), "");
            }
        }
    }

    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const override {
        std::vector<std::string> names;
        names.reserve(units_.size());
        for (const Unit& unit : units_) {
            names.push_back(exception_channel_of(unit.id));
        }
        return names;
    }

    [[nodiscard]] std::vector<MissingPart> missing_parts() const override {
        std::string fault = place_fault(parse_place(options_.endpoint), lookup_max);
        return fault.empty() ? std::vector<MissingPart>() : std::vector<MissingPart>{{"endpoint", std::move(fault)}};
    }

    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override { return read_units({batch, now}); }

    void reset() noexcept override {
        link_->close();
        plan_.merge();
        split_for_ = split_min;
        for (Unit& unit : units_) {
            unit.breaker.reset();
            unit.is_silent = false;
            unit.whole_for = split_min;
            unit.whole_until = {};
        }
    }

  private:
    struct Unit {
        std::uint8_t id = 0;
        SampleBatch::Channel ok_channel = SampleBatch::Channel::none;
        SampleBatch::Channel exception_channel = SampleBatch::Channel::none;  // created by the first exception
        Breaker breaker;
        bool is_silent = false;  // when it was last requested
        MonoTime requested_at{};
        Duration whole_for = split_min;
        MonoTime whole_until{};      // until then its requests are not split, because no part had a value
        unsigned vague_splits = 0;   // in a row, in this read
        bool was_requested = false;  // in this read
        bool is_ok = false;          // in this read: all of its channels have a value
        std::uint8_t exception = 0;  // the first exception of this read
    };
    /// The state of one read.
    struct Turn {
        SampleBatch& batch;
        MonoTime now;
        std::size_t values = 0;     // channels with a value
        std::size_t requested = 0;  // units
        std::size_t answers = 0;    // responses, including exceptions
        unsigned connects = 0;
        Duration lost{};  // time spent waiting without a response
        bool is_canceled = false;
        bool is_cut = false;  // there is no connection, and none can be opened

        [[nodiscard]] bool is_over() const noexcept { return is_canceled || is_cut; }
    };
    enum class Outcome : std::uint8_t { done, unit_failed, over };  // over: canceled or cut

    ReadResult read_units(Turn turn) {
        trouble_.clear();
        rejected_ = 0;
        if (plan_.is_split() && turn.now >= merge_at_) {
            plan_.merge();
        }
        for (Unit& unit : units_) {
            unit.was_requested = false;
            unit.is_ok = false;
            unit.exception = 0;
        }
        if (link_->is_open() || connect(turn)) {
            request_answering(turn);
            request_silent(turn);
        }
        if (turn.is_canceled) {
            return {ReadResult::Status::interrupted};
        }
        schedule_merges(turn);
        turn.batch.stamp_now();
        for (Unit& unit : units_) {
            turn.batch.add(unit.ok_channel, unit.is_ok);
            report_exception(turn.batch, unit);
        }
        turn.batch.add_absent_for_missing();
        if (turn.answers == 0 && !turn.is_cut && link_->may_be_dead()) {
            link_->close();
        }
        const bool has_failed = turn.values == 0 || turn.is_cut;
        if (rejected_ > 1 && !turn.is_cut) {
            trouble_ += "; " + std::to_string(rejected_) + " requests rejected";
        }
        return {has_failed ? ReadResult::Status::failed : ReadResult::Status::ok, trouble_};
    }

    /// Determines when requests that were split in this read are merged again.
    void schedule_merges(const Turn& turn) noexcept {
        if (!plan_.is_split()) {
            split_for_ = split_min;
        } else if (turn.now >= merge_at_) {
            merge_at_ = turn.now + split_for_;
            split_for_ = std::min(2 * split_for_, split_max);
        }
    }

    static void report_exception(SampleBatch& batch, Unit& unit) {
        if (unit.exception != 0 && unit.exception_channel == SampleBatch::Channel::none) {
            unit.exception_channel = batch.add_channel(exception_channel_of(unit.id), "");
        }
        if (unit.was_requested) {
            batch.add(unit.exception_channel, std::int64_t{unit.exception});
        }
    }

    void request_answering(Turn& turn) {
        for (Unit& unit : units_) {
            if (turn.is_over()) {
                return;
            }
            if (!unit.is_silent && turn.lost < lost_per_read_max) {
                request(turn, unit);
            }
        }
    }

    /// Requests silent units until one does not respond in time.
    void request_silent(Turn& turn) {
        while (!turn.is_over() && turn.lost == Duration::zero()) {
            Unit* const next = next_silent(turn);
            if (next == nullptr) {
                return;
            }
            request(turn, *next);
        }
    }

    /// Returns the unit that has not been requested for the longest time, of those whose breaker allows it. If no other
    /// unit was requested, returns one that is not allowed yet: then the device as a whole fails, and its own breaker
    /// applies.
    Unit* next_silent(const Turn& turn) noexcept {
        Unit* due = nullptr;
        Unit* any = nullptr;
        const auto is_earlier = [](const Unit& unit, const Unit* than) {
            return than == nullptr || unit.requested_at < than->requested_at;
        };
        for (Unit& unit : units_) {
            if (!unit.is_silent || unit.was_requested) {
                continue;
            }
            any = is_earlier(unit, any) ? &unit : any;
            due = unit.breaker.allows(turn.now) && is_earlier(unit, due) ? &unit : due;
        }
        return due == nullptr && turn.requested == 0 ? any : due;
    }

    /// Requests all values of a unit, unless it stops responding.
    void request(Turn& turn, Unit& unit) {
        unit.was_requested = true;
        unit.requested_at = turn.now;
        unit.is_ok = true;
        unit.vague_splits = 0;
        ++turn.requested;
        const std::size_t values_before = turn.values;
        // The number of reads can grow during the loop, when one is split.
        for (std::size_t i = first_read_of(unit); i < plan_.reads().size(); ++i) {
            if (plan_.reads()[i].range.unit != unit.id) {
                break;
            }
            const Outcome outcome = request(turn, unit, i);
            if (outcome != Outcome::done) {
                unit.is_ok = false;
                if (outcome == Outcome::unit_failed) {
                    unit.is_silent = true;
                    unit.breaker.record_failure(turn.now);
                }
                return;
            }
        }
        unit.is_silent = false;
        unit.breaker.record_success();
        if (turn.values > values_before) {
            unit.whole_for = split_min;
        } else if (unit.vague_splits == vague_splits_max) {
            plan_.merge();
            unit.whole_until = turn.now + unit.whole_for;
            unit.whole_for = std::min(2 * unit.whole_for, split_max);
        }
    }

    /// Returns false if the request cannot be split, or not now.
    [[nodiscard]] bool split(const Turn& turn, Unit& unit, std::size_t read, std::uint8_t exception) noexcept {
        const bool is_vague = exception == illegal_function || exception == device_failure;
        if (is_vague && (unit.vague_splits == vague_splits_max || turn.now < unit.whole_until)) {
            return false;
        }
        const bool is_split = plan_.split(read);
        unit.vague_splits += is_vague && is_split ? 1U : 0U;
        return is_split;
    }

    Outcome request(Turn& turn, Unit& unit, std::size_t read) {
        for (;;) {
            const AddressRange range = plan_.reads()[read].range;
            const MonoTime begin = std::chrono::steady_clock::now();
            const LinkResult result = link_->exchange(range, cancel_);
            switch (result.status) {
                case LinkStatus::canceled: turn.is_canceled = true; return Outcome::over;
                case LinkStatus::timed_out: turn.lost += std::chrono::steady_clock::now() - begin; [[fallthrough]];
                case LinkStatus::mismatch: report(words_for(range) + result.what); return Outcome::unit_failed;
                case LinkStatus::lost: break;
                case LinkStatus::ok:
                    ++turn.answers;
                    if (result.answer.exception == 0) {
                        unit.vague_splits = 0;
                        deliver(turn, plan_.reads()[read], result.answer.values);
                        return Outcome::done;
                    }
                    if (is_of_address(result.answer.exception) && split(turn, unit, read, result.answer.exception)) {
                        continue;
                    }
                    rejected_ += is_of_address(result.answer.exception) ? 1U : 0U;
                    unit.is_ok = false;
                    unit.exception = unit.exception == 0 ? result.answer.exception : unit.exception;
                    report(words_for(range) + words_for(result.answer.exception));
                    return is_of_gateway(result.answer.exception) ? Outcome::unit_failed : Outcome::done;
            }
            // A connection from an earlier read may have been closed because it was idle. If this read opened it, the
            // peer rejects this request.
            if (turn.connects > 0) {
                report(words_for(range) + result.what);
                connect(turn);
                return Outcome::unit_failed;
            }
            if (!connect(turn)) {
                return Outcome::over;
            }
        }
    }

    void deliver(Turn& turn, const PlannedRead& read, std::span<const std::uint8_t> values) {
        turn.batch.stamp_now();
        for (const std::uint32_t channel : plan_.channels_of(read)) {
            const AddressRange& range = plan_.range_of(channel);
            const std::size_t offset = std::size_t{range.address} - read.range.address;
            if (has_bits(range.table)) {
                turn.batch.add(channels_[channel], decode_bit(values, offset));
            } else {
                const RegisterValue decoded =
                    decode_registers(values.subspan(2 * offset, std::size_t{2} * range.count), map_.formats[channel]);
                const Quality quality = decoded.exact ? Quality::good : Quality::uncertain;
                std::visit([&](auto value) { turn.batch.add(channels_[channel], value, quality); }, decoded.value);
            }
        }
        turn.values += read.channels;
    }

    bool connect(Turn& turn) {
        if (turn.connects == connects_per_read_max) {
            turn.is_cut = true;
            return false;
        }
        ++turn.connects;
        const LinkResult result = link_->open(cancel_);
        turn.is_canceled = result.status == LinkStatus::canceled;
        turn.is_cut = result.status == LinkStatus::lost;
        if (turn.is_cut) {
            trouble_ = options_.endpoint + ": " + result.what;
        }
        return result.status == LinkStatus::ok;
    }

    [[nodiscard]] std::size_t first_read_of(const Unit& unit) const noexcept {
        const auto reads = plan_.reads();
        const auto first =
            std::lower_bound(reads.begin(), reads.end(), unit.id,
                             [](const PlannedRead& read, std::uint8_t id) { return read.range.unit < id; });
        return static_cast<std::size_t>(first - reads.begin());
    }

    /// Keeps the first problem of a read. The loss of the connection overrides it.
    void report(std::string what) {
        if (trouble_.empty()) {
            trouble_ = std::move(what);
        }
    }

    const ModbusDriverOptions options_;
    const RegisterMap map_;
    ReadPlan plan_;
    const std::unique_ptr<Link> link_;
    std::vector<Unit> units_;
    std::vector<SampleBatch::Channel> channels_;
    const CancelSignal* cancel_ = nullptr;
    std::string trouble_;       // of the last read
    std::size_t rejected_ = 0;  // requests of the last read, because of their addresses
    Duration split_for_ = split_min;
    MonoTime merge_at_{};  // when split requests are merged
};

}  // namespace
}  // namespace telegate::modbus

namespace telegate {

std::unique_ptr<Driver> make_modbus_driver(ModbusDriverOptions options) {
    const modbus::Place place = modbus::parse_place(options.endpoint);
    return std::make_unique<modbus::ModbusDriver>(std::move(options), place);
}

}  // namespace telegate
