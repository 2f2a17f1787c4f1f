#include "uplinks/sample_writer.hpp"

#include "encode/cbor_encoder.hpp"
#include "encode/json_encoder.hpp"
#include "encode/record_encoder.hpp"

namespace telegate {
namespace {

template <class Encoder>
class WriterOf final : public SampleWriter {
  public:
    WriterOf(const ChannelTable& channels, std::int64_t epoch_ms, const Tags& tags)
        : context_{channels, epoch_ms}, encoder_(channels, epoch_ms, tags) {}

    std::size_t bytes_max(const TelemetrySample& sample) override { return encoder_.bytes_max(sample); }
    std::size_t write(const TelemetrySample& sample, char* out) override { return encoder_.encode(sample, out); }
    void append(const GapNotice& notice, std::string& out) override { Encoder::Notices::append(context_, notice, out); }

  private:
    const NoticeContext context_;
    Encoder encoder_;
};

}  // namespace

std::unique_ptr<SampleWriter> make_sample_writer(MessageFormat format, const ChannelTable& channels,
                                                 std::int64_t epoch_ms, const Tags& tags) {
    switch (format) {
        case MessageFormat::cbor: return std::make_unique<WriterOf<CborEncoder>>(channels, epoch_ms, tags);
        case MessageFormat::record: return std::make_unique<WriterOf<RecordEncoder>>(channels, epoch_ms, tags);
        case MessageFormat::json:
        case MessageFormat::block: break;
    }
    return std::make_unique<WriterOf<JsonEncoder>>(channels, epoch_ms, tags);
}

}  // namespace telegate
