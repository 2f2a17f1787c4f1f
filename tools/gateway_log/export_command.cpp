#include "base/json_object.hpp"
#include "commands.hpp"
#include "entry_walk.hpp"
#include "gateway_tail/sample_text.hpp"
#include "gateway_tail/time_words.hpp"

#include "core/unique_fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

namespace telegate::log_tool {
namespace {

/// Writes a file that appears under its name when it is complete. Until then it is NAME.part, which is removed if
/// finish() is not called. Pipes and devices are written directly.
/// Threads: one. Limits: none. Failure: the constructor throws Failure; write() and finish() throw std::system_error.
class OutputFile {
  public:
    explicit OutputFile(std::string path) : path_(std::move(path)) {
        std::error_code ignored;
        const auto status = std::filesystem::status(path_, ignored);
        const bool is_direct = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
        written_path_ = is_direct ? path_ : path_ + ".part";
        descriptor_ = UniqueFd(::open(written_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, file_mode));
        if (descriptor_.get() < 0) {
            throw Failure(exit_code::cannot_create,
                          "cannot create " + written_path_ + ": " + std::generic_category().message(errno));
        }
    }
    ~OutputFile() {
        if (!is_finished_ && written_path_ != path_ && descriptor_.get() >= 0) {
            ::unlink(written_path_.c_str());
        }
    }
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t written = ::write(descriptor_.get(), bytes.data(), bytes.size());
            if (written < 0 && errno != EINTR) {
                throw std::system_error(errno, std::generic_category(), "cannot write " + written_path_);
            }
            bytes.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
        }
    }

    void finish() {
        if (written_path_ != path_ && ::rename(written_path_.c_str(), path_.c_str()) != 0) {
            throw std::system_error(errno, std::generic_category(), "cannot rename " + written_path_);
        }
        is_finished_ = true;
    }

  private:
    static constexpr mode_t file_mode = 0666;  // less the umask

    const std::string path_;
    std::string written_path_;
    UniqueFd descriptor_;
    bool is_finished_ = false;
};

std::string_view type_name(ValueType type) noexcept {
    switch (type) {
        case ValueType::real: return "real";
        case ValueType::integer: return "integer";
        case ValueType::boolean: return "boolean";
        case ValueType::text: return "text";
        case ValueType::none: break;
    }
    return "none";
}

/// Texts come from devices; in a file they are always UTF-8.
std::string as_utf8(std::string_view text) {
    std::string valid;
    if (tail::is_utf8(text)) {
        valid = text;
    } else {
        tail::append_printable(valid, text);
    }
    return valid;
}

using AppendLine = void (*)(std::string& out, const EntryChannel& channel, const TelemetrySample& sample);

/// Writes one line for each sample, and counts what is exported.
class Export final : public EntryVisitor {
  public:
    Export(Write write, AppendLine append, std::string_view head) : append_(append), out_(std::move(write)) {
        out_.text() = head;
    }
    void start(std::int64_t /*epoch_ms*/) override {}
    void stop(std::int64_t /*epoch_ms*/) override {}
    void sample(const EntryChannel& channel, const TelemetrySample& sample) override {
        ++samples_;
        append_(out_.text(), channel, sample);
        out_.added();
    }
    void gap(const EntryChannel& /*channel*/, const store::LogGap& gap) override {
        ++gaps_;
        missing_ += gap.last_seq - gap.first_seq + 1;
    }
    void finish() { out_.flush(); }

    [[nodiscard]] std::string summary() const {
        std::string text = "exported " + tail::counted(samples_, "sample");
        if (gaps_ > 0) {
            text += "; not in the output: " + tail::counted(missing_, "sample") + " missing in " +
                    tail::counted(gaps_, "gap");
        }
        return text;
    }

  private:
    const AppendLine append_;
    OutputBuffer out_;
    std::uint64_t samples_ = 0;
    std::uint64_t gaps_ = 0;
    std::uint64_t missing_ = 0;
};

constexpr std::string_view csv_head = "epoch_ms,topic,seq,time_utc_ns,value,type,quality,flags,unit\n";

void append_csv(std::string& out, const EntryChannel& channel, const TelemetrySample& sample) {
    tail::append_number(out, channel.epoch_ms);
    tail::append_csv_text(out += ',', as_utf8(channel.topic));
    tail::append_number(out += ',', sample.seq);
    tail::append_number(out += ',', sample.time_utc_ns);
    out += ',';
    switch (sample.type) {
        case ValueType::real: tail::append_number(out, sample.value.real); break;
        case ValueType::integer: tail::append_number(out, sample.value.integer); break;
        case ValueType::boolean: out += sample.value.boolean ? "true" : "false"; break;
        case ValueType::text: tail::append_csv_text(out, as_utf8(sample.text())); break;
        case ValueType::none: break;
    }
    out.append(",").append(type_name(sample.type)).append(",").append(to_string(sample.quality)) += ',';
    tail::append_number(out, static_cast<unsigned>(sample.flags));
    tail::append_csv_text(out += ',', as_utf8(channel.unit));
    out += '\n';
}

void append_json(std::string& out, const EntryChannel& channel, const TelemetrySample& sample) {
    tail::append_number(out += R"({"epoch_ms":)", channel.epoch_ms);
    append_quoted(out += R"(,"topic":)", channel.topic);
    tail::append_number(out += R"(,"seq":)", sample.seq);
    tail::append_number(out += R"(,"time_utc_ns":)", sample.time_utc_ns);
    tail::append_json_value(out += R"(,"value":)", tail::value_of(sample));
    out.append(R"(,"type":")").append(type_name(sample.type)).append(R"(","quality":")");
    out.append(to_string(sample.quality)).append(R"(","flags":)");
    tail::append_number(out, static_cast<unsigned>(sample.flags));
    append_quoted(out += R"(,"unit":)", channel.unit);
    out += "}\n";
}

}  // namespace

int export_file(const LogOptions& options, const Surroundings& surroundings) {
    store::LogReader reader = open_log(options.directory, surroundings);
    check_channels(options, surroundings);
    std::optional<OutputFile> file;
    Write write = write_to(surroundings.out);
    if (options.output != "-") {
        file.emplace(options.output);
        write = [&file](std::string_view bytes) {
            file->write(bytes);
        };
    }
    const bool is_csv = options.format == ExportFormat::csv;
    Export exported(std::move(write), is_csv ? append_csv : append_json, is_csv ? csv_head : "");
    walk_entries(reader, options, exported);
    exported.finish();
    if (file) {
        file->finish();
    }
    surroundings.errors << "gateway_log: " << exported.summary() << '\n';
    return exit_code::ok;
}

}  // namespace telegate::log_tool
