#include "uplink/quarantine.hpp"

#include "core/bytes.hpp"
#include "core/endian.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace telegate::uplink {
namespace {

// A record: the size of its content, a checksum of it, the content. The first record begins after the magic.
constexpr std::string_view file_magic = "TGPLUQ02";
constexpr std::size_t head_bytes = 8;
constexpr std::size_t record_bytes_max = 16'777'216;  // larger than any message
constexpr std::size_t overhead_bytes = 256;           // of a sample, without its message

template <std::integral Number>
void put(Number number, std::string& out) {
    std::array<char, sizeof number> bytes{};
    store_little_endian(bytes.data(), number);
    out.append(bytes.data(), bytes.size());
}

void put(std::string_view text, std::string& out) {
    put(static_cast<std::uint32_t>(text.size()), out);
    out += text;
}

/// Reads the parts of a record from its front. After a part that is not there, everything else is empty.
class Parts {
  public:
    explicit Parts(std::string_view rest) noexcept : rest_(rest) {}

    template <std::integral Number>
    void read(Number& number) noexcept {
        const std::string_view bytes = cut(sizeof number);
        number = bytes.empty() ? 0 : load_little_endian<Number>(bytes.data());
    }
    void read(std::string& text) {
        std::uint32_t bytes = 0;
        read(bytes);
        text = cut(bytes);
    }
    [[nodiscard]] std::string_view cut(std::size_t bytes) noexcept {
        is_complete_ = is_complete_ && bytes <= rest_.size();
        const std::string_view part = is_complete_ ? rest_.substr(0, bytes) : std::string_view();
        rest_.remove_prefix(part.size());
        return part;
    }
    [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

  private:
    std::string_view rest_;
    bool is_complete_ = true;
};

/// Calls `each` with the parts of the content of a record after the id of the log, in order.
template <class Sample, class Each>
void for_each_part(Sample& sample, const Each& each) {
    each(sample.seq);
    each(sample.utc_ns);
    each(sample.refused_utc_ns);
    each(sample.message.epoch_ms);
    each(sample.message.position);
    each(sample.message.end_position);
    each(sample.topic);
    each(sample.reason);
    each(sample.message.id);
    each(sample.message.subject);
    each(sample.message.format);
    each(sample.message.payload);
}

std::string to_record(const QuarantinedSample& sample) {
    std::string content(reinterpret_cast<const char*>(sample.log_id.data()), sample.log_id.size());
    for_each_part(sample, [&](const auto& part) { put(part, content); });
    std::string record;
    put(static_cast<std::uint32_t>(content.size()), record);
    put(crc32c(as_bytes(content)), record);
    return record + content;
}

std::optional<QuarantinedSample> from_content(std::string_view content) {
    QuarantinedSample sample;
    Parts parts(content);
    const std::string_view log_id = parts.cut(sample.log_id.size());
    std::transform(log_id.begin(), log_id.end(), sample.log_id.begin(),
                   [](char each) { return static_cast<std::byte>(each); });
    for_each_part(sample, [&](auto& part) { parts.read(part); });
    sample.message.utc_max_ns = sample.utc_ns;
    return parts.is_complete() ? std::optional(std::move(sample)) : std::nullopt;
}

std::size_t bytes_of(const QuarantinedSample& sample) noexcept {
    return sample.message.bytes() + overhead_bytes;
}

bool is_waiting(const QuarantinedSample& sample) noexcept {
    return sample.status == QuarantinedSample::Status::waiting;
}

}  // namespace

Quarantine::Quarantine(store::FileSystem& files, std::string directory, std::string_view uplink, const Limits& limits)
    : files_(files),
      directory_(std::move(directory)),
      path_(directory_ + "/" + std::string(uplink) + ".quarantine"),
      limits_(limits) {}

void Quarantine::load() {
    clear();
    is_saved_ = true;
    end_ = 0;
    file_.reset();
    if (!files_.exists(path_)) {
        return;
    }
    const auto file = files_.open(path_, store::FileSystem::Mode::read);
    const auto read = [&](std::size_t bytes) {
        std::string content(bytes, '\0');
        const std::size_t got = file->read(end_, std::as_writable_bytes(std::span(content)));
        content.resize(got);
        return content;
    };
    if (read(file_magic.size()) != file_magic) {
        return;
    }
    end_ = file_magic.size();
    for (;;) {
        const std::string head = read(head_bytes);
        const std::size_t bytes = head.size() < head_bytes ? 0 : load_little_endian<std::uint32_t>(head.data());
        if (bytes == 0 || bytes > std::min<std::uint64_t>(record_bytes_max, file->bytes() - end_)) {
            return;
        }
        const std::string record = read(head_bytes + bytes);
        const std::string_view content = std::string_view(record).substr(head_bytes);
        auto sample =
            content.size() == bytes && crc32c(as_bytes(content)) == load_little_endian<std::uint32_t>(head.data() + 4)
                ? from_content(content)
                : std::nullopt;
        if (!sample || !has_capacity(sample->message.bytes())) {
            return;
        }
        end_ += record.size();
        insert(std::move(*sample));
    }
}

bool Quarantine::has_capacity(std::size_t message_bytes) const noexcept {
    return samples_.empty() ||
           (samples_.size() < limits_.samples_max && bytes_ + message_bytes + overhead_bytes <= limits_.bytes_max);
}

/// Writes at the end of the records. After a failure, the next record replaces what was written.
void Quarantine::append(const std::string& record) {
    try {
        if (file_ == nullptr) {
            const bool is_new = !files_.exists(path_);
            file_ = files_.open(path_, is_new ? store::FileSystem::Mode::create : store::FileSystem::Mode::write);
            if (is_new) {
                end_ = 0;
            }
            files_.sync_directory(directory_);
        }
        file_->truncate(end_);
        const std::string bytes = (end_ == 0 ? std::string(file_magic) : std::string()) + record;
        file_->write(end_, as_bytes(bytes));
        file_->sync();
        end_ += bytes.size();
    } catch (const std::system_error&) {
        file_.reset();
        throw;
    }
}

void Quarantine::add(QuarantinedSample sample) {
    append(to_record(sample));
    insert(std::move(sample));
}

void Quarantine::insert(QuarantinedSample sample) {
    sample.message.quarantine_id = ++last_id_;
    sample.message.samples = 1;
    sample.message.is_last_part = false;
    sample.message.is_historical = true;  // later samples were delivered
    bytes_ += bytes_of(sample);
    samples_.push_back(std::move(sample));
}

bool Quarantine::has_block(const store::LogId& log_id, store::Position end_position) const noexcept {
    return std::any_of(samples_.begin(), samples_.end(), [&](const QuarantinedSample& each) {
        return each.message.end_position == end_position && each.log_id == log_id;
    });
}

void Quarantine::remove(std::uint64_t id) noexcept {
    const auto found = std::find_if(samples_.begin(), samples_.end(),
                                    [id](const QuarantinedSample& each) { return each.message.quarantine_id == id; });
    if (found != samples_.end()) {
        bytes_ -= bytes_of(*found);
        samples_.erase(found);
        is_saved_ = false;
    }
}

void Quarantine::clear() noexcept {
    is_saved_ = is_saved_ && samples_.empty();
    samples_.clear();
    bytes_ = 0;
}

void Quarantine::save() {
    if (is_saved_) {
        return;
    }
    std::string content(file_magic);
    for (const QuarantinedSample& sample : samples_) {
        content += to_record(sample);
    }
    const std::string next = path_ + ".new";
    if (files_.exists(next)) {
        files_.remove(next);
    }
    const auto file = files_.open(next, store::FileSystem::Mode::create);
    file->write(0, as_bytes(content));
    file->sync();
    files_.rename(next, path_);
    file_.reset();
    end_ = content.size();
    files_.sync_directory(directory_);
    is_saved_ = true;
}

void Quarantine::retry_all() noexcept {
    for (QuarantinedSample& each : samples_) {
        each.status = each.status == Status::kept ? Status::waiting : each.status;
    }
}

void Quarantine::return_taken() noexcept {
    for (QuarantinedSample& each : samples_) {
        each.status = each.status == Status::taken ? Status::waiting : each.status;
    }
}

const OutgoingMessage* Quarantine::next_waiting() {
    const auto waiting = std::find_if(samples_.begin(), samples_.end(), is_waiting);
    if (waiting == samples_.end()) {
        return nullptr;
    }
    waiting->status = Status::taken;
    return &waiting->message;
}

void Quarantine::keep(std::uint64_t id) noexcept {
    for (QuarantinedSample& each : samples_) {
        each.status = each.message.quarantine_id == id ? Status::kept : each.status;
    }
}

bool Quarantine::has_waiting() const noexcept {
    return std::any_of(samples_.begin(), samples_.end(), is_waiting);
}

}  // namespace telegate::uplink
