#include "sample_stores.hpp"
#include "uplink_delivery.hpp"

#include "core/text.hpp"

#include <httplib.h>

#include <array>
#include <charconv>
#include <memory>
#include <stdexcept>

namespace telegate::perf {
namespace {

constexpr std::uint64_t lines_max = 5'000;  // in a request, as of the uplink

/// A database, and the plainest program that writes to it: lines of text, one request after the other.
class Database {
  public:
    explicit Database(const std::string& url) : client_(url) {
        client_.set_keep_alive(true);
        client_.set_tcp_nodelay(true);
    }
    /// Returns how many points VictoriaMetrics has stored since its start, as it says itself.
    [[nodiscard]] std::uint64_t points() {
        const auto response = client_.Get("/metrics");
        const std::string_view name = "vm_rows_inserted_total{type=\"influx\"} ";
        const std::size_t at = response ? response->body.find(name) : std::string::npos;
        if (at == std::string::npos) {
            throw std::runtime_error(
                "cannot read the metrics of VictoriaMetrics; start one with: victoria-metrics "
                "-httpListenAddr=127.0.0.1:8428 (Debian package victoria-metrics), or name "
                "another one with --url");
        }
        const std::string_view rest = std::string_view(response->body).substr(at + name.size());
        return parse_number<std::uint64_t>(rest.substr(0, rest.find('\n'))).value_or(0);
    }
    void write(std::uint64_t samples, std::size_t channels) {
        std::vector<TelemetrySample> tick_samples(channels);
        std::string body;
        std::uint64_t lines = 0;
        std::uint64_t written = 0;
        for (std::uint64_t tick = 0; written < samples; ++tick) {
            make_tick(data_sets().front(), tick, tick_samples);
            for (const TelemetrySample& sample : tick_samples) {
                append_line(sample, body);
                ++written;
                if (++lines == lines_max || written == samples) {
                    post(body);
                    body.clear();
                    lines = 0;
                }
            }
        }
    }

  private:
    static void append_line(const TelemetrySample& sample, std::string& body) {
        std::array<char, 32> number{};
        const auto append = [&](auto value) {
            body.append(number.data(), std::to_chars(number.begin(), number.end(), value).ptr);
        };
        body += "plain,gateway=perf c";
        append(to_index(sample.channel));
        body += '=';
        append(sample.type == ValueType::real ? sample.value.real : static_cast<double>(sample.value.integer));
        body += ' ';
        append(sample.time_utc_ns);
        body += '\n';
    }
    void post(const std::string& body) {
        const auto response = client_.Post("/write", body, "text/plain");
        if (!response || response->status != 204) {
            throw std::runtime_error("the database has not stored the points: " +
                                     (response ? std::to_string(response->status) : to_string(response.error())));
        }
    }

    httplib::Client client_;
};

void deliver_both(UplinkLog& log, const UplinkOptions& options, Report& report) {
    Database database(options.url);
    const std::uint64_t before = database.points();
    log.deliver("url = " + options.url + '\n').add_to(report, "delivery", "uplink", Goal::at_least(500'000));
    if (const std::uint64_t stored = database.points() - before; stored < log.samples()) {
        throw std::runtime_error("the database has " + std::to_string(stored) + " of " + std::to_string(log.samples()) +
                                 " points");
    }
    const Progress begin{0, process_cpu_ns()};
    database.write(log.samples(), options.channels);
    Interval{begin, {static_cast<double>(log.samples()), process_cpu_ns()}}.add_to(report, "delivery", "plain program",
                                                                                   {});
}

}  // namespace

Plan plan_influxdb_delivery(const UplinkOptions& options, Report& report) {
    (void)Database(options.url).points();  // first: without a server, nothing is written
    const auto log = std::make_shared<UplinkLog>(options);
    Group group{options.url};
    group.engines.push_back({"line protocol", [=, &report] {
                                 deliver_both(*log, options, report);
                             }});
    group.finish = [&report] {
        report.add_ratio(
            "uplink over the plain program, run by run", "samples/s",
            {report.find("delivery", "uplink, samples/s"), report.find("delivery", "plain program, samples/s")},
            Goal{});
    };
    return {std::move(group)};
}

}  // namespace telegate::perf
