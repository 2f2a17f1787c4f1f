#include "http/http_driver.hpp"

#include "http/answer_reader.hpp"
#include "http/http_request.hpp"
#include "path_fault.hpp"

#include <unistd.h>

#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace telegate::http {
namespace {

/// Threads: those of Driver.
/// Limits: one request at a time; those of HttpRequest and AnswerReader.
/// Failure: read() fails if the response is not complete in time or has none of the values.
class HttpDriver final : public Driver {
  public:
    explicit HttpDriver(HttpDriverOptions options)
        : options_(std::move(options)), request_(options_), reader_(options_) {}

    [[nodiscard]] DriverTraits traits() const noexcept override { return {.own_thread = true}; }
    void cancel_with(const CancelSignal& signal) noexcept override { cancel_ = &signal; }
    void open(SampleBatch& batch) override { reader_.open(batch); }
    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const override {
        return options_.channels.empty() ? std::nullopt : std::optional(std::vector<std::string>());
    }

    [[nodiscard]] std::vector<MissingPart> missing_parts() const override {
        std::vector<MissingPart> missing;
        const network::HostPort server = parse_url(options_.url).server;
        const auto found = network::HostFinder(server).find(nullptr, std::chrono::steady_clock::now() + lookup_max);
        if (found.addresses.empty()) {
            const std::string what = found.what.empty() ? "no response from the name server" : found.what;
            missing.push_back({"url", "host " + server.host + ": " + what});
        }
        const std::pair<std::string_view, const std::string&> files[]{{"token_file", options_.token_file},
                                                                      {"ca_file", options_.ca_file}};
        for (const auto& [option, path] : files) {
            if (std::string fault = path.empty() ? "" : path_fault(path, R_OK); !fault.empty()) {
                missing.push_back({option, std::move(fault)});
            }
        }
        return missing;
    }

    ReadResult read(SampleBatch& batch, MonoTime /*now*/) noexcept override {
        try {
            const Answer answer = request_.get(cancel_, std::chrono::steady_clock::now() + options_.timeout);
            if (answer.woken == Woken::canceled) {
                return {ReadResult::Status::interrupted};
            }
            if (answer.woken == Woken::timed_out) {
                return fail("no complete response within " + std::to_string(options_.timeout.count()) + " ms");
            }
            if (!answer.fault.empty()) {
                return fail(answer.fault);
            }
            batch.stamp_now();
            std::string fault = reader_.read(answer.body, answer.is_openmetrics, batch);
            const bool has_values = reader_.has_values();
            batch.add_absent_for_missing();
            if (!has_values) {
                return fail(fault);
            }
            words_ = std::move(fault);
            return {ReadResult::Status::ok, words_};
        } catch (const std::exception& error) {
            return fail(error.what());
        }
    }
    void reset() noexcept override { request_.close(); }

  private:
    ReadResult fail(const std::string& what) noexcept {
        words_ = shown_url_ + ": " + what;
        return {ReadResult::Status::failed, words_};
    }

    const HttpDriverOptions options_;
    const std::string shown_url_ = parse_url(options_.url).shown;
    HttpRequest request_;
    AnswerReader reader_;
    const CancelSignal* cancel_ = nullptr;
    std::string words_;
};

}  // namespace
}  // namespace telegate::http

namespace telegate {

std::unique_ptr<Driver> make_http_driver(HttpDriverOptions options) {
    return std::make_unique<http::HttpDriver>(std::move(options));
}

}  // namespace telegate
